# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# raises = "FakeTensorDeviceMismatchError"
# ///
"""A tensor that is no buffer stays on the first GPU; fake tensors play the GPUs."""

# --8<-- [start:main]
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode


class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        # --8<-- [start:new]
        self.shift = torch.ones(2, device="cuda:0")
        # --8<-- [end:new]

    def forward(self, inputs):
        return inputs + self.shift


with FakeTensorMode():
    replica = Shifted()._replicate_for_data_parallel()
    for name, buffer in replica.named_buffers():  # the second GPU gets copies of buffers alone
        setattr(replica, name, buffer.to("cuda:1"))
    chunk = torch.ones(4, 2, device="cuda:1")
    print("chunk:", chunk.device, " shift:", replica.shift.device)
    replica(chunk)
# --8<-- [end:main]
