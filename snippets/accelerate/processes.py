# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""What each process finds out about itself from Accelerate."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=not torch.accelerator.is_available())

rank = accelerator.process_index
print(f"rank {rank}: one of {accelerator.num_processes} processes")
print(f"rank {rank}: the one that prints and saves: {accelerator.is_main_process}")

mine = torch.tensor([rank], device=accelerator.device)
print(f"rank {rank}: gathered from all: {accelerator.gather(mine).tolist()}")
accelerator.end_training()
# --8<-- [end:main]
