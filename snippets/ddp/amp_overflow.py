# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""DDP with mixed precision: an overflow on one rank makes all of them skip the step."""

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

model = nn.Linear(4, 1).to(device)
ddp = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type, init_scale=1024.0)

for step in range(3):
    inputs = torch.ones(8, 4, device=device)
    if step == 1 and rank == 1:
        inputs *= 300  # its gradients do not fit into FP16
    before = model.bias.item()
    # --8<-- [start:new]
    with torch.autocast(device.type, dtype=torch.float16):
        loss = ddp(inputs).mean()
    # --8<-- [end:new]
    optimizer.zero_grad()
    # --8<-- [start:new]
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    # --8<-- [end:new]
    did = "skipped" if model.bias.item() == before else "stepped"
    print(f"rank {rank}: step {step} {did}, scale {scaler.get_scale():.0f}")

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
