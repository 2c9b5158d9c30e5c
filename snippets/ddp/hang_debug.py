# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""With debugging on, the ranks compare what they are about to do before they do it."""

# --8<-- [start:main]
import torch
import torch.distributed as dist

# --8<-- [start:new]
dist.set_debug_level(dist.DebugLevel.DETAIL)  # as TORCH_DISTRIBUTED_DEBUG=DETAIL does
# --8<-- [end:new]
dist.init_process_group("gloo")
rank = dist.get_rank()
loss, right = torch.tensor([0.5]), torch.tensor([40.0, 64.0])
try:
    for numbers in (loss, right) if rank == 0 else (right, loss):
        dist.all_reduce(numbers)
except RuntimeError as error:
    said = " ".join(str(error).split())
    print(f"rank {rank}: {said[: said.index('.')]}; {said[said.index('differ in') :]}")
# --8<-- [end:main]
