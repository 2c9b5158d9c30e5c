# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ranks = 2
# ///
"""Which rank sees which sample, and why each epoch begins with set_epoch."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()

dataset = torch.arange(8)
# --8<-- [start:new]
sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=2, sampler=sampler)
# --8<-- [end:new]

forgotten = [torch.cat(list(loader)).tolist() for _ in range(2)]
print(f"rank {rank}: without set_epoch {forgotten[0]}, then {forgotten[1]}")

epochs = []
for epoch in range(2):
    # --8<-- [start:new]
    sampler.set_epoch(epoch)
    # --8<-- [end:new]
    epochs.append(torch.cat(list(loader)).tolist())
print(f"rank {rank}: with set_epoch    {epochs[0]}, then {epochs[1]}")

seen = torch.zeros(8, dtype=torch.long, device=device)
seen[epochs[1]] += 1
dist.all_reduce(seen)
print(f"rank {rank}: {len(loader)} batches; all ranks together saw each sample {seen.tolist()}")
dist.destroy_process_group()
# --8<-- [end:main]
