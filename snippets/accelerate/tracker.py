# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""A tracker of your own, in the standard library: one line of JSON for each step logged."""

# --8<-- [start:tracker]
import json
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.tracking import GeneralTracker


class JsonTracker(GeneralTracker):
    """Append what is logged to a file."""

    name = "json"
    requires_logging_directory = False

    def __init__(self, file):
        super().__init__()
        self.file = Path(file)

    @property
    def tracker(self):
        return self.file

    def write(self, record):
        with self.file.open("a") as file:
            print(json.dumps(record), file=file)

    def store_init_configuration(self, values):
        self.write({"config": values})

    def log(self, values, step=None, **kwargs):
        self.write({"step": step, **values})


# --8<-- [end:tracker]

# --8<-- [start:use]
accelerator = Accelerator(
    cpu=not torch.accelerator.is_available(), log_with=JsonTracker("spirals.jsonl")
)
accelerator.init_trackers("spirals", config={"learning rate": 0.01})

for step in range(3):
    loss = torch.tensor(1.0 + accelerator.process_index, device=accelerator.device) / 2**step
    mean = accelerator.reduce(loss, reduction="mean")  # of all processes, and on all of them
    accelerator.log({"loss": mean.item()}, step=step)

accelerator.end_training()
if accelerator.is_main_process:
    print(Path("spirals.jsonl").read_text(), end="")
# --8<-- [end:use]
