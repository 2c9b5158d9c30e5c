# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""A mask of -1e9 on FP16 scores: FP16 ends at -65504, so the fill raises."""

# --8<-- [start:main]
import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
queries, keys = torch.ones(4, 8, device=device), torch.ones(4, 8, device=device)
future = torch.ones(4, 4, dtype=torch.bool, device=device).triu(diagonal=1)

with torch.amp.autocast(device.type, dtype=torch.float16):
    scores = queries @ keys.T
    print("scores:", scores.dtype)
    # --8<-- [start:new]
    scores = scores.masked_fill(future, -1e9)
    # --8<-- [end:new]
# --8<-- [end:main]
