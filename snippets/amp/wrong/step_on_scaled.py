# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""optimizer.step() on scaled gradients: the step is 65536 times too large."""

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
scaler.scale(loss).backward()
wanted = -model.weight.grad[0, 0].item() / scaler.get_scale()
# --8<-- [start:new]
optimizer.step()
# --8<-- [end:new]
taken = model.weight[0, 0].item()

print(f"step wanted: {wanted:.4g}")
print(f"step taken:  {taken:.1f}")
print(f"too large:   {taken / wanted:.0f} times")
# --8<-- [end:main]
