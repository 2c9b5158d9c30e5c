# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "AssertionError"
# ///
"""A new head after the optimizer was built: the optimizer's own weights get no gradient."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 10, bias=False).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# --8<-- [start:new]
model = nn.Linear(4, 1, bias=False).to(device)  # a new head: not the one that the optimizer knows
# --8<-- [end:new]
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device) / 10, torch.zeros(8, 1, device=device)

with torch.amp.autocast(device.type, dtype=torch.float16):
    loss = nn.functional.mse_loss(model(inputs), targets)
scaler.scale(loss).backward()
weight = optimizer.param_groups[0]["params"][0]
print("gradient of the weight that the optimizer knows:", weight.grad)
scaler.step(optimizer)
# --8<-- [end:main]
