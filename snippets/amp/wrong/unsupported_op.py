# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""An operation that exists in FP32 only, given an FP16 result outside autocast."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1).to(device)

with torch.amp.autocast(device.type, dtype=torch.float16):
    outputs = model(torch.ones(8, 4, device=device))
print("outputs:", outputs.dtype)
# --8<-- [start:new]
median = outputs.quantile(0.5)
# --8<-- [end:new]
print("median:", median.dtype)
# --8<-- [end:main]
