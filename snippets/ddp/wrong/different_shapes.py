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
"""Each rank has counted the classes in its own share of the data."""

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
labels = torch.tensor([0, 1, 2, 2]) if dist.get_rank() == 0 else torch.tensor([0, 1, 1, 0])
# --8<-- [start:new]
classes = len(labels.unique())
# --8<-- [end:new]
model = nn.Linear(4, classes).to(device)
ddp = DistributedDataParallel(model)
# --8<-- [end:main]
