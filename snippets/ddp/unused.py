# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""Parts of a model that a step leaves out: DDP has to be told."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class TwoHeads(nn.Module):
    """A common layer and two heads, of which a step uses one."""

    def __init__(self):
        super().__init__()
        self.common = nn.Linear(1, 1, bias=False)
        self.heads = nn.ModuleList(nn.Linear(1, 1, bias=False) for _ in range(2))

    def forward(self, inputs, head):
        return self.heads[head](self.common(inputs))


device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()

torch.manual_seed(0)
model = TwoHeads().to(device)
# --8<-- [start:new]
ddp = DistributedDataParallel(model, find_unused_parameters=True)
# --8<-- [end:new]

inputs = torch.ones(4, 1, device=device)
for chosen in ([0, 0], [0, 1]):  # the same head on both ranks, then one each
    ddp.zero_grad()
    ddp(inputs, chosen[rank]).mean().backward()
    found = [head.weight.grad for head in model.heads]
    shown = ", ".join("none" if grad is None else f"{grad.item():.4f}" for grad in found)
    print(f"rank {rank}: uses head {chosen[rank]}, gradients of the heads {shown}")

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
