# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "ValueError"
# ///
"""The last chunk holds a single sample, and BatchNorm cannot normalize one."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.BatchNorm1d(4).to(device)
# --8<-- [start:new]
batch = torch.randn(3, 4, device=device)  # what was left at the end of the epoch
# --8<-- [end:new]

for chunk in batch.chunk(2):
    print("chunk:", len(chunk))
    model(chunk)
# --8<-- [end:main]
