# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""Two models, two losses, two optimizers, one scaler: each optimizer skips for itself."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
total = inputs.sum(dim=1, keepdim=True)
small, large = nn.Linear(4, 1).to(device), nn.Linear(4, 1).to(device)
small_optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
large_optimizer = torch.optim.SGD(large.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type)

for step in range(1, 6):
    # --8<-- [start:new]
    with torch.autocast(device.type, dtype=torch.float16):
        small_loss = nn.functional.mse_loss(small(inputs), 0.1 * total)
        large_loss = nn.functional.mse_loss(large(inputs), 2.0 * total)
    small_optimizer.zero_grad()
    large_optimizer.zero_grad()
    scaler.scale(small_loss).backward()
    scaler.scale(large_loss).backward()
    scale = scaler.get_scale()
    scaler.step(small_optimizer)
    scaler.step(large_optimizer)
    scaler.update()  # once, after the last step
    # --8<-- [end:new]
    print(
        f"step {step}: scale {scale:5.0f}, losses {small_loss.item():.2f}, {large_loss.item():5.2f}"
    )
# --8<-- [end:main]
