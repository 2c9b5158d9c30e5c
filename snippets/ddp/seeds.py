# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""One seed for all ranks makes the same random choices everywhere; the rank belongs into it."""

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

dropout = nn.Dropout(p=0.5)
ones = torch.ones(8, device=device)
torch.manual_seed(0)
print(f"rank {rank}: seed 0        keeps {dropout(ones).bool().int().tolist()}")
# --8<-- [start:new]
torch.manual_seed(0 + rank)
# --8<-- [end:new]
print(f"rank {rank}: seed 0 + rank keeps {dropout(ones).bool().int().tolist()}")

ddp = DistributedDataParallel(nn.Linear(1, 1).to(device))
print(f"rank {rank}: weight {ddp.module.weight.item():.4f} all the same")

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
