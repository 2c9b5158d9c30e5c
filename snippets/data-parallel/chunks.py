# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""How a batch is split: the chunks that each number of GPUs gets."""

# --8<-- [start:main]
import torch

for batch, gpus in [(64, 2), (64, 4), (7, 2), (9, 4), (5, 4), (3, 4)]:
    chunks = torch.empty(batch, 2).chunk(gpus)
    print(f"batch {batch:2} on {gpus} GPUs:", [len(chunk) for chunk in chunks])
# --8<-- [end:main]
