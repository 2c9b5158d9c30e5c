# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""One rank has a batch more than the other: join lets it finish alone."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()

torch.manual_seed(0)
model = nn.Linear(1, 1, bias=False).to(device)
ddp = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.ones(2 + rank, 4, 1, device=device)  # 2 on rank 0, 3 on rank 1

# --8<-- [start:new]
with Join([ddp]):
    # --8<-- [end:new]
    for batch in batches:
        loss = ddp(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"rank {rank}: gradient {model.weight.grad.item():.1f}")
print(f"rank {rank}: {len(batches)} batches, weight {model.weight.item():.4f}")

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
