# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""The local rank is expected as an argument; torchrun gives it as an environment variable."""

# --8<-- [start:main]
import argparse
import os

parser = argparse.ArgumentParser()
# --8<-- [start:new]
parser.add_argument("--local_rank", type=int, default=0)
# --8<-- [end:new]
local_rank = parser.parse_args().local_rank
print(f"rank {os.environ['RANK']}: local_rank {local_rank}, LOCAL_RANK {os.environ['LOCAL_RANK']}")
# --8<-- [end:main]
