# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# ///
"""Frozen after wrapping: DDP still waits for the gradients of the frozen layer."""

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
model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).to(device)
ddp = DistributedDataParallel(model)
# --8<-- [start:new]
model[0].requires_grad_(False)
# --8<-- [end:new]
inputs = torch.ones(8, 4, device=device)
for step in range(2):
    loss = ddp(inputs).mean()
    loss.backward()
    print(f"rank {dist.get_rank()}: step {step} done")
# --8<-- [end:main]
