# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# rtol = 0.001
# rtol_accelerator = 0.005
# ///
"""Clipping gradients: first divide them by the scale, then clip, then step."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
targets = inputs.sum(dim=1, keepdim=True)
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scaler = torch.amp.GradScaler(device.type, init_scale=128.0)

for step in range(1, 4):
    with torch.autocast(device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    # --8<-- [start:new]
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    # --8<-- [end:new]
    before = nn.utils.parameters_to_vector(model.parameters())
    scaler.step(optimizer)
    scaler.update()
    moved = (nn.utils.parameters_to_vector(model.parameters()) - before).norm()
    print(f"step {step}: gradient norm {norm.item():.3f}, the weights move by {moved.item():.3f}")
# --8<-- [end:main]
