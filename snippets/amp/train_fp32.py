# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# rtol = 0.1
# rtol_accelerator = 0.2
# ///
"""The training problem of the course in plain fp32: tell two spirals apart."""

# --8<-- [start:data]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1).to(device)
labels = arm.to(device)
# --8<-- [end:data]

# --8<-- [start:model]
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
# --8<-- [end:model]

# --8<-- [start:loop]
for step in range(201):
    logits = model(points)
    loss = nn.functional.cross_entropy(logits, labels)
    if step % 50 == 0:
        print(f"step {step:3}: loss {loss.item():.3f}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

accuracy = (logits.argmax(dim=1) == labels).float().mean()
print(f"accuracy: {accuracy.item():.2f}")
# --8<-- [end:loop]
