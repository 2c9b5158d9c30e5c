# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""Which layer overflows first? A hook on each layer tells."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
layers = [nn.Linear(64, 64, bias=False) for _ in range(4)]
model = nn.Sequential(*layers).to(device)
for layer in layers:
    nn.init.constant_(layer.weight, 0.5)  # each layer makes its input 32 times larger


# --8<-- [start:new]
def report(name):
    def hook(layer, inputs, output):
        finite = output.isfinite().all().item()
        print(f"layer {name}: largest {output.abs().max().item():8.0f}, finite: {finite}")

    return hook


for name, layer in model.named_children():
    layer.register_forward_hook(report(name))
# --8<-- [end:new]
with torch.autocast(device.type, dtype=torch.float16):
    model(torch.ones(1, 64, device=device))
# --8<-- [end:main]
