# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# rtol = 0.02
# rtol_accelerator = 0.05
# ///
"""Where the gradients of a half-trained network lie, and how many of them fp16 turns into zero."""

# --8<-- [start:train]
import torch
from torch import nn

torch.manual_seed(0)
labels = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * labels
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1).double()
model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
model.double()  # so that every processor arrives at the same weights
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(100):
    loss = nn.functional.cross_entropy(model(points), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
# --8<-- [end:train]


# --8<-- [start:gradients]
device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
model = model.to(device, torch.float32)
points, labels = points.to(device, torch.float32), labels.to(device)


def gradients(scale, enabled):
    """All gradients of one backward pass, of activations and of weights, as one vector."""
    hidden, activations = points, []
    with torch.autocast(device.type, dtype=torch.float16, enabled=enabled):
        for layer in model:
            hidden = layer(hidden)
            hidden.retain_grad()
            activations.append(hidden)
        loss = nn.functional.cross_entropy(hidden, labels)
    model.zero_grad()
    (loss * scale).backward()
    return torch.cat([t.grad.float().flatten() for t in [*activations, *model.parameters()]])


exact = gradients(scale=1, enabled=False).abs()
real = exact > 0  # the rest are units that ReLU has switched off
smallest_normal = torch.finfo(torch.float16).smallest_normal
print(f"gradients that are not 0 in fp32    : {real.sum()}")
print(f"below the smallest normal of fp16   : {(exact[real] < smallest_normal).float().mean():.1%}")
for scale in (1, 1024, 65536):
    lost = gradients(scale, enabled=True)[real] == 0
    print(f"0 under autocast, loss times {scale:5}  : {lost.float().mean():.1%}")
# --8<-- [end:gradients]

# --8<-- [start:histogram]
powers = exact[real].log2().floor().clamp(min=-36)  # the first row gathers all that is smaller
for power, count in zip(*powers.int().unique(return_counts=True), strict=True):
    print(f"2^{power:<3}  {count:5}")
# --8<-- [end:histogram]
