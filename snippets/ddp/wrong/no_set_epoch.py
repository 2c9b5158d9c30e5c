# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""Without set_epoch, each epoch has the order of the first one."""

# --8<-- [start:main]
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group()
rank = dist.get_rank()
samples = TensorDataset(torch.arange(8))
sampler = DistributedSampler(samples)
loader = DataLoader(samples, batch_size=2, sampler=sampler)
# --8<-- [start:new]
for epoch in range(3):
    print(f"rank {rank}: epoch {epoch}: {[batch.tolist() for (batch,) in loader]}")
# --8<-- [end:new]
# --8<-- [end:main]
