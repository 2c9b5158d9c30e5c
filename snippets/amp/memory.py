# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ///
"""Where the memory goes, and which part of it autocast makes smaller: what backward needs."""

# --8<-- [start:measure]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


def mib(tensors):
    """MiB of the storages behind the tensors, each counted once."""
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    return sum(sizes.values()) / 2**20


def measure(autocast):
    """What is held in memory during a training step: MiB, row by row."""
    model = nn.Sequential(
        nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 8)
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    weights = list(model.parameters())
    rows, seen = {}, []

    def keep(tensor):
        seen.append(tensor)
        return tensor

    for batch in (4096, 512, 8):
        seen.clear()
        inputs = torch.ones(batch, 64, device=device)
        with (
            torch.autocast(device.type, dtype=torch.bfloat16, enabled=autocast),
            torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        ):
            loss = model(inputs).sum()
        rows[f"for backward, batch {batch:4}"] = mib(seen + weights) - mib(weights)
    loss.backward()
    optimizer.step()
    moments = [state[m] for state in optimizer.state.values() for m in ("exp_avg", "exp_avg_sq")]
    rows["weights"] = mib(weights)
    rows["gradients"] = mib([weight.grad for weight in weights])
    rows["Adam's two averages"] = mib(moments)
    return rows


# --8<-- [end:measure]


# --8<-- [start:table]
fp32, mixed = measure(autocast=False), measure(autocast=True)
print(f"{'MiB':24}  {'fp32':>5}  autocast")
for row in fp32:
    print(f"{row:24}  {fp32[row]:5.2f}  {mixed[row]:8.2f}")
# --8<-- [end:table]
