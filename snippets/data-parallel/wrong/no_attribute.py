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

parallel = nn.DataParallel(nn.Linear(2, 2))
# --8<-- [start:new]
parallel.weight.requires_grad = False
# --8<-- [end:new]
# --8<-- [end:main]
