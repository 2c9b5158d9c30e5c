# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# raises = "RuntimeError"
# ///
"""BCELoss under CUDA's autocast raises; fake tensors apply CUDA's rule on any machine."""

# --8<-- [start:main]
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

torch.set_autocast_enabled("cuda", True)  # what torch.amp.autocast("cuda") does on a GPU
try:
    with FakeTensorMode():
        logits = torch.rand(8, 1, device="cuda")
        labels = torch.ones(8, 1, device="cuda")
        # --8<-- [start:new]
        loss = nn.functional.binary_cross_entropy(torch.sigmoid(logits), labels)
        # --8<-- [end:new]
        print("loss:", loss.dtype)
finally:
    torch.set_autocast_enabled("cuda", False)
# --8<-- [end:main]
