# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""An FP16 tensor that leaves autocast and meets an FP32 layer: the dtypes do not match."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
encoder, head = nn.Linear(4, 4).to(device), nn.Linear(4, 1).to(device)

with torch.amp.autocast(device.type, dtype=torch.float16):
    features = encoder(torch.ones(8, 4, device=device))
print("features:", features.dtype)
print("weight:  ", head.weight.dtype)
# --8<-- [start:new]
logits = head(features)
# --8<-- [end:new]
# --8<-- [end:main]
