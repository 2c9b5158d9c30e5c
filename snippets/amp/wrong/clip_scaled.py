# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""Clipping before unscale_: the clip sees a norm 65536 times too large; the step vanishes."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
nn.init.zeros_(model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device), torch.full((8, 1), -0.1, device=device)

with torch.amp.autocast(device.type, dtype=torch.float16):
    loss = nn.functional.mse_loss(model(inputs), targets)
scaler.scale(loss).backward()
max_norm = 0.1
# --8<-- [start:new]
norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
# --8<-- [end:new]
scaler.step(optimizer)
scaler.update()

print(f"norm that the clip saw: {norm.item():.1f}")
print(f"true norm:              {norm.item() / scaler.get_scale():.4f}")
print(f"length of step wanted:  {max_norm}")
print(f"length of step taken:   {model.weight.norm().item():.4g}")
# --8<-- [end:main]
