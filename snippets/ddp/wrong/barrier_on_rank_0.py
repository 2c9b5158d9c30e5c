# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# varies = ["\\[rank0\\]: RuntimeError: "]
# ///
"""A barrier inside `if rank == 0`: the other ranks never come to it."""

# --8<-- [start:main]
import time
from datetime import timedelta

import torch
import torch.distributed as dist

dist.init_process_group(timeout=timedelta(seconds=1))
rank = dist.get_rank()
if rank == 0:
    torch.save(torch.ones(3), "model.pt")
    print("rank 0: saved")
    # --8<-- [start:new]
    dist.barrier()
    # --8<-- [end:new]
time.sleep(2)  # the next epoch
print(f"rank {rank}: next epoch")
# --8<-- [end:main]
