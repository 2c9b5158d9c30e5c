# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""The step by hand, 3: each replica computes on its chunk, in a thread of its own."""

# --8<-- [start:threads]
from concurrent.futures import ThreadPoolExecutor

# --8<-- [end:threads]
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

# --8<-- [start:apply]
with ThreadPoolExecutor() as threads:
    outputs = list(threads.map(lambda replica, chunk: replica(chunk), replicas, chunks))
for output in outputs:
    print("output:", tuple(output.shape), "mean:", f"{output.mean().item():.3f}")
# --8<-- [end:apply]
