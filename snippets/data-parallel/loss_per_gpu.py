# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""The loss inside the wrapped module: one number a sample, averaged outside."""

# --8<-- [start:model]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


class WithLoss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, inputs, targets):
        logits = self.model(inputs)
        # --8<-- [start:new]
        return nn.functional.cross_entropy(logits, targets, reduction="none")
        # --8<-- [end:new]


# --8<-- [end:model]


# --8<-- [start:step]
torch.manual_seed(0)
model = nn.Linear(2, 2).to(device)
parallel = nn.DataParallel(WithLoss(model))
inputs, targets = torch.randn(7, 2).to(device), torch.randint(0, 2, (7,)).to(device)

losses = parallel(inputs, targets)
# --8<-- [start:new]
loss = losses.mean()
# --8<-- [end:new]
loss.backward()
print("losses:", tuple(losses.shape))
print("loss  :", f"{loss.item():.3f}")
print("as one batch:", torch.allclose(loss, nn.functional.cross_entropy(model(inputs), targets)))
# --8<-- [end:step]
