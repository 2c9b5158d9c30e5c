# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""A counter that forward increments is incremented on a replica, and stays 0."""

# --8<-- [start:main]
import torch
from torch import nn


class Warmup(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, inputs):
        # --8<-- [start:new]
        self.step += 1
        # --8<-- [end:new]
        return inputs * min(1.0, self.step / 10)


model = Warmup()
for _ in range(20):
    replicas = [model._replicate_for_data_parallel() for _ in range(2)]
    chunks = torch.ones(8, 2).chunk(2)
    outputs = [replica(chunk) for replica, chunk in zip(replicas, chunks, strict=True)]
print("step  :", model.step)
print("factor:", f"{outputs[0][0, 0].item():.1f}")
# --8<-- [end:main]
