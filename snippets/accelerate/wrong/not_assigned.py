# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""What prepare returns is thrown away: no gradient is averaged, and the processes drift apart."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
torch.manual_seed(0)
inputs = torch.randn(64, 2)
loader = DataLoader(TensorDataset(inputs, inputs.sum(dim=1, keepdim=True)), batch_size=8)
model = nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = accelerator.prepare(loader)
# --8<-- [start:new]
accelerator.prepare(model, optimizer)
# --8<-- [end:new]

for inputs, targets in loader:
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()

weight = accelerator.unwrap_model(model).weight[0, 0].item()
print(f"rank {accelerator.process_index}: first weight {weight:.4f}")
accelerator.end_training()
# --8<-- [end:main]
