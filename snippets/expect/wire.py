# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 20
# ranks = 4
# devices = ["cpu"]
# ///
"""The bytes that really leave a process in one step, counted by the operating system (Linux)."""

# --8<-- [start:count]
import os
import socket
import struct
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()


def sent():
    """Bytes that all connections of this process have sent, as TCP counts them."""
    total = 0
    for file in Path("/proc/self/fd").iterdir():
        if not file.is_socket():
            continue
        connection = socket.socket(fileno=os.dup(int(file.name)))
        with connection:
            if connection.family != socket.AF_UNIX and connection.type == socket.SOCK_STREAM:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)
                total += struct.unpack_from("Q", info, 120)[0]  # tcpi_bytes_acked
    return total


def measured(action, *arguments):
    time.sleep(0.2)  # until all that was sent before is acknowledged
    before = sent()
    action(*arguments)
    dist.barrier()  # every rank has read what it was sent
    time.sleep(0.2)
    return (sent() - before) / size


# --8<-- [end:count]


# --8<-- [start:models]
def network():
    return nn.Sequential(*[nn.Linear(512, 512, bias=False) for _ in range(4)])


inputs = torch.ones(8, 512)
size = sum(weight.nbytes for weight in network().parameters())
flat, shares = torch.ones(size // 4), list(torch.ones(size // 4).chunk(ranks))

ddp = DistributedDataParallel(network())
compressed = DistributedDataParallel(network())
compressed.register_comm_hook(None, default_hooks.fp16_compress_hook)
sharded = network()
for layer in sharded:
    fully_shard(layer)
fully_shard(sharded)


def step(model):
    model(inputs).sum().backward()


def accumulate(ddp):
    with ddp.no_sync():
        step(ddp)


# --8<-- [end:models]

# --8<-- [start:table]
part = (ranks - 1) / ranks
rows = [
    ("all-reduce", 2 * part, dist.all_reduce, flat),
    ("reduce-scatter", part, dist.reduce_scatter, shares[0].clone(), shares),
    ("DDP", 2 * part, step, ddp),
    ("DDP, no_sync", 0, accumulate, ddp),
    ("DDP, FP16 hook", part, step, compressed),
    ("FSDP", 3 * part, step, sharded),
]
if rank == 0:
    print(f"{ranks} ranks, {size / 2**20:.0f} MiB of weights\n")
    print("                formula  measured")
for name, formula, action, *arguments in rows:
    found = measured(action, *arguments)
    if rank == 0:
        print(f"{name:14}    {formula:5.2f}     {found:5.2f}")

dist.barrier()  # who leaves closes connections that others may still count
del rows, ddp, compressed
dist.destroy_process_group()
# --8<-- [end:table]
