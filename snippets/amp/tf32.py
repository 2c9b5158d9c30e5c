# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# varies = ["(tf32|ieee): .*error "]
# ///
"""TF32: a switch for the fp32 matrix products of NVIDIA GPUs, beside autocast, not part of it."""

# --8<-- [start:main]
import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
left, right = torch.randn(256, 256), torch.randn(256, 256)
exact = left.double() @ right.double()
left, right = left.to(device), right.to(device)

print(f"at the start: {torch.backends.cuda.matmul.fp32_precision}")
for precision in ("tf32", "ieee"):
    # --8<-- [start:new]
    torch.backends.cuda.matmul.fp32_precision = precision
    # --8<-- [end:new]
    product = left @ right
    error = (product.cpu() - exact).abs().max() / exact.abs().max()
    now = torch.backends.cuda.matmul.fp32_precision
    print(f"{now}: result {product.dtype}, error {error.item():.0e}")
# --8<-- [end:main]
