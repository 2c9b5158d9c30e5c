# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""One training step with AMP, first part: the forward pass runs under autocast."""

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1).to(device)
labels = arm.to(device)

# --8<-- [start:model]
torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(device)
# --8<-- [end:model]

# --8<-- [start:forward]
# --8<-- [start:new]
with torch.autocast(device.type, dtype=torch.float16):
    # --8<-- [end:new]
    logits = model(points)
    loss = nn.functional.cross_entropy(logits, labels)

print(f"weights: {model[0].weight.dtype}")
print(f"logits : {logits.dtype}")
print(f"loss   : {loss.dtype}, {loss.item():.3f}")
# --8<-- [end:forward]
