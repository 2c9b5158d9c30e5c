# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""The forward pass is outside of no_sync, so the gradients are sent after all."""

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
model = nn.Linear(1, 1, bias=False).to(device)
ddp = DistributedDataParallel(model)
inputs = torch.full((8, 1), rank + 1.0, device=device)
# --8<-- [start:new]
loss = ddp(inputs).mean()
with ddp.no_sync():
    loss.backward()
# --8<-- [end:new]
print(f"rank {rank}: gradient {model.weight.grad.item():.1f}")
# --8<-- [end:main]
