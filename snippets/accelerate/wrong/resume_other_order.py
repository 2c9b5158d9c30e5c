# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""Resuming in mid-epoch with the default sampler: another order, so some samples come twice."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator, skip_first_batches
from torch.utils.data import DataLoader, TensorDataset

# --8<-- [start:new]
accelerator = Accelerator(cpu=not torch.accelerator.is_available())
# --8<-- [end:new]
dataset = TensorDataset(torch.arange(16))


def start():
    accelerator.free_memory()
    torch.manual_seed(0)
    return accelerator.prepare(DataLoader(dataset, batch_size=2, shuffle=True))


loader = start()
for _ in loader:  # epoch 0
    pass
seen = []
for batch, (samples,) in enumerate(loader):  # epoch 1
    if batch == 2:
        accelerator.save_state("checkpoint")
        break
    seen += accelerator.gather(samples).tolist()

loader = start()  # a new run
accelerator.load_state("checkpoint")
# --8<-- [start:new]
for (samples,) in skip_first_batches(loader, 2):
    # --8<-- [end:new]
    seen += accelerator.gather(samples).tolist()
accelerator.print(f"epoch 1: {len(seen)} samples, {len(set(seen))} different ones of 16")
accelerator.end_training()
# --8<-- [end:main]
