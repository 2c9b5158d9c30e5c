# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""The mean of each GPU's mean loss is not the mean of the batch when the chunks differ."""

# --8<-- [start:main]
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 2)


def means(batch, gpus):
    """The batch's mean loss, and the mean of the means of the chunks."""
    inputs, targets = torch.randn(batch, 2), torch.randint(0, 2, (batch,))
    losses = nn.functional.cross_entropy(model(inputs), targets, reduction="none")
    return losses.mean(), torch.stack([chunk.mean() for chunk in losses.chunk(gpus)]).mean()


def gradient(loss):
    """The gradient of all weights as one vector."""
    gradients = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    return torch.cat([g.flatten() for g in gradients])


print("batch  GPUs  batch's mean  mean of means  gradient off by")
for batch, gpus in [(64, 4), (63, 2), (7, 2), (13, 4)]:
    exact, per_gpu = means(batch, gpus)
    right = gradient(exact)
    off = (gradient(per_gpu) - right).norm() / right.norm()
    print(f"{batch:5}  {gpus:4}  {exact.item():12.4f}  {per_gpu.item():13.4f}  {off.item():15.1%}")
# --8<-- [end:main]
