# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ///
"""The optimizer was not prepared: accumulation cannot hold its step back."""

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
# --8<-- [start:new]
model, loader = accelerator.prepare(model, loader)
# --8<-- [end:new]

steps = 0
for inputs, targets in loader:
    before = accelerator.unwrap_model(model).weight.detach().clone()
    with accelerator.accumulate(model):
        loss = nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    steps += not accelerator.unwrap_model(model).weight.equal(before)
print("batches:", len(loader), "- steps taken:", steps)
# --8<-- [end:main]
