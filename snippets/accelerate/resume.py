# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 10
# ranks = 2
# ///
"""Stop in the middle of an epoch and resume: the same batches follow, and the same weights."""

# --8<-- [start:setup]
import torch
from accelerate import Accelerator, DataLoaderConfiguration, skip_first_batches
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(
    cpu=not torch.accelerator.is_available(),
    # --8<-- [start:new]
    dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True, data_seed=0),
    # --8<-- [end:new]
)
torch.manual_seed(0)
numbers = torch.arange(48.0)
dataset = TensorDataset(torch.randn(48, 4), numbers)


def start():
    """A fresh model, optimizer, scheduler and loader, as a new run makes them."""
    accelerator.free_memory()
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 1), nn.Dropout(0.2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.9)
    # A generator of its own: to begin an epoch draws nothing from the one that dropout uses.
    loader = DataLoader(dataset, batch_size=4, shuffle=True, generator=torch.Generator())
    return accelerator.prepare(model, optimizer, scheduler, loader)


# --8<-- [end:setup]


# --8<-- [start:train]
def train(model, optimizer, scheduler, loader, epoch=0, first=0, stop=None):
    """Train from batch `first` of `epoch` on; save and return before batch `stop` of epoch 1."""
    seen = []
    while epoch < 3:
        # --8<-- [start:new]
        loader.set_epoch(epoch)
        rest = skip_first_batches(loader, first) if first else loader
        for batch, (inputs, sample) in enumerate(rest, start=first):
            if (epoch, batch) == (1, stop):
                accelerator.save_state("checkpoint")
                return seen
            # --8<-- [end:new]
            seen += sample.tolist()
            loss = (model(inputs) - inputs.sum(dim=1, keepdim=True)).square().mean()
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
        epoch, first = epoch + 1, 0
    return seen


# --8<-- [end:train]

# --8<-- [start:compare]
straight = start()
order = train(*straight)

before = train(*start(), stop=4)  # then the machine is gone
# --8<-- [start:new]
resumed = start()  # and a new run begins
accelerator.load_state("checkpoint")
# --8<-- [end:new]
after = train(*resumed, epoch=1, first=4)

accelerator.print(f"batches before and after: {len(before) // 4} + {len(after) // 4}")
accelerator.print(f"the same samples in the same order: {before + after == order}")
pairs = zip(straight[0].parameters(), resumed[0].parameters(), strict=True)
accelerator.print(f"bit for bit the same weights: {all(a.equal(b) for a, b in pairs)}")
accelerator.print(
    f"the same learning rate: {straight[2].get_last_lr() == resumed[2].get_last_lr()}"
)
accelerator.end_training()
# --8<-- [end:compare]
