# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 4
# ranks = 2
# ///
"""Training that survives a killed process: a checkpoint after each epoch, and a start from it."""

# --8<-- [start:setup]
import os
import signal

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()

model = nn.Linear(4, 1).to(device)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
# --8<-- [end:setup]

# --8<-- [start:load]
# --8<-- [start:new]
start = 0
if os.path.exists("elastic.pt"):
    checkpoint = torch.load("elastic.pt", map_location=device)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    start = checkpoint["epoch"] + 1
# --8<-- [end:new]
ddp = DistributedDataParallel(model)
if rank == 0:
    print(f"start number {os.environ.get('TORCHELASTIC_RESTART_COUNT', 0)}, at epoch {start}")
# --8<-- [end:load]

# --8<-- [start:train]
for epoch in range(start, 5):
    if os.environ.get("KILL_IN_EPOCH") == str(epoch) and rank == 1 and start == 0:
        os.kill(os.getpid(), signal.SIGKILL)  # an accident, in the first start only
    torch.manual_seed(100 * epoch + rank)  # the batch depends on epoch and rank alone
    inputs = torch.randn(32, 4).to(device)
    loss = nn.functional.mse_loss(ddp(inputs), inputs.sum(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    # --8<-- [start:new]
    if rank == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, "elastic.new")
        os.replace("elastic.new", "elastic.pt")  # in one piece, or not at all
    # --8<-- [end:new]
    if rank == 0:
        print(f"epoch {epoch}: weights {[round(w, 4) for w in model.weight[0].tolist()]}")

del ddp
dist.destroy_process_group()
# --8<-- [end:train]
