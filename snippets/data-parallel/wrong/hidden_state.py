# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""The hidden state has the batch in its second dimension, and is split along the first."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.GRU(4, 8, num_layers=2, batch_first=True).to(device)
sequences = torch.ones(6, 5, 4, device=device)
# --8<-- [start:new]
hidden = torch.zeros(2, 6, 8, device=device)  # (layers, batch, features)
# --8<-- [end:new]

# parallel(sequences, hidden) on two GPUs:
for chunk, state in zip(sequences.chunk(2), hidden.chunk(2), strict=True):
    model(chunk, state)
# --8<-- [end:main]
