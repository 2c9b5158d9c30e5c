# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""Wrapping a model: every rank gets the weights of rank 0, and the mean of all gradients."""

# --8<-- [start:weights]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()

torch.manual_seed(rank)  # other weights on each rank
model = nn.Linear(1, 1, bias=False).to(device)
print(f"rank {rank}: weight, as created  {model.weight.item():7.4f}")
# --8<-- [start:new]
ddp = DistributedDataParallel(model)
# --8<-- [end:new]
print(f"rank {rank}: weight, wrapped     {model.weight.item():7.4f}")
# --8<-- [end:weights]

# --8<-- [start:gradients]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.full((4, 1), 1.0 + 2 * rank, device=device)  # 1 on rank 0, 3 on rank 1

own = torch.autograd.grad(model(inputs).mean(), model.weight)[0]  # past DDP: nothing is sent
print(f"rank {rank}: gradient of its own {own.item():7.4f}")
# --8<-- [start:new]
loss = ddp(inputs).mean()
loss.backward()
# --8<-- [end:new]
print(f"rank {rank}: gradient, averaged  {model.weight.grad.item():7.4f}")
optimizer.step()
print(f"rank {rank}: weight, after step  {model.weight.item():7.4f}")

del ddp
dist.destroy_process_group()
# --8<-- [end:gradients]
