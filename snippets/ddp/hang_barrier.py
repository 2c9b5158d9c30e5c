# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 4
# ///
"""A barrier that says which ranks have not come."""

# --8<-- [start:main]
import os
import time
from datetime import timedelta

import torch.distributed as dist

os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the log would say it a second time
dist.init_process_group()
rank = dist.get_rank()
# --8<-- [start:new]
watchers = dist.new_group(backend="gloo")
# --8<-- [end:new]
if rank in (1, 3):
    time.sleep(2)  # what they do instead
else:
    try:
        # --8<-- [start:new]
        dist.monitored_barrier(watchers, timeout=timedelta(seconds=1), wait_all_ranks=True)
        # --8<-- [end:new]
    except RuntimeError as error:
        print(f"rank {rank}: {str(error).splitlines()[0]}")
# --8<-- [end:main]
