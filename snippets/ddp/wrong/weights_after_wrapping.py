# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""Weights loaded on rank 0 after wrapping: DDP has sent its copies before."""

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
pretrained = {"weight": torch.tensor([[3.0]])}
model = nn.Linear(1, 1, bias=False).to(device)
nn.init.zeros_(model.weight)
ddp = DistributedDataParallel(model)
# --8<-- [start:new]
if rank == 0:
    model.load_state_dict(pretrained)
# --8<-- [end:new]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ddp(torch.ones(8, 1, device=device)).mean().backward()
optimizer.step()
print(f"rank {rank}: weight {model.weight.item():.1f}")
# --8<-- [end:main]
