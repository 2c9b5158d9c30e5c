# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""Clipping with accumulation: the whole gradient, once, when it is complete."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available(), gradient_accumulation_steps=2)
torch.manual_seed(0)
inputs = torch.randn(64, 2)
targets = 10 * inputs.sum(dim=1, keepdim=True)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=8)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for inputs, targets in loader:
    with accelerator.accumulate(model):
        before = nn.utils.parameters_to_vector(model.parameters()).detach()
        loss = nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        # --8<-- [start:new]
        if accelerator.sync_gradients:
            norm = accelerator.clip_grad_norm_(model.parameters(), max_norm=1.0)
            # --8<-- [end:new]
        optimizer.step()
        optimizer.zero_grad()
        step = (nn.utils.parameters_to_vector(model.parameters()) - before).norm()
    if accelerator.sync_gradients:
        accelerator.print(f"norm {norm:.2f}, length of the step {step:.3f}")
accelerator.end_training()
# --8<-- [end:main]
