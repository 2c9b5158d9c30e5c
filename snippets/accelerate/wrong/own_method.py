# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# raises = "AttributeError"
# ///
"""A method of the model, called on what prepare returned."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn


class Classifier(nn.Linear):
    def classify(self, inputs):
        return self(inputs).argmax(dim=1)


accelerator = Accelerator(cpu=not torch.accelerator.is_available())
model = accelerator.prepare(Classifier(2, 2))
inputs = torch.randn(4, 2, device=accelerator.device)
# --8<-- [start:new]
model.classify(inputs)
# --8<-- [end:new]
# --8<-- [end:main]
