# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""A custom autograd function that computes in fp32, whatever autocast hands it."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


# --8<-- [start:new]
class Cube(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type=device.type, cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @torch.amp.custom_bwd(device_type=device.type)
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x**2


# --8<-- [end:new]


layer = nn.Linear(4, 1, bias=False).to(device)
nn.init.constant_(layer.weight, 12.5)
with torch.autocast(device.type, dtype=torch.float16):
    hidden = layer(torch.ones(1, 4, device=device))
    cube = Cube.apply(hidden)
cube.sum().backward()
print(f"into the function  : {hidden.dtype}, {hidden.item():.0f}")
print(f"out of it          : {cube.dtype}, {cube.item():.0f}")
print(f"the largest in fp16: {torch.finfo(torch.float16).max:.0f}")
print(f"gradient of weights: {layer.weight.grad.dtype}, {layer.weight.grad[0, 0].item():.0f}")
# --8<-- [end:main]
