# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# rtol = 0.002
# ///
"""One training step with AMP, third part: `scaler.step` divides by the scale, checks, and steps."""

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1).to(device)
labels = arm.to(device)

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(device)

with torch.autocast(device.type, dtype=torch.float16):
    logits = model(points)
    loss = nn.functional.cross_entropy(logits, labels)
scaler = torch.amp.GradScaler(device.type)
scaler.scale(loss).backward()

# --8<-- [start:step]
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
before = model[0].weight.detach().clone()
print(f"gradient norm before step: {model[0].weight.grad.norm().item():.0f}")
# --8<-- [start:new]
scaler.step(optimizer)
# --8<-- [end:new]
moved = (model[0].weight - before).abs().max().item()
print(f"gradient norm after step : {model[0].weight.grad.norm().item():.4f}")
print(f"largest move of a weight : {moved:.4f}")
# --8<-- [end:step]
