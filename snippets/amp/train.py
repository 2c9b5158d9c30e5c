# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 10
# rtol = 0.1
# rtol_accelerator = 0.2
# ///
"""The complete training loop with automatic mixed precision: autocast and a gradient scaler."""

# --8<-- [start:setup]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1).to(device)
labels = arm.to(device)

model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
# --8<-- [start:new]
scaler = torch.amp.GradScaler(device.type)
# --8<-- [end:new]
# --8<-- [end:setup]

# --8<-- [start:loop]
for step in range(201):
    # --8<-- [start:new]
    with torch.autocast(device.type, dtype=torch.float16):
        # --8<-- [end:new]
        logits = model(points)
        loss = nn.functional.cross_entropy(logits, labels)
    if step % 50 == 0:
        print(f"step {step:3}: loss {loss.item():.3f}")
    optimizer.zero_grad()
    # --8<-- [start:new]
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    # --8<-- [end:new]

accuracy = (logits.argmax(dim=1) == labels).float().mean()
print(f"accuracy: {accuracy.item():.2f}")
print(f"logits  : {logits.dtype}")
print(f"scale   : {scaler.get_scale():.0f}")
# --8<-- [end:loop]
