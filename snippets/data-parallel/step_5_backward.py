# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""The step by hand, 5: the backward pass goes the same way back, and adds up."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
gpus = [device, device]
if torch.accelerator.device_count() > 1:
    gpus = [torch.device(device.type, 0), torch.device(device.type, 1)]

torch.manual_seed(0)
arm = torch.randint(0, 2, (64,))
radius = torch.rand(64).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(gpus[0])

chunks = [chunk.to(gpu) for chunk, gpu in zip(points.chunk(len(gpus)), gpus, strict=True)]


def replicate(module, gpu):
    """Copy `module` to `gpu`; what the copy's weights get as gradients, the originals get."""
    replica = module._replicate_for_data_parallel()
    for name, weight in module.named_parameters(recurse=False):
        setattr(replica, name, weight.to(gpu, copy=True))
    for name, child in module.named_children():
        setattr(replica, name, replicate(child, gpu))
    return replica


replicas = [replicate(model, gpu) for gpu in gpus]
with ThreadPoolExecutor() as threads:
    outputs = list(threads.map(lambda replica, chunk: replica(chunk), replicas, chunks))
logits = torch.cat([output.to(gpus[0]) for output in outputs])
labels = arm.to(gpus[0])
loss = nn.functional.cross_entropy(logits, labels)

# --8<-- [start:backward]
shares = [replica[4].bias for replica in replicas]
for share in shares:
    share.retain_grad()
loss.backward()
for share in shares:
    print("share of a replica:", [round(value, 4) for value in share.grad.tolist()])
print("gradient          :", [round(value, 4) for value in model[4].bias.grad.tolist()])

gradients = [weight.grad for weight in model.parameters()]
alone = nn.functional.cross_entropy(model(points.to(gpus[0])), labels)
expected = torch.autograd.grad(alone, list(model.parameters()))
print("all as in one model:", all(map(torch.allclose, gradients, expected)))
# --8<-- [end:backward]
