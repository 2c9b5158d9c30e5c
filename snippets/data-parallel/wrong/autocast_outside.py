# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# ///
"""Autocast around the call: the replicas' threads learn that it is on, but not the format."""

# --8<-- [start:main]
import threading

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def product():
    with FakeTensorMode():  # the rules of a GPU on any machine
        return (torch.rand(4, 4, device="cuda") @ torch.rand(4, 4, device="cuda")).dtype


def replica():
    torch.set_autocast_enabled("cuda", enabled)  # DataParallel hands this on
    print("replica's thread:", product())


# What torch.autocast("cuda", dtype=torch.bfloat16) does on a GPU:
# --8<-- [start:new]
torch.set_autocast_enabled("cuda", True)
torch.set_autocast_dtype("cuda", torch.bfloat16)
# --8<-- [end:new]
enabled = torch.is_autocast_enabled("cuda")
try:
    print("main thread     :", product())
    thread = threading.Thread(target=replica)
    thread.start()
    thread.join()
finally:
    torch.set_autocast_enabled("cuda", False)
# --8<-- [end:main]
