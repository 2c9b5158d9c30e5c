# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
""".half() on the model, with Adam: eps=1e-8 is 0 in FP16, and a zero gradient gives 0 / 0."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(2, 1, bias=False).to(device)
nn.init.zeros_(model.weight)
# --8<-- [start:new]
model.half()
# --8<-- [end:new]
optimizer = torch.optim.Adam(model.parameters())
inputs = torch.tensor([[1.0, 0.0]], device=device)  # the second feature is off

with torch.amp.autocast(device.type, dtype=torch.float16):
    loss = model(inputs).float().sum()
loss.backward()
optimizer.step()

print("gradient:        ", model.weight.grad.tolist())
print("eps=1e-8 in FP16:", torch.tensor(1e-8).half().item())
print("weight:          ", [[round(weight, 4) for weight in model.weight[0].tolist()]])
# --8<-- [end:main]
