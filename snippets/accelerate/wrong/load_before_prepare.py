# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ///
"""load_state before prepare: Accelerate knows of no model yet, and loads nothing."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
model = accelerator.prepare(nn.Linear(2, 1))
accelerator.save_state("checkpoint")
saved = accelerator.unwrap_model(model).weight.detach().clone()

accelerator.free_memory()  # a new run begins
model = nn.Linear(2, 1)
# --8<-- [start:new]
accelerator.load_state("checkpoint")
model = accelerator.prepare(model)
# --8<-- [end:new]
print("the weights that were saved:", accelerator.unwrap_model(model).weight.equal(saved))
# --8<-- [end:main]
