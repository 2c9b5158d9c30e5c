# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""The loss is summed over the ranks and printed as if it were the mean."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()
loss = torch.tensor(0.5, device=device)
# --8<-- [start:new]
dist.all_reduce(loss)
# --8<-- [end:new]
if rank == 0:
    print(f"loss {loss.item()}")
# --8<-- [end:main]
