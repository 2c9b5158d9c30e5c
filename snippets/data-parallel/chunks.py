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

for batch, count in [(64, 2), (64, 4), (7, 2), (9, 4), (5, 4), (3, 4)]:
    parts = torch.empty(batch, 2).chunk(count)
    print(f"batch {batch:2} on {count} GPUs:", [len(part) for part in parts])
# --8<-- [end:main]
