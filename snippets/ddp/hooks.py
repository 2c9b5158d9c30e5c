# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 10
# ranks = 2
# rtol = 0.3
# rtol_accelerator = 0.4
# ///
"""Communication hooks: what they send in a step, and what the model learns with it."""

# --8<-- [start:train]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
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
points, labels = points[rank::ranks].to(device), labels[rank::ranks].to(device)


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
    ).to(device)


def train(ddp):
    optimizer = torch.optim.Adam(ddp.parameters(), lr=1e-2)
    for _ in range(101):
        sent.clear()
        loss = nn.functional.cross_entropy(ddp(points), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.detach()


# --8<-- [end:train]

# --8<-- [start:compare]
sent = []
all_reduce = dist.all_reduce


def counting(tensor, *arguments, **options):
    sent.append(tensor.nbytes)
    return all_reduce(tensor, *arguments, **options)


dist.all_reduce = counting  # the hooks send through it

# --8<-- [start:new]
power = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2)
hooks = {
    "all-reduce": (None, default_hooks.allreduce_hook),
    "fp16": (None, default_hooks.fp16_compress_hook),
    "PowerSGD": (power, powerSGD_hook.powerSGD_hook),
}
for name, (state, hook) in hooks.items():
    ddp = DistributedDataParallel(network())
    ddp.register_comm_hook(state, hook)
    # --8<-- [end:new]
    loss = train(ddp)
    step_bytes = sum(sent)
    dist.all_reduce(loss)
    if rank == 0:
        print(f"{name:10}: {step_bytes} bytes a step, loss {loss.item() / ranks:.3f}")

del ddp
dist.destroy_process_group()
# --8<-- [end:compare]
