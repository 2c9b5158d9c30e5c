# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "AttributeError"
# ///
"""The wrapper has none of the model's own attributes."""

# --8<-- [start:main]
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)

    def forward(self, inputs):
        return self.head(inputs)


parallel = nn.DataParallel(Classifier())
# --8<-- [start:new]
for weight in parallel.head.parameters():
    # --8<-- [end:new]
    weight.requires_grad = False
# --8<-- [end:main]
