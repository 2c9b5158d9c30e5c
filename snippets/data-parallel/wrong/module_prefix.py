# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""The wrapper was saved: each key begins with module., and the model knows none of them."""

# --8<-- [start:main]
import torch
from torch import nn

parallel = nn.DataParallel(nn.Linear(2, 2))
# --8<-- [start:new]
torch.save(parallel.state_dict(), "model.pt")
# --8<-- [end:new]

model = nn.Linear(2, 2)
model.load_state_dict(torch.load("model.pt", map_location="cpu"))
# --8<-- [end:main]
