# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ranks = 2
# ///
"""Logging from rank 0; the others speak up only when something is wrong."""

# --8<-- [start:main]
import logging
import os
import sys

import torch
import torch.distributed as dist

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()
# --8<-- [start:new]
logging.basicConfig(
    stream=sys.stdout,
    format=f"rank {rank}: %(levelname)s %(message)s",
    level=logging.INFO if rank == 0 else logging.WARNING,
)
# --8<-- [end:new]

unreadable = torch.tensor(rank, device=device)  # rank 1 has met a bad sample
if unreadable:
    logging.warning("a sample could not be read")
dist.all_reduce(unreadable)  # all ranks call it, whoever prints
logging.info("epoch 1: samples that could not be read: %d", unreadable)
dist.destroy_process_group()
# --8<-- [end:main]
