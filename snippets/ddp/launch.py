# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ranks = 2
# ///
"""What torchrun tells each process, and the first sum over all of them."""

# --8<-- [start:main]
import os

import torch
import torch.distributed as dist

names = ["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"]
told = " ".join(f"{name}={os.environ[name]}" for name in names)

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()
number = torch.tensor(rank + 1, device=device)
dist.all_reduce(number)
print(f"rank {rank}: {told}")
print(f"rank {rank}: one of {dist.get_world_size()} on {device.type}, the sum is {number.item()}")
dist.destroy_process_group()
# --8<-- [end:main]
