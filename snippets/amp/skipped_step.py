# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""A skipped step: the gradients overflow, so weights and optimizer stay as they were."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
targets = inputs.sum(dim=1, keepdim=True)
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam(model.parameters())
scaler = torch.amp.GradScaler(device.type, init_scale=2.0**40)  # far too high for this loss

with torch.autocast(device.type, dtype=torch.float16):
    loss = nn.functional.mse_loss(model(inputs), targets)
scaler.scale(loss).backward()
before = model.weight.detach().clone()
scale = scaler.get_scale()
# --8<-- [start:new]
scaler.step(optimizer)
scaler.update()
skipped = scaler.get_scale() < scale
# --8<-- [end:new]

print(f"loss                 : {loss.item():.2f}")
print(f"gradients are finite : {model.weight.grad.isfinite().all().item()}")
print(f"weights have changed : {not model.weight.equal(before)}")
print(f"optimizer has a state: {len(optimizer.state) > 0}")
print(f"the scale            : 2^40, then 2^{torch.tensor(scaler.get_scale()).log2():.0f}")
print(f"so this step was     : {'skipped' if skipped else 'done'}")
# --8<-- [end:main]
