# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# raises = "ValueError"
# ///
"""The order of the samples is decided twice: by the sampler and by the loader."""

# --8<-- [start:main]
import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

samples = TensorDataset(torch.arange(8))
sampler = DistributedSampler(samples, num_replicas=2, rank=0)
# --8<-- [start:new]
loader = DataLoader(samples, batch_size=2, shuffle=True, sampler=sampler)
# --8<-- [end:new]
# --8<-- [end:main]
