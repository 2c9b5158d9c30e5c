# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# ///
"""A layer that the loss does not depend on: DDP waits for its gradient and never gets it."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
        # --8<-- [start:new]
        self.second_head = nn.Linear(4, 1)
        # --8<-- [end:new]

    def forward(self, inputs):
        return self.layer(inputs)


ddp = DistributedDataParallel(Model().to(device))
inputs = torch.ones(8, 4, device=device)
for step in range(2):
    loss = ddp(inputs).mean()
    loss.backward()
    print(f"rank {dist.get_rank()}: step {step} done")
# --8<-- [end:main]
