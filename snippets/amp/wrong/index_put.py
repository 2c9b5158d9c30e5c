# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""FP16 results written by index into an FP32 buffer: assignment does not cast here."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 4).to(device)
buffer = torch.zeros(8, 4, device=device)
rows = torch.tensor([1, 3], device=device)

with torch.amp.autocast(device.type, dtype=torch.float16):
    outputs = model(torch.ones(2, 4, device=device))
    print("outputs:", outputs.dtype)
    print("buffer: ", buffer.dtype)
    # --8<-- [start:new]
    buffer[rows] = outputs
    # --8<-- [end:new]
# --8<-- [end:main]
