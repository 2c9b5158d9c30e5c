# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# ///
"""A signal so faint that fp16 cannot learn it without a scaled loss."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
time = torch.linspace(-3, 3, 8192, device=device)
waves = torch.stack([(k * time).sin() for k in range(1, 9)], dim=1)
signal = 1e-4 * (3 * time).sin().unsqueeze(1)

for name, dtype, scaled in [
    ("fp32", torch.float32, False),
    ("fp16", torch.float16, False),
    ("fp16, scaled", torch.float16, True),
    ("bf16", torch.bfloat16, False),
]:
    model = nn.Linear(8, 1, bias=False).to(device)
    nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    scaler = torch.amp.GradScaler(device.type, enabled=scaled)
    losses = []
    for _ in range(51):
        with torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
            loss = nn.functional.mse_loss(model(waves), signal)
        losses.append(loss.item())
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    left = losses[-1] / losses[0]
    print(f"{name:12}  loss at first {losses[0]:.1e}, left of it after 50 steps: {left:4.0%}")
# --8<-- [end:main]
