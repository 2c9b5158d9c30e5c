# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 3
# ///
"""What autocast makes of each operation: a CPU beside CUDA, whose rules show without a GPU."""

# --8<-- [start:operations]
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

operations = {  # x is fp32, h is fp16
    "linear(x, x)": lambda x, h: F.linear(x, x),
    "x @ x": lambda x, h: x @ x,
    "conv1d(x, x)": lambda x, h: F.conv1d(x.unsqueeze(0), x.unsqueeze(2)),
    "scaled_dot_product_attention(x, x, x)": lambda x, h: F.scaled_dot_product_attention(x, x, x),
    "relu(h)": lambda x, h: F.relu(h),
    "h * h": lambda x, h: h * h,
    "h.mean()": lambda x, h: h.mean(),
    "h + x": lambda x, h: h + x,
    "cat([h, x])": lambda x, h: torch.cat([h, x]),
    "h ** 2": lambda x, h: h**2,
    "h.exp()": lambda x, h: h.exp(),
    "h.log()": lambda x, h: h.log(),
    "h.sum()": lambda x, h: h.sum(),
    "softmax(h)": lambda x, h: F.softmax(h, dim=1),
    "layer_norm(h)": lambda x, h: F.layer_norm(h, (4,)),
    "cross_entropy(h, labels)": lambda x, h: F.cross_entropy(h, h.argmax(dim=1)),
    "mse_loss(h, h)": lambda x, h: F.mse_loss(h, h),
    "bce_with_logits(h, h)": lambda x, h: F.binary_cross_entropy_with_logits(h, h),
    "binary_cross_entropy(h, h)": lambda x, h: F.binary_cross_entropy(h, h),
}
# --8<-- [end:operations]


# --8<-- [start:table]
def results(device):
    """The dtype that each operation returns on `device`."""
    x = torch.rand(4, 4, device=device)
    found = {}
    for name, operation in operations.items():
        try:
            found[name] = str(operation(x, x.half()).dtype).removeprefix("torch.")
        except RuntimeError:
            found[name] = "error"
    return found


with torch.autocast("cpu", dtype=torch.float16):
    cpu = results("cpu")
with FakeTensorMode():  # tensors that have a device and a dtype, but no data: no GPU needed
    torch.set_autocast_enabled("cuda", True)  # torch.autocast("cuda") would ask for a real one
    cuda = results("cuda")
    torch.set_autocast_enabled("cuda", False)

print(f"{'operation':37}  {'CPU':7}  CUDA")
for name in operations:
    print(f"{name:37}  {cpu[name]:7}  {cuda[name]}")
# --8<-- [end:table]
