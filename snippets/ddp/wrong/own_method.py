# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "AttributeError"
# ranks = 2
# ///
"""A method of the model, called on the wrapper."""

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


class Classifier(nn.Linear):
    def predict(self, inputs):
        return self(inputs).argmax(dim=1)


model = Classifier(4, 3).to(device)


ddp = DistributedDataParallel(model)
inputs = torch.ones(8, 4, device=device)
# --8<-- [start:new]
print(ddp.predict(inputs))
# --8<-- [end:new]
# --8<-- [end:main]
