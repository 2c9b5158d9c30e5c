# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""One forward and backward pass under autocast: which tensors are 16-bit, and which are not."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
inputs = torch.randn(16, 4, device=device)
targets = torch.randint(0, 2, (16,), device=device)

# --8<-- [start:new]
with torch.autocast(device.type, dtype=torch.float16):
    logits = model(inputs)
    loss = nn.functional.cross_entropy(logits, targets)
loss.backward()
# --8<-- [end:new]

print(f"inputs               : {inputs.dtype}")
print(f"weights              : {model[0].weight.dtype}")
print(f"logits under autocast: {logits.dtype}")
print(f"loss under autocast  : {loss.dtype}")
print(f"gradients of weights : {model[0].weight.grad.dtype}")
print(f"logits outside it    : {model(inputs).dtype}")
# --8<-- [end:main]
