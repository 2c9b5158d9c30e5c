# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ///
"""What GPU 0 holds when the backward pass begins, and what each of the others holds."""

# --8<-- [start:measure]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
gpus, batch, classes = 4, 512, 4000
model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, classes)).to(device)
optimizer = torch.optim.Adam(model.parameters())
cross_entropy = nn.functional.cross_entropy


def mib(tensors):
    """MiB of the storages behind the tensors, each counted once."""
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    return sum(sizes.values()) / 2**20


def saved(function, *arguments):
    """What `function` returns, and the MiB that it keeps for the backward pass, weights apart."""
    kept, weights = [], list(model.parameters())
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        result = function(*arguments)
    return result, mib(kept + weights) - mib(weights)


def chunk_of(batch):
    """What one GPU keeps for its chunk, the logits that it returns, and what the loss keeps."""
    logits, activations = saved(model, torch.ones(batch, 256, device=device))
    targets = torch.zeros(batch, dtype=torch.long, device=device)
    loss, by_loss = saved(cross_entropy, logits, targets)
    loss.backward()
    return activations, mib([logits]), by_loss


activations, chunk_logits, chunk_loss = chunk_of(batch // gpus)
_, gathered, loss = chunk_of(batch)
optimizer.step()
# --8<-- [end:measure]


# --8<-- [start:table]
moments = [state[m] for state in optimizer.state.values() for m in ("exp_avg", "exp_avg_sq")]
weights, gradients = mib(model.parameters()), mib([weight.grad for weight in model.parameters()])
rows = {  # GPU 0 and another one; the same with the loss inside the wrapped module
    "weights, or their copy": (weights, weights, weights, weights),
    "gradients": (gradients, 0, gradients, 0),
    "Adam's two averages": (mib(moments), 0, mib(moments), 0),
    "activations of its chunk": (activations,) * 4,
    "gathered logits": (gathered, 0, 0, 0),
    "kept by the loss": (loss, 0, chunk_loss, chunk_loss),
}
rows["total"] = [sum(column) for column in zip(*rows.values(), strict=True)]
print(f"{'MiB':24}  {'loss outside':>15}  {'loss inside':>15}")
print(f"{'':24}  {'GPU 0':>7} {'others':>7}  {'GPU 0':>7} {'others':>7}")
for row, (first, other, first_inside, other_inside) in rows.items():
    print(f"{row:24}  {first:7.2f} {other:7.2f}  {first_inside:7.2f} {other_inside:7.2f}")
# --8<-- [end:table]
