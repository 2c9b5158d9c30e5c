# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""Metrics over all processes, exact although the loader repeats samples to fill the last batch."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available())

values = torch.arange(9.0)
loader = accelerator.prepare(DataLoader(TensorDataset(values), batch_size=2))

gathered, metric = [], []
for (batch,) in loader:
    gathered.append(accelerator.gather(batch))
    # --8<-- [start:new]
    metric.append(accelerator.gather_for_metrics(batch))
    # --8<-- [end:new]
gathered, metric = torch.cat(gathered), torch.cat(metric)

accelerator.print(f"samples           : {len(values)}, mean {values.mean():.3f}")
accelerator.print(f"gather            : {len(gathered)}, mean {gathered.mean():.3f}")
accelerator.print(f"gather_for_metrics: {len(metric)}, mean {metric.mean():.3f}")
accelerator.end_training()
# --8<-- [end:main]
