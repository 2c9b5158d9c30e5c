# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""Evaluation: autocast and no gradients, no scaler; what is reported is computed in fp32."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).to(device)
nn.init.eye_(model[0].weight)
nn.init.zeros_(model[0].bias)
inputs = 24 * torch.eye(4, device=device)
labels = torch.arange(4, device=device)

# --8<-- [start:new]
model.eval()
with torch.inference_mode(), torch.autocast(device.type, dtype=torch.float16):
    logits = model(inputs)
probabilities = logits.float().softmax(dim=1)
# --8<-- [end:new]

accuracy = (logits.argmax(dim=1) == labels).float().mean()
print(f"logits              : {logits.dtype}, gradients wanted: {logits.requires_grad}")
print(f"probabilities       : {probabilities.dtype}")
print(f"smallest of them    : {probabilities.min().item():.1e}")
print(f"the same in 16 bits : {logits.softmax(dim=1).min().item():.1e}")
print(f"accuracy            : {accuracy.item():.2f}")
# --8<-- [end:main]
