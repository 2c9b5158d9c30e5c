# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# rtol = 0.005
# ///
"""Four micro-batches, one step: the accumulated gradients equal those of the big batch."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
targets = inputs.sum(dim=1, keepdim=True)
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type, init_scale=128.0)

for step in range(1, 4):
    whole = torch.autograd.grad(nn.functional.mse_loss(model(inputs), targets), model.weight)[0]
    # --8<-- [start:new]
    for few_inputs, few_targets in zip(inputs.split(16), targets.split(16), strict=True):
        with torch.autocast(device.type, dtype=torch.float16):
            loss = nn.functional.mse_loss(model(few_inputs), few_targets) / 4
        scaler.scale(loss).backward()  # adds to the gradients
    scaler.step(optimizer)  # once, after the last of the four
    scaler.update()
    # --8<-- [end:new]
    summed = model.weight.grad.norm().item()
    print(f"step {step}: gradient norm {summed:.3f}, of the big batch {whole.norm().item():.3f}")
    optimizer.zero_grad()
# --8<-- [end:main]
