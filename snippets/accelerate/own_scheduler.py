# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""A schedule of your own counting: the scheduler is not prepared, and steps when weights did."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available(), gradient_accumulation_steps=2)
torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 2)), batch_size=8)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
# --8<-- [start:new]
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
# --8<-- [end:new]

for (inputs,) in loader:
    with accelerator.accumulate(model):
        loss = model(inputs).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        # --8<-- [start:new]
        if accelerator.sync_gradients and not accelerator.optimizer_step_was_skipped:
            scheduler.step()
        # --8<-- [end:new]
    accelerator.print(f"sync {accelerator.sync_gradients}, rate {scheduler.get_last_lr()[0]}")
accelerator.end_training()
# --8<-- [end:main]
