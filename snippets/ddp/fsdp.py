# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 6
# ranks = 2
# rtol = 0.02
# ///
"""FSDP2: each rank holds a part of each layer, and trains as DDP does."""

# --8<-- [start:setup]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()

torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
points, labels = points[rank::2].to(device), arm[rank::2].to(device)


def network():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
    ).to(device)


# --8<-- [end:setup]


# --8<-- [start:shard]
plain = network()
ddp = DistributedDataParallel(plain)

# --8<-- [start:new]
sharded = network()
for layer in (sharded[0], sharded[2], sharded[4]):
    fully_shard(layer)
fully_shard(sharded)
# --8<-- [end:new]
# --8<-- [end:shard]


# --8<-- [start:train]
def held(tensors):
    return sum(getattr(t, "_local_tensor", t).nbytes for t in tensors)


for name, model in ("DDP ", ddp), ("FSDP", sharded):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(101):
        loss = nn.functional.cross_entropy(model(points), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 50 == 0:
            print(f"{name} step {step:3}: loss {loss.item():.3f}")
    moments = [m for state in optimizer.state.values() for m in state.values() if m.dim()]
    print(
        f"rank {rank}: {name} holds {held(model.parameters())} bytes of weights, "
        f"{held(p.grad for p in model.parameters())} of gradients, {held(moments)} for Adam"
    )

del ddp
dist.destroy_process_group()
# --8<-- [end:train]
