# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""The step by hand, 2: each GPU gets a copy of the model."""

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
gpus = [device, device]
if torch.accelerator.device_count() > 1:
    gpus = [torch.device(device.type, 0), torch.device(device.type, 1)]


# --8<-- [start:replicate]
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(gpus[0])


def replicate(module, gpu):
    """Copy `module` to `gpu`; what the copy's weights get as gradients, the originals get."""
    replica = module._replicate_for_data_parallel()
    for name, weight in module.named_parameters(recurse=False):
        setattr(replica, name, weight.to(gpu, copy=True))
    for name, child in module.named_children():
        setattr(replica, name, replicate(child, gpu))
    return replica


replicas = [replicate(model, gpu) for gpu in gpus]
weight, original = replicas[1][0].weight, model[0].weight
print("equal to the original  :", torch.equal(weight.to(device), original))
print("the original           :", type(original).__name__)
print("the copy               :", type(weight).__name__, "made by", type(weight.grad_fn).__name__)
print("parameters of a replica:", len(list(replicas[1].parameters())))
# --8<-- [end:replicate]
