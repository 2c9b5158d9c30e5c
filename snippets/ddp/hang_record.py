# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""The flight recorder: what each rank has called, and what of it has ended."""

# --8<-- [start:main]
import json
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace_json

dist.init_process_group("gloo", timeout=timedelta(seconds=1.5))
rank = dist.get_rank()
dist.broadcast(torch.ones(4), src=0)
dist.all_reduce(torch.ones(3))
if rank == 0:
    work = dist.all_reduce(torch.ones(2, 2), async_op=True)  # rank 1 does not come
time.sleep(0.5)

# --8<-- [start:new]
for entry in json.loads(_dump_fr_trace_json())["entries"]:
    # --8<-- [end:new]
    ended = "ended" if entry["retired"] else "never ended"
    print(f"rank {rank}: {entry['collective_seq_id']} {entry['profiling_name']}", end=" ")
    print(f"of {entry['input_sizes'][0]} {ended}")

if rank == 0:
    try:
        work.wait()
    except RuntimeError:
        print("rank 0: timed out")
else:
    time.sleep(2)
# --8<-- [end:main]
