# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 3
# varies = ["machine +: ", "fp32 +: ", "fp16 +: ", "bf16 +: "]
# ///
"""Timing a training step: warm up, wait for the device, then read the clock, take the median."""

# --8<-- [start:main]
import statistics
import time

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
size = 128 if device.type == "cpu" else 4096  # a GPU needs large matrices to be busy
model = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size)).to(device)
inputs = torch.randn(size, size, device=device)
print(f"machine: {device.type}")

for name, dtype in [("fp32", torch.float32), ("fp16", torch.float16), ("bf16", torch.bfloat16)]:
    seconds = []
    for _ in range(15):
        # --8<-- [start:new]
        if device.type != "cpu":
            torch.accelerator.synchronize()
        start = time.perf_counter()
        # --8<-- [end:new]
        with torch.autocast(device.type, dtype=dtype, enabled=name != "fp32"):
            loss = model(inputs).sum()
        model.zero_grad()
        loss.backward()
        # --8<-- [start:new]
        if device.type != "cpu":
            torch.accelerator.synchronize()
        seconds.append(time.perf_counter() - start)
        # --8<-- [end:new]
    median = statistics.median(seconds[5:])  # the first five warm up
    print(f"{name:7}: {1000 * median:.2f} ms a step")
# --8<-- [end:main]
