# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""What prepare returns in place of a model, an optimizer, a loader and a scheduler."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available())

torch.manual_seed(accelerator.process_index)  # other weights on each process, to begin with
model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
loader = DataLoader(TensorDataset(torch.randn(512, 2)), batch_size=64)
print(f"rank {accelerator.process_index}: batches before prepare: {len(loader)}")
print(f"rank {accelerator.process_index}: a weight before prepare: {model.weight[0, 0]:.4f}")

# --8<-- [start:new]
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
# --8<-- [end:new]
print(f"rank {accelerator.process_index}: batches after prepare: {len(loader)}")
print(f"rank {accelerator.process_index}: a weight after prepare: {model.module.weight[0, 0]:.4f}")

(batch,) = next(iter(loader))
there = {model.module.weight.device.type, batch.device.type} == {accelerator.device.type}
accelerator.print(f"rank 0: model and batch are on its device: {there}")
for prepared in (model, optimizer, loader.batch_sampler, scheduler):
    accelerator.print(f"rank 0: {type(prepared).__name__}")
accelerator.end_training()
# --8<-- [end:main]
