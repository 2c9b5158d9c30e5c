# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""Rank 0 saves, everyone waits, all load."""

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

torch.manual_seed(rank)
model = nn.Linear(1, 1, bias=False).to(device)
ddp = DistributedDataParallel(model)

# --8<-- [start:new]
if rank == 0:
    torch.save(model.state_dict(), "model.pt")
dist.barrier(device_ids=[int(os.environ["LOCAL_RANK"])])  # the file is written
fresh = nn.Linear(1, 1, bias=False).to(device)
# --8<-- [end:new]
print(f"rank {rank}: saved {model.weight.item():7.4f}, fresh  {fresh.weight.item():7.4f}")
# --8<-- [start:new]
fresh.load_state_dict(torch.load("model.pt", map_location=device))
# --8<-- [end:new]
print(f"rank {rank}: saved {model.weight.item():7.4f}, loaded {fresh.weight.item():7.4f}")
print(f"rank {rank}: keys of model {list(model.state_dict())}, of ddp {list(ddp.state_dict())}")

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
