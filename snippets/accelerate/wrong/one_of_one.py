# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# devices = ["cpu"]
# ///
"""Accelerator() on a machine without a GPU: every process believes to be alone."""

# --8<-- [start:main]
import os

import torch
from accelerate import Accelerator

# --8<-- [start:new]
accelerator = Accelerator()
# --8<-- [end:new]
rank = os.environ["RANK"]
print(f"rank {rank}: Accelerate says {accelerator.process_index} of {accelerator.num_processes}")
print(f"rank {rank}: prints and saves: {accelerator.is_main_process}")
torch.distributed.barrier()  # no one leaves before all have joined
# --8<-- [end:main]
