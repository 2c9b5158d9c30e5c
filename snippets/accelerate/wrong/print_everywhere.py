# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""print and torch.save run on every process: each line twice, and two writers of one file."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
loss = torch.tensor(0.5 + accelerator.process_index)
# --8<-- [start:new]
print(f"rank {accelerator.process_index}: loss {loss.item()}")
torch.save(loss, "loss.pt")
# --8<-- [end:new]
print(f"rank {accelerator.process_index}: wrote loss.pt")
accelerator.wait_for_everyone()  # no one leaves before all have joined
accelerator.end_training()
# --8<-- [end:main]
