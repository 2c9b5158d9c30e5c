# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "ValueError"
# ranks = 2
# ///
"""device_ids names a GPU, but the model is still on the CPU."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group()
here = torch.ones(1)
dist.all_reduce(here)
print(f"rank {dist.get_rank()}: {here.item():.0f} ranks")
local_rank = int(os.environ["LOCAL_RANK"])
model = nn.Linear(4, 1)
# --8<-- [start:new]
ddp = DistributedDataParallel(model, device_ids=[local_rank])
# --8<-- [end:new]
# --8<-- [end:main]
