# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""An epsilon of 1e-8 guards nothing in FP16: it is rounded to 0, and 0 / 0 is NaN."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 2).to(device)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)

with torch.amp.autocast(device.type, dtype=torch.float16):
    hidden = model(torch.ones(1, 4, device=device))
    # --8<-- [start:new]
    hidden = hidden / (hidden.abs().max() + 1e-8)
    # --8<-- [end:new]

print("hidden: ", hidden.dtype)
print("epsilon:", torch.tensor(1e-8, dtype=hidden.dtype).item())
print("values: ", hidden.tolist())
# --8<-- [end:main]
