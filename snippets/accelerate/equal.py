# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 10
# ranks = 2
# varies = ["largest difference of a weight: "]
# ///
"""The plain loop on one process and Accelerate on several: the same weights, up to rounding."""

# --8<-- [start:main]
import torch
from accelerate import Accelerator, DataLoaderConfiguration
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(
    cpu=not torch.accelerator.is_available(),
    dataloader_config=DataLoaderConfiguration(split_batches=True),
)
torch.manual_seed(0)
arm = torch.randint(0, 2, (512,))
radius = torch.rand(512).sqrt()
angle = 3 * torch.pi * radius + torch.pi * arm
dataset = TensorDataset(torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), arm)


def start():
    """The same model, optimizer, loader and order of the samples, each time."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 2)).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    order = torch.Generator().manual_seed(2)
    return model, optimizer, DataLoader(dataset, batch_size=64, shuffle=True, generator=order)


def train(model, optimizer, loader, backward):
    for _ in range(3):
        for inputs, targets in loader:
            loss = nn.functional.cross_entropy(model(inputs.double()), targets)
            optimizer.zero_grad()
            backward(loss)
            optimizer.step()
    return nn.utils.parameters_to_vector(model.parameters()).detach().cpu()


begin = nn.utils.parameters_to_vector(start()[0].parameters()).detach()
plain = train(*start(), backward=torch.Tensor.backward)
accelerated = train(*accelerator.prepare(*start()), backward=accelerator.backward)

accelerator.print(f"largest move of a weight: {(plain - begin).abs().max():.3f}")
accelerator.print(f"largest difference of a weight: {(plain - accelerated).abs().max():.1e}")
same = torch.allclose(plain, accelerated, rtol=0, atol=1e-12)
accelerator.print(f"the same weights: {same}")
accelerator.end_training()
# --8<-- [end:main]
