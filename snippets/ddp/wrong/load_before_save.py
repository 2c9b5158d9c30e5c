# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "FileNotFoundError"
# ranks = 2
# ///
"""Rank 1 loads a checkpoint that rank 0 is still writing."""

# --8<-- [start:main]
import time

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group()
model = nn.Linear(4, 1)
if dist.get_rank() == 0:
    time.sleep(0.5)  # the disk is slow today
    torch.save(model.state_dict(), "weights.pt")
# --8<-- [start:new]
model.load_state_dict(torch.load("weights.pt"))
# --8<-- [end:new]
print(f"rank {dist.get_rank()}: loaded")
# --8<-- [end:main]
