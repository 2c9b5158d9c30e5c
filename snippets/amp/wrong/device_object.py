# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "ValueError"
# ///
"""autocast takes the type of a device, a string; a torch.device raises."""

# --8<-- [start:main]
import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

# --8<-- [start:new]
with torch.amp.autocast(device, dtype=torch.bfloat16):
    # --8<-- [end:new]
    product = torch.ones(2, 2, device=device) @ torch.ones(2, 2, device=device)
print("product:", product.dtype)
# --8<-- [end:main]
