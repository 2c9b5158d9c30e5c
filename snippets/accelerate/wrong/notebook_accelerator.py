# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# devices = ["cpu"]
# raises = "ValueError"
# ///
"""An Accelerator in the notebook, outside of the function that is launched."""

# --8<-- [start:main]
from accelerate import Accelerator, notebook_launcher

# --8<-- [start:new]
accelerator = Accelerator(cpu=True)
# --8<-- [end:new]


def train():
    accelerator.print("training")


notebook_launcher(train, num_processes=2)
# --8<-- [end:main]
