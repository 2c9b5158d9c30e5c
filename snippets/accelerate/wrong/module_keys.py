# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# raises = "RuntimeError"
# ///
"""The wrapped model was saved: its names begin with module., and a plain model has no such."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
model = accelerator.prepare(nn.Linear(2, 2))
# --8<-- [start:new]
accelerator.save(model.state_dict(), "weights.pt")
# --8<-- [end:new]
accelerator.wait_for_everyone()
weights = torch.load("weights.pt", map_location="cpu")
accelerator.end_training()

plain = nn.Linear(2, 2)
plain.load_state_dict(weights)
# --8<-- [end:main]
