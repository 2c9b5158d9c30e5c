# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""Stop in mid-training and resume: with the scaler's state it is as if nothing had stopped."""

# --8<-- [start:setup]
import io

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.manual_seed(0)
inputs = torch.randn(64, 4).to(device)
targets = inputs.sum(dim=1, keepdim=True)


def start():
    torch.manual_seed(1)
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    return model, optimizer, torch.amp.GradScaler(device.type, init_scale=1024.0, growth_interval=4)


def train(model, optimizer, scaler, steps):
    for _ in range(steps):
        with torch.autocast(device.type, dtype=torch.float16):
            loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


# --8<-- [end:setup]


# --8<-- [start:save]
model, optimizer, scaler = start()
train(model, optimizer, scaler, steps=3)
file = io.BytesIO()  # a file's name does as well
# --8<-- [start:new]
checkpoint = {
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
    "scaler": scaler.state_dict(),
}
torch.save(checkpoint, file)
# --8<-- [end:new]
# --8<-- [end:save]

# --8<-- [start:resume]
model, optimizer, scaler = start()  # in a new process, say
print(f"clean steps, new scaler  : {scaler.state_dict()['_growth_tracker']}")
file.seek(0)
# --8<-- [start:new]
saved = torch.load(file, map_location=device)
model.load_state_dict(saved["model"])
optimizer.load_state_dict(saved["optimizer"])
scaler.load_state_dict(saved["scaler"])
# --8<-- [end:new]
print(f"clean steps, loaded      : {scaler.state_dict()['_growth_tracker']}")
train(model, optimizer, scaler, steps=3)
# --8<-- [end:resume]

# --8<-- [start:compare]
straight_model, straight_optimizer, straight_scaler = start()
train(straight_model, straight_optimizer, straight_scaler, steps=6)
print(f"first weight, 3 + 3 steps: {model.weight[0, 0].item():.4f}")
print(f"first weight, 6 steps    : {straight_model.weight[0, 0].item():.4f}")
print(f"bit for bit the same     : {model.weight.equal(straight_model.weight)}")
print(f"scaler's state the same  : {scaler.state_dict() == straight_scaler.state_dict()}")
print(f"scale                    : {scaler.get_scale():.0f}")
# --8<-- [end:compare]
