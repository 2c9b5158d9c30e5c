# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""gather_for_metrics of a mean: what was averaged before can no longer be left out."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
correct = torch.tensor([0, 0, 0, 1, 1, 1, 1, 1, 1])  # 6 of 9
loader = accelerator.prepare(DataLoader(TensorDataset(correct), batch_size=2))

# --8<-- [start:new]
means = [accelerator.gather_for_metrics(batch.float().mean()) for (batch,) in loader]
# --8<-- [end:new]
accelerator.print(f"accuracy: {torch.cat(means).mean():.3f}, to be {correct.float().mean():.3f}")
accelerator.end_training()
# --8<-- [end:main]
