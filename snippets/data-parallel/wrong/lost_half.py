# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "ValueError"
# ///
"""A tensor of one row is one chunk, so only one GPU works and half of the batch is gone."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(4, 2).to(device)
inputs, targets = torch.ones(8, 4, device=device), torch.zeros(8, dtype=torch.long, device=device)
# --8<-- [start:new]
mask = torch.ones(1, 4, device=device)  # one for all samples
# --8<-- [end:new]

# parallel(inputs, mask) on two GPUs: the arguments' chunks are put together until one is used up.
chunks = list(zip(inputs.chunk(2), mask.chunk(2), strict=False))
print("chunks that are computed:", len(chunks))
logits = torch.cat([model(chunk * mask) for chunk, mask in chunks])
nn.functional.cross_entropy(logits, targets)
# --8<-- [end:main]
