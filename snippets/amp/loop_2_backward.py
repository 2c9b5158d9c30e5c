# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# rtol = 0.002
# ///
"""One training step with AMP, second part: the loss is scaled before the backward pass."""

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

# --8<-- [start:backward]
# --8<-- [start:new]
scaler = torch.amp.GradScaler(device.type)
scaler.scale(loss).backward()
# --8<-- [end:new]

norm = model[0].weight.grad.norm().item()
exact = torch.autograd.grad(nn.functional.cross_entropy(model(points), labels), model[0].weight)
print(f"scale                   : {scaler.get_scale():.0f}")
print(f"loss, scaled loss       : {loss.item():.4f}, {scaler.scale(loss).item():.0f}")
print(f"gradients               : {model[0].weight.grad.dtype}")
print(f"gradient norm           : {norm:.0f}")
print(f"divided by the scale    : {norm / scaler.get_scale():.4f}")
print(f"without autocast, scaler: {exact[0].norm().item():.4f}")
# --8<-- [end:backward]
