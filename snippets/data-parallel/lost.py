# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""What a replica writes down: what survives the step, and what is thrown away with the replica."""

# --8<-- [start:model]
import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))
        self.register_buffer("last", torch.zeros((), dtype=torch.long))

    def forward(self, inputs):
        self.calls += 1  # an attribute
        self.seen += len(inputs)  # a buffer, changed in place
        self.last = self.last + len(inputs)  # a buffer, replaced
        return inputs


# --8<-- [end:model]


# --8<-- [start:replicas]
def replicate(module, first):
    """A replica; the first one shares its buffers with `module`, the others have copies."""
    replica = module._replicate_for_data_parallel()
    if not first:
        for name, buffer in module.named_buffers():
            setattr(replica, name, buffer.clone())
    return replica


alone, model = Counting().to(device), Counting().to(device)
for _ in range(3):
    batch = torch.ones(8, 2, device=device)
    alone(batch)
    for index, chunk in enumerate(batch.chunk(2)):
        replicate(model, first=index == 0)(chunk)

print("            one model  two replicas")
print(f"attribute   {alone.calls:9}  {model.calls:12}")
print(f"in place    {alone.seen.item():9}  {model.seen.item():12}")
print(f"replaced    {alone.last.item():9}  {model.last.item():12}")
# --8<-- [end:replicas]
