# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""An fp32 island: the part of a forward pass that 16 bits cannot hold runs without autocast."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
layer = nn.Linear(4, 1, bias=False).to(device)
nn.init.constant_(layer.weight, 100.0)
inputs = torch.ones(1, 4, device=device)

with torch.autocast(device.type, dtype=torch.float16):
    hidden = layer(inputs)
    energy = hidden * hidden
    print(f"hidden              : {hidden.dtype}, {hidden.item():.0f}")
    print(f"hidden * hidden     : {energy.dtype}, {energy.item():.0f}")
    # --8<-- [start:new]
    with torch.autocast(device.type, enabled=False):
        hidden = hidden.float()  # autocast no longer casts, so cast what comes in
        energy = hidden * hidden
        # --8<-- [end:new]
        print(f"on the island       : {energy.dtype}, {energy.item():.0f}")
        print(f"a layer there       : {layer(inputs).dtype}")
    print(f"a layer behind it   : {layer(inputs).dtype}")
# --8<-- [end:main]
