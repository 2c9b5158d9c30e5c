# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""Every rank writes the same file: the last one wins."""

# --8<-- [start:main]
import time

import torch
import torch.distributed as dist

dist.init_process_group()
rank = dist.get_rank()
best_loss = 0.2 + 0.1 * rank  # each rank has seen other samples
time.sleep(0.5 * rank)  # and rank 1 comes a little later
# --8<-- [start:new]
torch.save({"best_loss": best_loss}, "best.pt")
# --8<-- [end:new]
dist.barrier()
saved = torch.load("best.pt")["best_loss"]
print(f"rank {rank}: best loss {best_loss:.1f}, saved {saved:.1f}")
# --8<-- [end:main]
