# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""No sampler: each rank goes through all samples."""

# --8<-- [start:main]
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group()
rank = dist.get_rank()
torch.manual_seed(0)
samples = TensorDataset(torch.arange(8))
# --8<-- [start:new]
loader = DataLoader(samples, batch_size=2, shuffle=True)
# --8<-- [end:new]
print(f"rank {rank}: {[batch.tolist() for (batch,) in loader]}")
# --8<-- [end:main]
