# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 10
# devices = ["cpu"]
# ///
"""debug_launcher: two processes on any CPU, for a test of your own training function."""

# --8<-- [start:main]
import os
from pathlib import Path

import torch
from accelerate import Accelerator, debug_launcher

os.environ["OMP_NUM_THREADS"] = "1"


def check():
    accelerator = Accelerator()
    rank = accelerator.process_index
    ranks = accelerator.gather(torch.tensor([rank]))
    Path(f"rank{rank}").write_text(f"{accelerator.device.type}, gathered {ranks.tolist()}")


debug_launcher(check, num_processes=2)
for file in sorted(Path().glob("rank?")):
    print(f"{file.name}: {file.read_text()}")
# --8<-- [end:main]
