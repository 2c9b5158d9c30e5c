# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "ValueError"
# ///
"""The GPUs return dictionaries with different keys."""

# --8<-- [start:main]
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, inputs):
        outputs = {"logits": None}  # the tensors do not matter here
        # --8<-- [start:new]
        if inputs.max() > 5:
            outputs["warning"] = None
        # --8<-- [end:new]
        return outputs


model = Model()
outputs = [model(chunk) for chunk in torch.arange(8).chunk(2)]  # what two GPUs return
print("keys:", [list(output) for output in outputs])
nn.parallel.gather(outputs, target_device=0)
# --8<-- [end:main]
