# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 15
# ranks = 2
# devices = ["cpu"]
# raises = "RuntimeError"
# varies = [".rank0.: RuntimeError: "]
# ///
"""A call that needs all processes, on the main process only: it waits until the time-out."""

# --8<-- [start:main]
import time
from datetime import timedelta

import torch
from accelerate import Accelerator, InitProcessGroupKwargs

# The default is 30 minutes, and 10 with NCCL.
patience = InitProcessGroupKwargs(timeout=timedelta(seconds=5))
accelerator = Accelerator(cpu=not torch.accelerator.is_available(), kwargs_handlers=[patience])
loss = torch.ones(1, device=accelerator.device)
# --8<-- [start:new]
if accelerator.is_main_process:
    print("mean loss:", accelerator.gather(loss).mean())
# --8<-- [end:new]
else:
    time.sleep(7)  # works on
# --8<-- [end:main]
