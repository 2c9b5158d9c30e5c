# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# varies = ["\\[rank0\\]: RuntimeError: "]
# ///
"""Rank 1 stops by its own loss, and rank 0 is left alone in the next step."""

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
model = nn.Linear(4, 1).to(device)
ddp = DistributedDataParallel(model)
nn.init.zeros_(model.bias)
nn.init.zeros_(model.weight)
inputs = torch.ones(8, 4, device=device)
targets = torch.full((8, 1), 1.0 - rank, device=device)
for step in range(3):
    loss = nn.functional.mse_loss(ddp(inputs), targets)
    loss.backward()
    print(f"rank {rank}: step {step}: loss {loss.item():.1f}")
    # --8<-- [start:new]
    if loss < 0.5:
        break
    # --8<-- [end:new]
# --8<-- [end:main]
