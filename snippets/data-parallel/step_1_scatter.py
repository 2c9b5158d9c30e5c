# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""The step by hand, 1: each GPU gets a chunk of the batch."""

# --8<-- [start:setup]
import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
gpus = [device, device]
if torch.accelerator.device_count() > 1:
    gpus = [torch.device(device.type, 0), torch.device(device.type, 1)]

torch.manual_seed(0)
arm = torch.randint(0, 2, (64,))
radius = torch.rand(64).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
# --8<-- [end:setup]

# --8<-- [start:scatter]
chunks = [chunk.to(gpu) for chunk, gpu in zip(points.chunk(len(gpus)), gpus, strict=True)]
for chunk in chunks:
    first = [round(value, 2) for value in chunk[0].tolist()]
    print("chunk:", tuple(chunk.shape), "first point:", first)
# --8<-- [end:scatter]
