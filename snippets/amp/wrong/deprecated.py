# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# warns = "FutureWarning"
# ///
"""The old spelling, torch.cuda.amp: it still works, and warns at every use."""

# --8<-- [start:main]
import torch

available = torch.cuda.is_available()
# --8<-- [start:new]
scaler = torch.cuda.amp.GradScaler(enabled=available)
with torch.cuda.amp.autocast(enabled=available) as autocast:
    # --8<-- [end:new]
    print("the old scaler is the new one: ", isinstance(scaler, torch.amp.GradScaler))
    print("the old context is the new one:", isinstance(autocast, torch.amp.autocast))
# --8<-- [end:main]
