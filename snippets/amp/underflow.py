# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""A small gradient underflows to zero in fp16; a scaled loss brings it through."""

# --8<-- [start:main]
import torch

print("weight    loss times  gradient stored  divided by the scale again")
for dtype, scale in [
    (torch.float32, 1),
    (torch.float16, 1),
    (torch.float16, 65536),
    (torch.bfloat16, 1),
]:
    weight = torch.ones(1, dtype=dtype, requires_grad=True)
    loss = (weight * 1e-4).float() * 1e-4  # the true gradient is 1e-8
    (loss * scale).backward()
    unscaled = weight.grad.float() / scale
    name = str(dtype).removeprefix("torch.")
    print(f"{name:8}  {scale:10}  {weight.grad.item():15.2e}  {unscaled.item():.2e}")
# --8<-- [end:main]
