# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# devices = ["cpu"]
# ///
"""PartialState before the Accelerator: it settles the environment, and cpu=True comes too late."""

# --8<-- [start:main]
import os

import torch
from accelerate import Accelerator, PartialState

# --8<-- [start:new]
if PartialState().is_main_process:
    print(f"rank {os.environ['RANK']}: prepares the data")
# --8<-- [end:new]

accelerator = Accelerator(cpu=True)
print(f"rank {os.environ['RANK']}: one of {accelerator.num_processes}")
torch.distributed.barrier()  # no one leaves before all have joined
# --8<-- [end:main]
