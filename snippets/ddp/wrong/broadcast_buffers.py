# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# warns = "FutureWarning"
# ranks = 2
# ///
"""The old name of forward_sync_buffers."""

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
# --8<-- [start:new]
ddp = DistributedDataParallel(nn.BatchNorm1d(4).to(device), broadcast_buffers=False)
# --8<-- [end:new]
# --8<-- [end:main]
