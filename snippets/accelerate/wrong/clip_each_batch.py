# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ///
"""Clipping after each micro-batch: what is clipped is a part of the gradient, again and again."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available(), gradient_accumulation_steps=2)
# The gradient of the first batch is 3, divided by 2 steps; that of the second is 1, divided too.
loader = DataLoader(TensorDataset(torch.tensor([[3.0, 0.0], [0.0, 1.0]])), batch_size=1)
model = nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for (inputs,) in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(inputs).sum())
        # --8<-- [start:new]
        accelerator.clip_grad_norm_(model.parameters(), max_norm=1.0)
        # --8<-- [end:new]
        optimizer.step()
    gradient = accelerator.unwrap_model(model).weight.grad[0]
    print(f"gradient: {gradient[0]:.3f} and {gradient[1]:.3f}")
print(f"their ratio is to be 3, and is {gradient[0] / gradient[1]:.2f}")
# --8<-- [end:main]
