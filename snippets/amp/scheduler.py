# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""A learning-rate scheduler must not move when the scaler has skipped the optimizer's step."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
targets = inputs.sum(dim=1, keepdim=True)
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.08)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
scaler = torch.amp.GradScaler(device.type)

for step in range(1, 6):
    with torch.autocast(device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    # --8<-- [start:new]
    scale = scaler.get_scale()
    scaler.update()
    stepped = scaler.get_scale() >= scale
    if stepped:
        scheduler.step()
    # --8<-- [end:new]
    happened = "stepped" if stepped else "skipped"
    rate = scheduler.get_last_lr()[0]
    print(f"step {step}: loss {loss.item():.2f}, {happened}, next learning rate {rate:.3f}")
# --8<-- [end:main]
