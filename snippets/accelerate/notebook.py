# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 10
# devices = ["cpu"]
# ///
"""Several processes from a notebook: everything happens inside one function."""

# --8<-- [start:main]
import os

import torch
from accelerate import Accelerator, notebook_launcher
from torch import nn

os.environ["OMP_NUM_THREADS"] = "1"  # torchrun sets this too; without it each process warns


# --8<-- [start:new]
def train(steps):
    accelerator = Accelerator(cpu=not torch.accelerator.is_available())
    # --8<-- [end:new]
    torch.manual_seed(accelerator.process_index)  # each process has samples of its own
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    inputs = torch.randn(64, 4, device=accelerator.device)
    for _ in range(steps):
        loss = (model(inputs) - inputs.sum(dim=1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
    # --8<-- [start:new]
    result = {"loss": loss.item(), "processes": accelerator.num_processes}
    accelerator.save(result, "result.pt")  # what the function returns would be lost
    # --8<-- [end:new]
    model, optimizer = accelerator.free_memory(model, optimizer)  # or ending may hang
    accelerator.end_training()


# --8<-- [start:new]
notebook_launcher(
    train, args=(20,), num_processes=2, rdzv_backend="c10d", rdzv_endpoint="localhost:0"
)
# --8<-- [end:new]
result = torch.load("result.pt")
print(f"{result['processes']} processes, loss {result['loss']:.4f}")
# --8<-- [end:main]
