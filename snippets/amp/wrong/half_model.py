# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "ValueError"
# ///
""".half() on the model, with a scaler: its gradients are FP16, which a scaler refuses."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
# --8<-- [start:new]
model = nn.Linear(4, 1).half().to(device)
# --8<-- [end:new]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device), torch.zeros(8, 1, device=device)

with torch.amp.autocast(device.type, dtype=torch.float16):
    loss = nn.functional.mse_loss(model(inputs), targets)
scaler.scale(loss).backward()
print("gradient:", model.weight.grad.dtype)
scaler.step(optimizer)
# --8<-- [end:main]
