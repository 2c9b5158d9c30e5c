# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "ValueError"
# ///
"""Started with python in place of torchrun: nobody has told the process its rank."""

# --8<-- [start:main]
# --8<-- [start:new]
import torch.distributed as dist

dist.init_process_group()
# --8<-- [end:new]
# --8<-- [end:main]
