# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""One flag turns mixed precision off: the same loop, then in plain fp32."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
targets = inputs.sum(dim=1, keepdim=True)

for use_amp in (True, False):
    torch.manual_seed(1)
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    # --8<-- [start:new]
    scaler = torch.amp.GradScaler(device.type, init_scale=128.0, enabled=use_amp)
    # --8<-- [end:new]
    for _ in range(10):
        # --8<-- [start:new]
        with torch.autocast(device.type, dtype=torch.float16, enabled=use_amp):
            # --8<-- [end:new]
            outputs = model(inputs)
            loss = nn.functional.mse_loss(outputs, targets)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(f"use_amp={use_amp}")
    print(f"  outputs       : {outputs.dtype}, loss after 10 steps {loss.item():.3f}")
    print(f"  scale         : {scaler.get_scale():.0f}")
    print(f"  scaler's state: {len(scaler.state_dict())} entries")
# --8<-- [end:main]
