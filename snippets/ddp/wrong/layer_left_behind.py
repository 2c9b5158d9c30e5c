# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "ValueError"
# ranks = 2
# varies = [".*module parameters locate in"]
# ///
"""One layer was made on another type of device than the rest of the model."""

# --8<-- [start:main]
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group()
here = torch.ones(1)
dist.all_reduce(here)
print(f"rank {dist.get_rank()}: {here.item():.0f} ranks")
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
# --8<-- [start:new]
model.append(nn.Linear(4, 1, device="meta"))
# --8<-- [end:new]
ddp = DistributedDataParallel(model)
# --8<-- [end:main]
