# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""Unfrozen after wrapping: DDP does not know of the layer, and its gradient is not averaged."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()
model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)).to(device)
for layer in model:
    nn.init.ones_(layer.weight)
model[0].requires_grad_(False)
ddp = DistributedDataParallel(model)
# --8<-- [start:new]
model[0].requires_grad_(True)
# --8<-- [end:new]
ddp(torch.full((8, 1), rank + 1.0, device=device)).mean().backward()
for name, weight in model.named_parameters():
    print(f"rank {rank}: gradient of {name}: {weight.grad.item():.1f}")
# --8<-- [end:main]
