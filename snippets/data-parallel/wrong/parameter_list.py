# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "AttributeError"
# warns = "UserWarning"
# ///
"""A ParameterList is empty on a replica."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
scales = nn.ParameterList([torch.ones(2), torch.ones(2)]).to(device)
# --8<-- [start:new]
replica = scales._replicate_for_data_parallel()  # what DataParallel does on each GPU
# --8<-- [end:new]
print("parameters:", len(list(scales.parameters())), "and", len(list(replica.parameters())))
replica[0]
# --8<-- [end:main]
