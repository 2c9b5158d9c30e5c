# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# devices = ["cpu"]
# ///
"""mixed_precision="fp16" on a CPU: no error, no warning, and no mixed precision."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn

# --8<-- [start:new]
accelerator = Accelerator(cpu=True, mixed_precision="fp16")
# --8<-- [end:new]
model = nn.Sequential(nn.Linear(2, 64), nn.Linear(64, 2))
inner = []
model[0].register_forward_hook(lambda layer, inputs, output: inner.append(output.dtype))
model = accelerator.prepare(model)
model(torch.randn(8, 2))

accelerator.print("asked for:", accelerator.mixed_precision)
accelerator.print("computed :", inner[0])
accelerator.print("scaler   :", accelerator.scaler)
accelerator.end_training()
# --8<-- [end:main]
