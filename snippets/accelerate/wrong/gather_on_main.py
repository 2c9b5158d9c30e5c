# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 10
# ranks = 2
# devices = ["cpu"]
# raises = "RuntimeError"
# varies = [".rank[01].: RuntimeError: "]
# ///
"""A call that needs all processes, on the main process only: it waits until the time-out."""

# --8<-- [start:main]
from datetime import timedelta

import torch
from accelerate import Accelerator, InitProcessGroupKwargs

patience = InitProcessGroupKwargs(
    timeout=timedelta(seconds=2)
)  # the default is 30 minutes, 10 for NCCL
accelerator = Accelerator(cpu=not torch.accelerator.is_available(), kwargs_handlers=[patience])
loss = torch.ones(1, device=accelerator.device)
# --8<-- [start:new]
if accelerator.is_main_process:
    print("mean loss:", accelerator.gather(loss).mean())
# --8<-- [end:new]
accelerator.wait_for_everyone()
# --8<-- [end:main]
