# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# varies = ["device +: ", "default dtype +: ", "GPU +: ", "use +: "]
# ///
"""What this machine supports, and what to use on it."""

# --8<-- [start:main]
import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
print(f"device       : {device.type}")
print(f"autocast     : {torch.amp.is_autocast_available(device.type)}")
print(f"default dtype: {torch.get_autocast_dtype(device.type)}")

# --8<-- [start:new]
if device.type == "cuda":
    major, minor = torch.cuda.get_device_capability()
    print(f"GPU          : {torch.cuda.get_device_name()}, compute capability {major}.{minor}")
    if torch.cuda.is_bf16_supported(including_emulation=False):
        use = "bf16, or fp16 with a scaler"
    elif major >= 7:
        use = "fp16 with a scaler"
    else:
        use = "fp32: no tensor cores, so fp16 saves memory and hardly time"
elif device.type == "cpu":
    use = "bf16 where the processor has instructions for it; time it first"
else:
    use = "fp16 with a scaler; time bf16 too"
# --8<-- [end:new]
print(f"use          : {use}")
# --8<-- [end:main]
