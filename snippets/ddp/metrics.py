# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""Accuracy over all ranks: wrong with the padding of the sampler, exact without it."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()

torch.manual_seed(0)
points = torch.randn(7, 2)  # 7 samples for 2 ranks
dataset = TensorDataset(points, (points.sum(dim=1) > 0).long())
model = nn.Linear(2, 2).to(device)


@torch.no_grad()
def evaluate(loader):
    model.eval()
    right = torch.zeros((), device=device)
    seen = torch.zeros((), device=device)
    for inputs, targets in loader:
        outputs = model(inputs.to(device))
        right += (outputs.argmax(dim=1) == targets.to(device)).sum()
        seen += len(targets)
    # --8<-- [start:new]
    dist.all_reduce(right)  # add up counts, not averages
    dist.all_reduce(seen)
    # --8<-- [end:new]
    return f"{right.item():.0f} of {seen.item():.0f} right, accuracy {right / seen:.3f}"


padded = DistributedSampler(dataset, shuffle=False)
print(f"rank {rank}: with the sampler {list(padded)}")
# --8<-- [start:new]
mine = Subset(dataset, range(rank, len(dataset), ranks))
# --8<-- [end:new]
print(f"rank {rank}: without it       {list(mine.indices)}")
with_padding = evaluate(DataLoader(dataset, batch_size=2, sampler=padded))
exact = evaluate(DataLoader(mine, batch_size=2))
if rank == 0:
    print(f"with the sampler: {with_padding}")
    print(f"without it      : {exact}")
dist.destroy_process_group()
# --8<-- [end:main]
