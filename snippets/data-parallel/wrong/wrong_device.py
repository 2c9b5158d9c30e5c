# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""The model was moved off the first GPU; a machine without GPUs is told that it has two."""

# --8<-- [start:main]
import torch
from torch import nn

model = nn.Linear(2, 2)
parallel = nn.DataParallel(model)
# What DataParallel finds by itself on a machine with two GPUs:
parallel.device_ids, parallel.src_device_obj = [0, 1], torch.device("cuda:0")

# --8<-- [start:new]
model.cpu()  # to save it, say
# --8<-- [end:new]
print("the model is on:", model.weight.device)
parallel(torch.ones(8, 2))
# --8<-- [end:main]
