# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""Mixed precision with DataParallel: autocast inside forward, where each thread finds it."""

# --8<-- [start:model]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


class Mixed(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, inputs):
        # --8<-- [start:new]
        with torch.autocast(inputs.device.type, dtype=torch.bfloat16):
            # --8<-- [end:new]
            return self.model(inputs)


# --8<-- [end:model]


# --8<-- [start:step]
parallel = nn.DataParallel(Mixed(nn.Linear(2, 2)).to(device))
inputs, targets = torch.ones(8, 2, device=device), torch.zeros(8, 2, device=device)

logits = parallel(inputs)
loss = nn.functional.mse_loss(logits.float(), targets)
loss.backward()
print("logits  :", logits.dtype)
print("loss    :", loss.dtype)
print("gradient:", parallel.module.model.weight.grad.dtype)
# --8<-- [end:step]
