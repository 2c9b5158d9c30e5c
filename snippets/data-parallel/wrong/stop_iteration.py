# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "StopIteration"
# ///
"""next(self.parameters()) in forward: a replica has no parameters."""

# --8<-- [start:main]
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, inputs):
        # --8<-- [start:new]
        dtype = next(self.parameters()).dtype
        # --8<-- [end:new]
        return inputs.to(dtype) * self.scale


model = Model()
print("the model:", model(torch.ones(4, 2)).dtype)
replica = model._replicate_for_data_parallel()  # what each GPU works with
replica.scale = model.scale.clone()
print("a replica:", replica(torch.ones(2, 2)).dtype)
# --8<-- [end:main]
