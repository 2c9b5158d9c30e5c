# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""Accumulation: which batches send gradients and step, and that it equals one large batch."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# --8<-- [start:new]
accelerator = Accelerator(cpu=not torch.accelerator.is_available(), gradient_accumulation_steps=4)
# --8<-- [end:new]
torch.manual_seed(0)
inputs = torch.randn(80, 2)
targets = inputs.sum(dim=1, keepdim=True)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=8)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for batch, (inputs, targets) in enumerate(loader):
    before = model.module.weight.detach().clone()
    # --8<-- [start:new]
    with accelerator.accumulate(model):
        # --8<-- [end:new]
        loss = nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    moved = not model.module.weight.equal(before)
    accelerator.print(f"batch {batch}: sync {accelerator.sync_gradients}, weights moved {moved}")
accelerator.end_training()
# --8<-- [end:main]
