# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""The number formats of training side by side: what their bits buy in range and in precision."""

# --8<-- [start:main]
import torch

formats = {
    "fp32": (8, 23, torch.float32),
    "tf32": (8, 10, None),  # a mode of the matrix units, not a dtype: nothing is stored in it
    "fp16": (5, 10, torch.float16),
    "bf16": (8, 7, torch.bfloat16),
}
print("format  sign  exponent  fraction     largest    normal  smallest  step at 1  finfo")
for name, (exponent, fraction, dtype) in formats.items():
    # --8<-- [start:new]
    bias = 2 ** (exponent - 1) - 1
    step = 2.0**-fraction
    largest = (2 - step) * 2.0**bias
    normal = 2.0 ** (1 - bias)
    smallest = normal * step
    # --8<-- [end:new]
    check = "no dtype"
    if dtype:
        info = torch.finfo(dtype)
        same = (info.max, info.smallest_normal, info.eps) == (largest, normal, step)
        check = "agrees" if same else "differs"
    print(
        f"{name:6}  {1:4}  {exponent:8}  {fraction:8}  {largest:10.5g}  {normal:8.2e}"
        f"  {smallest:8.2e}  {step:9.2e}  {check}"
    )
# --8<-- [end:main]
