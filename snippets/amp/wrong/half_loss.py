# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""A loss written by hand stays FP16: 65536 times it has a gradient that FP16 cannot hold."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type)
inputs = torch.ones(8, 4, device=device) / 10

with torch.amp.autocast(device.type, dtype=torch.float16):
    # --8<-- [start:new]
    loss = model(inputs).mean()
    # --8<-- [end:new]
scaler.scale(loss).backward()
print("loss:    ", loss.dtype)
print("gradient:", model.weight.grad[0].tolist())
scaler.step(optimizer)
scaler.update()
print("scale:   ", scaler.get_scale())
# --8<-- [end:main]
