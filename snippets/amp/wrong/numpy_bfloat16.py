# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "numpy"]
#
# [tool.lesson]
# seconds = 2
# raises = "TypeError"
# ///
"""NumPy has no bfloat16: .numpy() on a result of BF16 autocast raises."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 1).to(device)

with torch.no_grad(), torch.amp.autocast(device.type, dtype=torch.bfloat16):
    outputs = model(torch.ones(8, 4, device=device))
print("outputs:", outputs.dtype)
# --8<-- [start:new]
predictions = outputs.cpu().numpy()
# --8<-- [end:new]
print("predictions:", predictions.dtype)
# --8<-- [end:main]
