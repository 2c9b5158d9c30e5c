# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# ///
"""The ranks have built different models."""

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
model = nn.Sequential(nn.Linear(4, 4))
# --8<-- [start:new]
if dist.get_rank() == 0:
    model.append(nn.Linear(4, 1))
# --8<-- [end:new]
ddp = DistributedDataParallel(model.to(device))
# --8<-- [end:main]
