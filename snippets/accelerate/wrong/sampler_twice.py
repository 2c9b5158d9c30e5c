# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""A DistributedSampler and prepare: the data is split twice, and half of it is never seen."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

accelerator = Accelerator(cpu=not torch.accelerator.is_available())
dataset = TensorDataset(torch.arange(8))
# --8<-- [start:new]
sampler = DistributedSampler(
    dataset, accelerator.num_processes, accelerator.process_index, shuffle=False
)
loader = DataLoader(dataset, batch_size=2, sampler=sampler)
# --8<-- [end:new]
loader = accelerator.prepare(loader)

seen = torch.cat([accelerator.gather(batch) for (batch,) in loader])
accelerator.print("samples seen:", sorted(seen.tolist()))
accelerator.end_training()
# --8<-- [end:main]
