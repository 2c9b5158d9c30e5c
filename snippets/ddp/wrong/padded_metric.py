# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""The sampler repeats samples so that all ranks have equally many; the metric counts them again."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
right = torch.tensor([True, False, False, False, False])  # of five answers
sampler = DistributedSampler(TensorDataset(right), shuffle=False)
counts = torch.zeros(2, device=device)
for (batch,) in DataLoader(TensorDataset(right), batch_size=2, sampler=sampler):
    counts += torch.tensor([batch.sum(), len(batch)], device=device)
# --8<-- [start:new]
dist.all_reduce(counts)
# --8<-- [end:new]
if dist.get_rank() == 0:
    print(f"{counts[0]:.0f} of {counts[1]:.0f} right")
# --8<-- [end:main]
