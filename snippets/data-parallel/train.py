# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# rtol = 0.2
# rtol_accelerator = 0.4
# ///
"""The complete program: the single-device one, its model called through DataParallel."""

# --8<-- [start:data]
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
labels = arm
dataset = TensorDataset(points, labels)
loader = DataLoader(dataset, batch_size=64, shuffle=True)
# --8<-- [end:data]

# --8<-- [start:model]
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
# --8<-- [start:new]
parallel = nn.DataParallel(model)
# --8<-- [end:new]
# --8<-- [end:model]

# --8<-- [start:loop]
for epoch in range(31):
    total = torch.zeros((), device=device)
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        # --8<-- [start:new]
        loss = nn.functional.cross_entropy(parallel(inputs), targets)
        # --8<-- [end:new]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    if epoch % 5 == 0:
        print(f"epoch {epoch:2}: loss {total.item() / len(loader):.3f}")

with torch.no_grad():
    accuracy = (model(points.to(device)).argmax(dim=1) == labels.to(device)).float().mean()
print(f"accuracy: {accuracy.item():.2f}")
# --8<-- [start:new]
torch.save(model.state_dict(), "spirals.pt")
# --8<-- [end:new]
# --8<-- [end:loop]
