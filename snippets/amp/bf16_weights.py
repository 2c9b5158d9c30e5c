# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# ///
"""Why the weights stay in fp32: a thousand small updates, lost in bf16, caught in fp32."""

# --8<-- [start:main]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
inputs = torch.ones(1, 1, device=device)

for dtype in (torch.bfloat16, torch.float32):
    # --8<-- [start:new]
    model = nn.Linear(1, 1, bias=False).to(device, dtype)
    # --8<-- [end:new]
    nn.init.constant_(model.weight, 2.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for _ in range(1000):
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = model(inputs).sum()  # its gradient is 1: each step takes away 0.001
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"weight in {str(dtype):14}: 2.000, after 1000 steps {model.weight.item():.3f}")

near = torch.tensor(2.0, dtype=torch.bfloat16).nextafter(torch.tensor(0.0, dtype=torch.bfloat16))
print(f"the bf16 number next below 2  : {near.item():.4f}")
# --8<-- [end:main]
