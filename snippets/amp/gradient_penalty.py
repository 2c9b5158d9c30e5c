# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# rtol = 0.005
# ///
"""A gradient penalty: gradients that enter the loss are divided by the scale by hand."""

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
    with torch.autocast(device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    # --8<-- [start:new]
    scaled = torch.autograd.grad(scaler.scale(loss), model.parameters(), create_graph=True)
    gradients = [gradient / scaler.get_scale() for gradient in scaled]
    penalty = sum(gradient.pow(2).sum() for gradient in gradients).sqrt()
    scaler.scale(loss + 0.1 * penalty).backward()
    # --8<-- [end:new]
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step}: loss {loss.item():.3f}, norm of its gradients {penalty.item():.3f}")
# --8<-- [end:main]
