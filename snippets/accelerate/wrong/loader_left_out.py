# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""The loader was not prepared: every process goes through all the data."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
samples = torch.arange(8.0, device=accelerator.device).unsqueeze(1)
loader = DataLoader(TensorDataset(samples), batch_size=2)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# --8<-- [start:new]
model, optimizer = accelerator.prepare(model, optimizer)
# --8<-- [end:new]

seen = [int(sample) for (batch,) in loader for sample in batch]
print(f"rank {accelerator.process_index}: {len(loader)} batches, samples {seen}")
accelerator.end_training()
# --8<-- [end:main]
