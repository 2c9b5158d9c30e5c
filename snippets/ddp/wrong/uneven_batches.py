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
"""Rank 0 has one batch more than rank 1, and waits in it for a partner."""

# --8<-- [start:main]
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group(timeout=timedelta(seconds=1))
rank = dist.get_rank()
model = nn.Linear(4, 1).to(device)
ddp = DistributedDataParallel(model)
# --8<-- [start:new]
samples = torch.ones(5 if rank == 0 else 4, 4, device=device)
# --8<-- [end:new]
for step, inputs in enumerate(samples.split(2)):
    loss = ddp(inputs).mean()
    loss.backward()
    print(f"rank {rank}: step {step} done")
time.sleep(2)  # what comes after the epoch
print(f"rank {rank}: next epoch")
# --8<-- [end:main]
