# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "TypeError"
# ranks = 2
# ///
"""A Python number given to a collective."""

# --8<-- [start:main]
import torch
import torch.distributed as dist

dist.init_process_group()
here = torch.ones(1)
dist.all_reduce(here)
print(f"rank {dist.get_rank()}: {here.item():.0f} ranks")
loss = torch.tensor(0.5)
# --8<-- [start:new]
dist.all_reduce(loss.item())
# --8<-- [end:new]
# --8<-- [end:main]
