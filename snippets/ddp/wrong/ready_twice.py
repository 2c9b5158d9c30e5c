# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# ///
"""A layer that is used twice, each time under reentrant checkpointing: two backward passes."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.shared = nn.Linear(4, 4)

    def forward(self, inputs):
        hidden = self.first(inputs)
        # --8<-- [start:new]
        hidden = checkpoint(self.shared, hidden, use_reentrant=True)
        return checkpoint(self.shared, hidden, use_reentrant=True)
        # --8<-- [end:new]


ddp = DistributedDataParallel(Model().to(device))
loss = ddp(torch.ones(8, 4, device=device)).mean()
loss.backward()
# --8<-- [end:main]
