# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""Mixed precision is an argument: where autocast is on, and where it is not."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn

# --8<-- [start:new]
accelerator = Accelerator(cpu=not torch.accelerator.is_available(), mixed_precision="bf16")
# --8<-- [end:new]
model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 2))
inner = []
model[0].register_forward_hook(lambda layer, inputs, output: inner.append(output.dtype))
model = accelerator.prepare(model)

inputs = torch.randn(64, 2, device=accelerator.device)
logits = model(inputs)
accelerator.print(f"inside the model : {inner[0]}")
accelerator.print(f"what it returns  : {logits.dtype}")
accelerator.print(f"its weights      : {model.module[0].weight.dtype}")
accelerator.print(f"matmul outside   : {(inputs @ inputs.T).dtype}")
# --8<-- [start:new]
with accelerator.autocast():
    accelerator.print(f"inside autocast(): {(inputs @ inputs.T).dtype}")
# --8<-- [end:new]
accelerator.print(f"gradient scaler  : {accelerator.scaler}")
accelerator.end_training()
# --8<-- [end:main]
