# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# varies = ["GPUs          :"]
# ///
"""What wrapping does, and what it leaves alone."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = nn.Linear(2, 2).to(device)
inputs = torch.ones(8, 2, device=device)
parallel = nn.DataParallel(model)

print("GPUs          :", parallel.device_ids)
print("the same model:", parallel.module is model)
print("the same call :", torch.equal(parallel(inputs), model(inputs)))
# --8<-- [end:main]
