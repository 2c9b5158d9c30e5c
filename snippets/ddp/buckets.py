# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
# ///
"""When the gradients are sent: bucket by bucket, while the backward pass still runs."""

# --8<-- [start:main]
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

model = nn.Sequential(*[nn.Linear(64, 64, bias=False) for _ in range(4)]).to(device)
ddp = DistributedDataParallel(model, bucket_cap_mb=0.03)  # two layers a bucket; default 25
events = []


def watched(state, bucket):
    events.append(f"bucket {bucket.index()} is sent: {bucket.buffer().nbytes} bytes")
    return default_hooks.allreduce_hook(None, bucket)


ddp.register_comm_hook(None, watched)
for number, layer in enumerate(model):
    layer.weight.register_hook(lambda _, n=number: events.append(f"gradient of layer {n} is ready"))

for _ in range(2):  # DDP orders its buckets in the first step
    events.clear()
    ddp(torch.ones(8, 64, device=device)).sum().backward()
if rank == 0:
    print(*events, sep="\n")

del ddp
dist.destroy_process_group()
# --8<-- [end:main]
