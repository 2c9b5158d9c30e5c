# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""Gradients of four micro-batches, sent once."""

# --8<-- [start:main]
import contextlib
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()

torch.manual_seed(0)
ddp = DistributedDataParallel(nn.Linear(4, 1).to(device))


def counting(state, bucket):
    global sent
    sent += 1
    return default_hooks.allreduce_hook(None, bucket)


ddp.register_comm_hook(None, counting)  # called for each bucket of gradients that is sent

torch.manual_seed(1 + rank)
inputs = torch.randn(4, 8, 4, device=device)  # four micro-batches of 8
targets = inputs.sum(dim=2, keepdim=True)
for quiet in (False, True):
    sent = 0
    for micro in range(4):
        # --8<-- [start:new]
        with ddp.no_sync() if quiet and micro < 3 else contextlib.nullcontext():
            loss = nn.functional.mse_loss(ddp(inputs[micro]), targets[micro]) / 4
            loss.backward()
        # --8<-- [end:new]
    norm = ddp.module.weight.grad.norm().item()
    if rank == 0:
        print(f"no_sync {quiet!s:5}: {sent} sent, gradient norm {norm:.4f}")
    ddp.zero_grad()

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
