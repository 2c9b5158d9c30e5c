# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# raises = "ValueError"
# ///
"""split_batches with a batch that the processes cannot share evenly."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator, DataLoaderConfiguration
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(
    cpu=not torch.accelerator.is_available(),
    dataloader_config=DataLoaderConfiguration(split_batches=True),
)
accelerator.wait_for_everyone()  # all have joined
# --8<-- [start:new]
loader = DataLoader(TensorDataset(torch.randn(512, 2)), batch_size=63)
# --8<-- [end:new]
loader = accelerator.prepare(loader)
# --8<-- [end:main]
