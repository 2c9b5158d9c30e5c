# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# ///
"""All of the model is frozen: there are no gradients to average."""

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
here = torch.ones(1)
dist.all_reduce(here)
print(f"rank {dist.get_rank()}: {here.item():.0f} ranks")
model = nn.Linear(4, 1).to(device)
# --8<-- [start:new]
model.requires_grad_(False)
ddp = DistributedDataParallel(model)
# --8<-- [end:new]
# --8<-- [end:main]
