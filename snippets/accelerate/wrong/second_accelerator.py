# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# raises = "ValueError"
# ///
"""A second Accelerator with other settings: the first one has decided."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
print("first :", accelerator.mixed_precision)
# --8<-- [start:new]
accelerator = Accelerator(mixed_precision="bf16")
# --8<-- [end:new]
print("second:", accelerator.mixed_precision)
# --8<-- [end:main]
