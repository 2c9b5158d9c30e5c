# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""A custom autograd function without custom_fwd: its backward runs outside autocast."""

# --8<-- [start:main]
import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


class Linear(torch.autograd.Function):
    # --8<-- [start:new]
    @staticmethod
    def forward(ctx, inputs, weight):
        # --8<-- [end:new]
        ctx.save_for_backward(weight)
        return inputs @ weight

    @staticmethod
    def backward(ctx, gradient):
        (weight,) = ctx.saved_tensors
        print("gradient:", gradient.dtype)
        print("weight:  ", weight.dtype)
        return gradient @ weight.T, None


inputs = torch.ones(8, 4, device=device, requires_grad=True)
with torch.amp.autocast(device.type, dtype=torch.float16):
    loss = Linear.apply(inputs, torch.ones(4, 4, device=device)).float().sum()
loss.backward()
# --8<-- [end:main]
