# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""BatchNorm normalizes each chunk by itself and remembers the first GPU's alone."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
batch = torch.arange(8.0, device=device).unsqueeze(1)
alone = nn.BatchNorm1d(1, momentum=1.0).to(device)
first = nn.BatchNorm1d(1, momentum=1.0).to(device)
second = first._replicate_for_data_parallel()
second.running_mean, second.running_var = torch.zeros(1).to(device), torch.ones(1).to(device)
second.weight, second.bias = first.weight.clone(), first.bias.clone()

whole = alone(batch)
top, bottom = batch.chunk(2)
chunks = torch.cat([first(top), second(bottom)])
print("output, one GPU  :", [round(value, 2) for value in whole.flatten().tolist()])
print("output, two GPUs :", [round(value, 2) for value in chunks.flatten().tolist()])
print("remembered mean  :", alone.running_mean.item(), "and", first.running_mean.item())
# --8<-- [end:main]
