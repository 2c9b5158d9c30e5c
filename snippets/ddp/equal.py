# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""Two ranks with half a batch each do what one process does with the whole batch."""

# --8<-- [start:main]
import copy
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()

torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
labels = arm
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(device)
alone = copy.deepcopy(model)
ddp = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
alone_optimizer = torch.optim.SGD(alone.parameters(), lr=0.1)

for step in range(100):
    order = torch.randperm(512, generator=torch.Generator().manual_seed(step))[:64]
    whole, share = order, order[rank::ranks]  # 64 samples, and this rank's 32 of them
    for network, chosen, optim in [(alone, whole, alone_optimizer), (ddp, share, optimizer)]:
        logits = network(points[chosen].to(device))
        loss = nn.functional.cross_entropy(logits, labels[chosen].to(device))
        optim.zero_grad()
        loss.backward()
        optim.step()

pairs = list(zip(model.parameters(), alone.parameters(), strict=True))
difference = max((mine - other).abs().max().item() for mine, other in pairs)
if rank == 0:
    print(f"one process, first bias: {alone[0].bias[0].item():.5f}")
    print(f"two ranks,   first bias: {model[0].bias[0].item():.5f}")
    print(f"no weight differs by more than 1e-5: {difference <= 1e-5}")

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
