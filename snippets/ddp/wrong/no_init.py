# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "ValueError"
# ///
"""The model is wrapped, but the process group that it would talk through was never made."""

# --8<-- [start:main]
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1).to(device)
# --8<-- [start:new]
ddp = DistributedDataParallel(model)
# --8<-- [end:new]
# --8<-- [end:main]
