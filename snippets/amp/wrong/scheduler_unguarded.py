# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# warns = "UserWarning"
# ///
"""The scheduler moves although the scaler skipped the step, and warns the first time."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device) / 10, torch.full((8, 1), 1000.0, device=device)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)

with torch.amp.autocast(device.type, dtype=torch.float16):
    loss = nn.functional.mse_loss(model(inputs), targets)
scaler.scale(loss).backward()  # gradients of about 250 * 65536: inf in FP16
scaler.step(optimizer)
scaler.update()
# --8<-- [start:new]
scheduler.step()
# --8<-- [end:new]

print("scale:        ", scaler.get_scale())
print("learning rate:", scheduler.get_last_lr()[0])
# --8<-- [end:main]
