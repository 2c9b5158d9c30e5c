# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""The scale finds its own level: it grows until gradients overflow, backs off, and tries again."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
targets = inputs.sum(dim=1, keepdim=True)
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
# --8<-- [start:new]
scaler = torch.amp.GradScaler(device.type, init_scale=2.0**17, growth_interval=3)
# --8<-- [end:new]

for step in range(1, 21):
    with torch.autocast(device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    before = model.weight.detach().clone()
    scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    happened = "skipped" if model.weight.equal(before) else "stepped"
    print(f"step {step:2}: scale 2^{torch.tensor(scale).log2():.0f}  {happened}")
# --8<-- [end:main]
