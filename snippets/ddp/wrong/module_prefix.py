# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# ///
"""The wrapper was saved in place of the model: each name begins with "module."."""

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
model = nn.Linear(4, 1).to(device)
ddp = DistributedDataParallel(model)
if dist.get_rank() == 0:
    # --8<-- [start:new]
    torch.save(ddp.state_dict(), "model.pt")
    # --8<-- [end:new]
dist.barrier()

plain = nn.Linear(4, 1).to(device)
plain.load_state_dict(torch.load("model.pt", map_location=device))
# --8<-- [end:main]
