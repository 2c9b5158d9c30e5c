# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""The ranks call the same two collectives in another order, and each gets the other's numbers."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()
loss = torch.tensor(0.5, device=device)
right = torch.tensor(40.0, device=device)
# --8<-- [start:new]
for number in (loss, right) if rank == 0 else (right, loss):
    dist.all_reduce(number)
# --8<-- [end:new]
print(f"rank {rank}: loss {loss.item()}, right {right.item()}")
# --8<-- [end:main]
