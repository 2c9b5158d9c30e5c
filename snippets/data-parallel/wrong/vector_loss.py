# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""A loss per GPU is a vector, and backward wants one number."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(2, 2).to(device)
inputs, targets = torch.ones(8, 2, device=device), torch.zeros(8, 2, device=device)

# The loss is computed in forward: each replica returns one number, and they are gathered.
losses = [
    nn.functional.mse_loss(model(chunk), target)
    for chunk, target in zip(inputs.chunk(2), targets.chunk(2), strict=True)
]
loss = torch.stack(losses)
print("loss:", tuple(loss.shape))
# --8<-- [start:new]
loss.backward()
# --8<-- [end:new]
# --8<-- [end:main]
