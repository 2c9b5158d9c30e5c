# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 10
# ranks = 2
# rtol = 0.2
# rtol_accelerator = 0.4
# ///
"""The complete DDP program: each rank trains on its share, rank 0 prints and saves, all resume."""

# --8<-- [start:setup]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
# --8<-- [start:new]
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()
# --8<-- [end:new]
# --8<-- [end:setup]

# --8<-- [start:data]
torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
labels = arm
dataset = TensorDataset(points, labels)
# --8<-- [start:new]
sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=64 // ranks, sampler=sampler)
# --8<-- [end:new]
# --8<-- [end:data]

# --8<-- [start:model]
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
# --8<-- [start:new]
start = 0
if os.path.exists("checkpoint.pt"):  # an earlier run was interrupted
    saved = torch.load("checkpoint.pt", map_location=device)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    start = saved["epoch"] + 1
ddp = DistributedDataParallel(model)
# --8<-- [end:new]
# --8<-- [end:model]

# --8<-- [start:loop]
# --8<-- [start:new]
for epoch in range(start, 31):
    sampler.set_epoch(epoch)
    # --8<-- [end:new]
    total = torch.zeros((), device=device)
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        # --8<-- [start:new]
        loss = nn.functional.cross_entropy(ddp(inputs), targets)
        # --8<-- [end:new]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    # --8<-- [start:new]
    dist.all_reduce(total)  # the sum over all ranks
    if rank == 0 and epoch % 5 == 0:
        print(f"epoch {epoch:2}: loss {total.item() / len(loader) / ranks:.3f}")
        checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(checkpoint | {"epoch": epoch}, "checkpoint.new")
        os.replace("checkpoint.new", "checkpoint.pt")  # never half a file
    # --8<-- [end:new]
# --8<-- [end:loop]

# --8<-- [start:finish]
# --8<-- [start:new]
if rank == 0:
    # --8<-- [end:new]
    with torch.no_grad():
        accuracy = (model(points.to(device)).argmax(dim=1) == labels.to(device)).float().mean()
    print(f"accuracy: {accuracy.item():.2f}")
    # --8<-- [start:new]
    os.replace("checkpoint.pt", "spirals.pt")  # trained: the next run starts from the beginning
del ddp  # before the group that it sends through
dist.destroy_process_group()
# --8<-- [end:new]
# --8<-- [end:finish]
