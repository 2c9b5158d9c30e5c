# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""Who prints: the main process, one process of each machine, or all in their order."""

# --8<-- [start:main]
import logging
import sys

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
logger = get_logger(__name__)

rank = accelerator.process_index
accelerator.print(f"rank {rank}: accelerator.print")
logger.info("logger.info")
logger.info("logger.info, of all in order", main_process_only=False, in_order=True)


@accelerator.on_main_process
def report():
    print(f"rank {rank}: a function for the main process")


report()
if accelerator.is_local_main_process:
    print(f"rank {rank}: the first process of this machine")
accelerator.end_training()
# --8<-- [end:main]
