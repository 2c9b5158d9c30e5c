# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ///
"""gradient_accumulation_steps without accumulate(): a step for each batch, a quarter as long."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available(), gradient_accumulation_steps=4)
inputs = torch.randn(32, 2)
loader = DataLoader(TensorDataset(inputs, inputs.sum(dim=1, keepdim=True)), batch_size=8)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for batch, (inputs, targets) in enumerate(loader):
    weight = accelerator.unwrap_model(model).weight
    before = weight.detach().clone()
    loss = nn.functional.mse_loss(model(inputs), targets)
    wanted = 0.1 * torch.autograd.grad(loss, weight, retain_graph=True)[0].norm()
    # --8<-- [start:new]
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    # --8<-- [end:new]
    print(f"batch {batch}: step taken / step wanted = {(weight - before).norm() / wanted:.2f}")
# --8<-- [end:main]
