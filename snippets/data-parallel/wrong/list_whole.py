# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""A list of numbers is not split: each GPU gets the lengths of the whole batch."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
sequences = torch.ones(4, 5, 2, device=device)
# --8<-- [start:new]
lengths = [5, 4, 3, 2]
# --8<-- [end:new]

first, second = nn.parallel.scatter(lengths, [0, 1])
print("for GPU 0:", first, " for GPU 1:", second)
chunk = sequences.chunk(2)[0]
nn.utils.rnn.pack_padded_sequence(chunk, first, batch_first=True)
# --8<-- [end:main]
