# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""The whole loop inside one autocast: every step computes with the weights of the first."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
nn.init.zeros_(model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device), torch.full((8, 1), -0.1, device=device)

# --8<-- [start:new]
with torch.amp.autocast(device.type, dtype=torch.float16):
    for step in range(4):
        # --8<-- [end:new]
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print(f"step {step}  loss {loss.item():.4f}")

loss = nn.functional.mse_loss(model(inputs), targets)
print(f"true loss    {loss.item():.4f}")
# --8<-- [end:main]
