# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""A dataset that is a stream has no sampler: each rank reads all of it."""

# --8<-- [start:main]
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset

dist.init_process_group()
rank = dist.get_rank()


class Stream(IterableDataset):
    def __iter__(self):
        # --8<-- [start:new]
        yield from range(8)
        # --8<-- [end:new]


loader = DataLoader(Stream(), batch_size=2)
print(f"rank {rank}: {[batch.tolist() for batch in loader]}")
# --8<-- [end:main]
