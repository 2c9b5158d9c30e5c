# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""A prepared scheduler steps once for each process: the schedule of ten steps is over in five."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
loader = DataLoader(TensorDataset(torch.randn(160, 2)), batch_size=8)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
# --8<-- [start:new]
scheduler = torch.optim.lr_scheduler.LinearLR(
    optimizer, start_factor=1.0, end_factor=0.1, total_iters=len(loader) - 1
)
scheduler = accelerator.prepare(scheduler)
# --8<-- [end:new]

rates = []
for _ in loader:
    rates.append(scheduler.get_last_lr()[0])
    optimizer.step()  # forward and backward go before it
    scheduler.step()
accelerator.print("learning rates:", *(f"{rate:.1f}" for rate in rates))
accelerator.end_training()
# --8<-- [end:main]
