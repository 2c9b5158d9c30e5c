# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "DistNetworkError"
# varies = [".*failed to listen on any local network address"]
# ///
"""Two runs on one machine take the same port."""

# --8<-- [start:main]
import os
import socket

import torch.distributed as dist

other_run = socket.create_server(("localhost", 0))
port = other_run.getsockname()[1]
os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost"}
# --8<-- [start:new]
os.environ["MASTER_PORT"] = str(port)
# --8<-- [end:new]
dist.init_process_group()
# --8<-- [end:main]
