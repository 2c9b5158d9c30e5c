# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "TypeError"
# ///
"""forward returns a Python number, which gather cannot put together."""

# --8<-- [start:main]
import torch
from torch import nn


class WithLoss(nn.Module):
    def forward(self, inputs):
        # --8<-- [start:new]
        return inputs.pow(2).mean().item()
        # --8<-- [end:new]


model = WithLoss()
outputs = [model(chunk) for chunk in torch.ones(8, 2).chunk(2)]  # what two GPUs return
print("outputs:", outputs)
nn.parallel.gather(outputs, target_device=0)
# --8<-- [end:main]
