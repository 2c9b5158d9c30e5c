# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 10
# ranks = 2
# rtol = 0.2
# rtol_accelerator = 0.4
# ///
"""The complete program with Accelerate: the same file trains on a CPU, on a GPU and on many."""

# --8<-- [start:setup]
import torch
from accelerate import Accelerator, DataLoaderConfiguration
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# --8<-- [start:new]
accelerator = Accelerator(
    cpu=not torch.accelerator.is_available(),
    dataloader_config=DataLoaderConfiguration(split_batches=True),
)
device = accelerator.device
# --8<-- [end:new]
# --8<-- [end:setup]

# --8<-- [start:data]
torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
labels = arm
loader = DataLoader(TensorDataset(points, labels), batch_size=64, shuffle=True)
# --8<-- [end:data]

# --8<-- [start:model]
model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
# --8<-- [start:new]
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
# --8<-- [end:new]
# --8<-- [end:model]

# --8<-- [start:loop]
for epoch in range(31):
    total = torch.zeros((), device=device)
    for inputs, targets in loader:
        loss = nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        # --8<-- [start:new]
        accelerator.backward(loss)
        # --8<-- [end:new]
        optimizer.step()
        total += loss.detach()
    # --8<-- [start:new]
    total = accelerator.reduce(total, reduction="mean")  # over all processes
    if epoch % 5 == 0:
        accelerator.print(f"epoch {epoch:2}: loss {total.item() / len(loader):.3f}")
    # --8<-- [end:new]
# --8<-- [end:loop]

# --8<-- [start:finish]
# --8<-- [start:new]
model = accelerator.unwrap_model(model)
# --8<-- [end:new]
with torch.no_grad():
    accuracy = (model(points.to(device)).argmax(dim=1) == labels.to(device)).float().mean()
# --8<-- [start:new]
accelerator.print(f"accuracy: {accuracy.item():.2f}")
accelerator.save(model.state_dict(), "spirals.pt")
accelerator.end_training()
# --8<-- [end:new]
# --8<-- [end:finish]
