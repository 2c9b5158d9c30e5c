# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""Weights that any program can load, with Accelerate or without."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
model = accelerator.prepare(nn.Linear(2, 2))
accelerator.print("the wrapped model has:", *model.state_dict())

# --8<-- [start:new]
weights = accelerator.unwrap_model(model).state_dict()
accelerator.save(weights, "weights.pt")  # the main process writes, the others do not
accelerator.wait_for_everyone()  # until the file is there
# --8<-- [end:new]
accelerator.print("the file has:", *torch.load("weights.pt", map_location="cpu"))

# Here Accelerate ends: a plain model, plain torch.
plain = nn.Linear(2, 2)
plain.load_state_dict(torch.load("weights.pt", map_location="cpu"))
accelerator.print("loaded:", plain.weight.equal(model.module.weight.cpu()))
accelerator.end_training()
# --8<-- [end:main]
