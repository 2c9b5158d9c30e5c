# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""The mean of the GPUs' means counts the samples of a short chunk more than the others."""

# --8<-- [start:main]
import torch
from torch import nn

model = nn.Linear(1, 1, bias=False)
inputs = torch.ones(13, 1, requires_grad=True)

means = [model(chunk).mean() for chunk in inputs.chunk(4)]  # computed in forward, on four GPUs
# --8<-- [start:new]
loss = torch.stack(means).mean()
# --8<-- [end:new]
loss.backward()
weights = inputs.grad.flatten() / model.weight.item()
print("chunks:", [len(chunk) for chunk in inputs.chunk(4)])
print("weight of the first sample:", f"{weights[0].item():.4f}")
print("weight of the last sample: ", f"{weights[-1].item():.4f}")
# --8<-- [end:main]
