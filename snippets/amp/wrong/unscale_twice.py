# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""unscale_ for every micro-batch: the second call raises."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1, bias=False).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type)
inputs, targets = torch.ones(8, 4, device=device) / 10, torch.zeros(8, 1, device=device)

for micro_batch in range(2):
    print(f"micro-batch {micro_batch}")
    with torch.amp.autocast(device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(inputs), targets) / 2
    scaler.scale(loss).backward()
    # --8<-- [start:new]
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    # --8<-- [end:new]
scaler.step(optimizer)
scaler.update()
# --8<-- [end:main]
