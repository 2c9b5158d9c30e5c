# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 10
# ///
"""What training needs before it starts: count on the meta device, then look whether it is so."""

# --8<-- [start:count]
import torch
from accelerate import init_empty_weights
from accelerate.utils import calculate_maximum_sizes
from torch import nn


def encoder(width, layers):
    layer = nn.TransformerEncoderLayer(width, nhead=8, dim_feedforward=4 * width)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


with init_empty_weights():  # parameters without memory: this takes no GPU and no download
    model = encoder(width=4096, layers=32)
weights, (largest, _) = calculate_maximum_sizes(model)

print(f"parameters             : {weights / 4 / 1e9:6.2f} billion")
print(f"weights, FP32          : {weights / 2**30:6.2f} GiB")
print(f"weights, BF16          : {weights / 2 / 2**30:6.2f} GiB")
print(f"largest layer, FP32    : {largest / 2**30:6.2f} GiB")
print(f"training, FP32 and Adam: {4 * weights / 2**30:6.2f} GiB")
print(f"training, FP32 and SGD : {2 * weights / 2**30:6.2f} GiB")
# --8<-- [end:count]

# --8<-- [start:check]
small = encoder(width=64, layers=2)
optimizer = torch.optim.Adam(small.parameters())
small(torch.randn(4, 2, 64)).sum().backward()
optimizer.step()


def size(tensors):
    return sum(tensor.nbytes for tensor in tensors)


held = size(small.parameters()) + size(p.grad for p in small.parameters())
held += sum(size(state.values()) for state in optimizer.state.values())
counted, _ = calculate_maximum_sizes(small)
steps = 4 * len(list(small.parameters()))  # Adam also counts its steps, in 4 bytes a parameter
print(f"counted for a small one: {4 * counted + steps} bytes")
print(f"held after a step      : {held} bytes")
# --8<-- [end:check]
