# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "AssertionError"
# ///
"""A scaler that steps without ever having scaled a loss: it has no scale, and says so."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device) / 10, torch.zeros(8, 1, device=device)

with torch.amp.autocast(device.type, dtype=torch.float16):
    loss = nn.functional.mse_loss(model(inputs), targets)
# --8<-- [start:new]
loss.backward()
# --8<-- [end:new]
scaler.step(optimizer)
# --8<-- [end:main]
