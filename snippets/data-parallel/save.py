# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ///
"""Save the model, not the wrapper; and load what somebody saved the other way."""

# --8<-- [start:save]
import torch
from torch import nn

model = nn.Linear(2, 2)
parallel = nn.DataParallel(model)

print("the wrapper's keys:", list(parallel.state_dict()))
print("the model's keys  :", list(model.state_dict()))  # parallel.module is model
torch.save(model.state_dict(), "model.pt")
# --8<-- [end:save]

# --8<-- [start:load]
saved = parallel.state_dict()  # from somebody who saved the wrapper
nn.modules.utils.consume_prefix_in_state_dict_if_present(saved, "module.")
print("without the prefix:", list(saved))
print(nn.Linear(2, 2).load_state_dict(saved))
# --8<-- [end:load]
