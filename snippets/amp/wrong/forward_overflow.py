# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""An activation beyond 65504: the loss is inf, every step is skipped, and nothing is raised."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
nn.init.ones_(model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type)
# --8<-- [start:new]
inputs = torch.full((8, 4), 20000.0, device=device)  # raw values, not normalized: the sum is 80000
# --8<-- [end:new]
targets = torch.zeros(8, 1, device=device)

for step in range(201):
    optimizer.zero_grad()
    with torch.amp.autocast(device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(inputs), targets)
    if step in (0, 16, 200):
        print(f"step {step:3d}  loss {loss.item()}  scale {scaler.get_scale()}")
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

print("weights after 201 steps:", model.weight.tolist())
# --8<-- [end:main]
