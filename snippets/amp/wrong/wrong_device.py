# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# ///
"""autocast for one device, tensors on another: no error, and no mixed precision either."""

# --8<-- [start:main]
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

with FakeTensorMode():  # stands in for a GPU, so that this runs on any machine
    inputs, weight = torch.rand(8, 4, device="cuda"), torch.rand(4, 4, device="cuda")
    # --8<-- [start:new]
    with torch.amp.autocast("cpu", dtype=torch.bfloat16):
        # --8<-- [end:new]
        outputs = inputs @ weight

print("device: ", outputs.device.type)
print("product:", outputs.dtype)
# --8<-- [end:main]
