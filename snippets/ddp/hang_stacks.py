# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""Where each rank stands: its stack, written by a thread of its own while it waits."""

# --8<-- [start:main]
import faulthandler
import time
from datetime import timedelta

import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=2))
rank = dist.get_rank()


def average_loss():
    dist.all_reduce(torch.ones(1))


def load_batch():
    time.sleep(1.5)


with open(f"stack-{rank}.txt", "w+") as file:
    # --8<-- [start:new]
    faulthandler.dump_traceback_later(0.5, file=file)
    # --8<-- [end:new]
    average_loss() if rank == 0 else load_batch()
    if rank == 1:
        average_loss()  # it comes after all
    file.seek(0)
    frames = [line.split()[-1] for line in file if line.startswith("  File")]
print(f"rank {rank}: {' < '.join(frames[: frames.index('<module>')])}")
# --8<-- [end:main]
