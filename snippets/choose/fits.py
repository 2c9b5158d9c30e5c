# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# rtol_accelerator = 0.01
# ///
"""What a GPU must hold for training before the first activation: whether a model fits."""

# --8<-- [start:state]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

model = nn.Linear(1000, 1000).to(device)
parameters = sum(p.numel() for p in model.parameters())
for name in ("SGD", "Adam"):
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=1e-3)
    model(torch.ones(8, 1000, device=device)).sum().backward()
    optimizer.step()
    averages = [t for state in optimizer.state.values() for t in state.values() if t.dim()]
    held = [
        sum(t.nbytes for t in tensors) / parameters
        for tensors in (model.parameters(), [p.grad for p in model.parameters()], averages)
    ]
    print(
        f"{name:4}: weights {held[0]:.0f} + gradients {held[1]:.0f} + averages {held[2]:.0f}",
        end="",
    )
    print(f" = {sum(held):.0f} bytes for each parameter")
# --8<-- [end:state]

# --8<-- [start:sizes]
print("width  layers  parameters    one GPU  each of 8")
for width, layers in ((768, 12), (2048, 24), (4096, 32), (8192, 80)):
    with torch.device("meta"):  # shapes alone: nothing is allocated
        layer = nn.TransformerEncoderLayer(width, width // 64, 4 * width)
        model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    parameters = sum(p.numel() for p in model.parameters())
    gib = sum(held) * parameters / 2**30
    print(f"{width:5}  {layers:6}  {parameters / 1e9:8.2f} B  {gib:5.1f} GiB  {gib / 8:5.1f} GiB")
# --8<-- [end:sizes]
