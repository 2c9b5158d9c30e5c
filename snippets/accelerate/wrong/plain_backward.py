# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ///
"""loss.backward() with accumulation: nobody divides, and the gradient is a sum, not a mean."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available(), gradient_accumulation_steps=4)
torch.manual_seed(0)
inputs = torch.randn(32, 2)
targets = inputs.sum(dim=1, keepdim=True)
model = nn.Linear(2, 1)
nn.functional.mse_loss(model(inputs), targets).backward()
wanted = model.weight.grad.norm().item()  # of all 32 samples in one batch
model.zero_grad()

loader = DataLoader(TensorDataset(inputs, targets), batch_size=8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for inputs, targets in loader:
    with accelerator.accumulate(model):
        loss = nn.functional.mse_loss(model(inputs), targets)
        # --8<-- [start:new]
        loss.backward()
        # --8<-- [end:new]
        optimizer.step()

got = accelerator.unwrap_model(model).weight.grad.norm().item()
print(f"gradient of one large batch: {wanted:.4f}")
print(f"accumulated gradient       : {got:.4f}")
print(f"too large                  : {got / wanted:.2f} times")
# --8<-- [end:main]
