# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# raises = "RuntimeError"
# ///
"""A checkpoint of a run in FP32, resumed with mixed precision: its scaler has no state."""

# --8<-- [start:main]
import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
# --8<-- [start:new]
scaler = torch.amp.GradScaler(device.type, enabled=False)  # the first run: FP32
# --8<-- [end:new]
checkpoint = {"scaler": scaler.state_dict()}
print("saved:", checkpoint)

scaler = torch.amp.GradScaler(device.type)  # the resumed run: FP16
scaler.load_state_dict(checkpoint["scaler"])
# --8<-- [end:main]
