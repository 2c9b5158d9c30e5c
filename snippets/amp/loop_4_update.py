# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""One training step with AMP, last part: `scaler.update` sets the scale for the next step."""

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
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

with torch.autocast(device.type, dtype=torch.float16):
    logits = model(points)
    loss = nn.functional.cross_entropy(logits, labels)
scaler = torch.amp.GradScaler(device.type)
scaler.scale(loss).backward()
scaler.step(optimizer)

# --8<-- [start:update]
# --8<-- [start:new]
scaler.update()
# --8<-- [end:new]
state = scaler.state_dict()
print(f"scale for the next step   : {state['scale']:.0f}")
print(f"clean steps in a row      : {state['_growth_tracker']}")
print(f"the scale doubles after   : {state['growth_interval']}")
print(f"an overflow multiplies by : {state['backoff_factor']}")
# --8<-- [end:update]
