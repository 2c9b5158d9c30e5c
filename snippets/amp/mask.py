# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""An attention mask in fp16: the lowest number of the dtype at hand, not -1e9."""

# --8<-- [start:main]
import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
scores = torch.zeros(2, 4, dtype=torch.float16, device=device)
hidden = torch.tensor([[False, False, True, True], [True, True, True, True]], device=device)

# --8<-- [start:new]
lowest = torch.finfo(scores.dtype).min
masked = scores.masked_fill(hidden, lowest)
# --8<-- [end:new]
attention = masked.softmax(dim=1)
print(f"the lowest number of fp16      : {lowest:.0f}")
print(f"attention, two of four hidden  : {attention[0].tolist()}")
print(f"all hidden                     : {attention[1].tolist()}")
infinite = scores.masked_fill(hidden, -torch.inf).softmax(dim=1)
print(f"all hidden, with -inf instead  : {infinite[1].tolist()}")
# --8<-- [end:main]
