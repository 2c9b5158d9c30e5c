# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""A time-out makes a hang an error: rank 0 waits a second for a rank that does not come."""

# --8<-- [start:main]
import time
from datetime import timedelta

import torch
import torch.distributed as dist

# --8<-- [start:new]
dist.init_process_group("gloo", timeout=timedelta(seconds=1))
# --8<-- [end:new]
if dist.get_rank() == 0:
    started = time.perf_counter()
    try:
        dist.all_reduce(torch.ones(3))
    except RuntimeError as error:
        waited = time.perf_counter() - started
        print(f"rank 0: after {waited:.0f} s: {str(error).rpartition('] ')[2]}")
else:
    time.sleep(2)
    print("rank 1: still loads its data")
# --8<-- [end:main]
