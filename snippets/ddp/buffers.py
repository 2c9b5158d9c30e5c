# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""Batch normalization: each rank has its own statistics, then those of rank 0."""

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

norm = nn.BatchNorm1d(1, momentum=1.0).to(device)  # momentum 1: the mean of the last batch
ddp = DistributedDataParallel(norm)
inputs = torch.tensor([[0.0], [2.0]], device=device) + 10 * rank  # mean 1 on rank 0, 11 on rank 1

ddp(inputs)
print(f"rank {rank}: running mean after a step {norm.running_mean.item():4.1f}")
ddp.eval()
ddp(inputs)  # begins with the buffers of rank 0
print(f"rank {rank}: in the next forward pass  {norm.running_mean.item():4.1f}")

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
