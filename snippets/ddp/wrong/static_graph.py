# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "RuntimeError"
# ranks = 2
# ///
"""static_graph promises that each step uses the same parameters, and step 1 breaks the promise."""

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
        self.second_head = nn.Linear(4, 1)

    def forward(self, inputs, both):
        outputs = self.layer(inputs)
        return outputs + self.second_head(inputs) if both else outputs


# --8<-- [start:new]
ddp = DistributedDataParallel(Model().to(device), static_graph=True)
# --8<-- [end:new]
inputs = torch.ones(8, 4, device=device)
for step in range(3):
    loss = ddp(inputs, both=step != 1).mean()
    loss.backward()
    print(f"rank {dist.get_rank()}: step {step} done")
# --8<-- [end:main]
