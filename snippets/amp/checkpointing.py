# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""Activation checkpointing under autocast: less is kept for backward, same gradients."""

# --8<-- [start:main]
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
blocks = [nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)) for _ in range(4)]
model = nn.Sequential(*blocks).to(device)
inputs = torch.randn(512, 64).to(device)
kept, gradients = {}, {}


def keep(tensor):
    kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
    return tensor


for checkpointed in (False, True):
    kept.clear()
    hidden = inputs
    with (
        torch.autocast(device.type, dtype=torch.float16),
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
    ):
        for block in model:
            if checkpointed:
                # --8<-- [start:new]
                hidden = checkpoint(block, hidden, use_reentrant=False)
                # --8<-- [end:new]
            else:
                hidden = block(hidden)
    gradients[checkpointed] = torch.autograd.grad(hidden.sum(), model.parameters())
    print(
        f"checkpointed: {checkpointed!s:5}, kept for backward {sum(kept.values()) / 2**20:.2f} MiB"
    )

same = all(a.equal(b) for a, b in zip(gradients[False], gradients[True], strict=True))
print(f"the gradients are the same: {same}")
# --8<-- [end:main]
