# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""The model inside of the wrapper is called, so no gradient is averaged."""

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
nn.init.zeros_(model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.full((8, 1), rank + 1.0, device=device)
for step in range(3):
    # --8<-- [start:new]
    loss = ddp.module(inputs).mean()
    # --8<-- [end:new]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"rank {rank}: step {step}: weight {model.weight.item():.2f}")
# --8<-- [end:main]
