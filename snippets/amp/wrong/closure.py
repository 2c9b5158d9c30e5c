# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""An optimizer that needs a closure, such as L-BFGS: the scaler cannot run one."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
optimizer = torch.optim.LBFGS(model.parameters())
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device) / 10, torch.zeros(8, 1, device=device)


def closure():
    optimizer.zero_grad()
    with torch.amp.autocast(device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(inputs), targets)
    scaler.scale(loss).backward()
    return loss


# --8<-- [start:new]
scaler.step(optimizer, closure=closure)
# --8<-- [end:new]
# --8<-- [end:main]
