# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 9
# ///
"""autocast and torch.compile together: compile the model, keep the loop."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
targets = inputs.sum(dim=1, keepdim=True)
model = nn.Linear(4, 1).to(device)
# --8<-- [start:new]
compiled = torch.compile(model, backend="aot_eager")  # leave backend out for the fast one
# --8<-- [end:new]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device.type, init_scale=128.0)

for step in range(1, 4):
    # --8<-- [start:new]
    with torch.autocast(device.type, dtype=torch.float16):
        outputs = compiled(inputs)
        # --8<-- [end:new]
        loss = nn.functional.mse_loss(outputs, targets)
        plain = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step}: {outputs.dtype}, loss {loss.item():.3f}, not compiled {plain.item():.3f}")
# --8<-- [end:main]
