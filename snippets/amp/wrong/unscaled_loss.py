# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""scale() returns the scaled loss; backward() on the other makes a step 65536 times too small."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
nn.init.zeros_(model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device), torch.full((8, 1), -0.1, device=device)

with torch.amp.autocast(device.type, dtype=torch.float16):
    loss = nn.functional.mse_loss(model(inputs), targets)
# --8<-- [start:new]
scaler.scale(loss)
loss.backward()
# --8<-- [end:new]
wanted = -model.weight.grad[0, 0].item()
scaler.step(optimizer)
scaler.update()
taken = model.weight[0, 0].item()

print(f"step wanted: {wanted:.4g}")
print(f"step taken:  {taken:.4g}")
print(f"too small:   {wanted / taken:.0f} times")
# --8<-- [end:main]
