# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 3
# ///
"""Every step takes as long as the slowest rank: how the rare slow step becomes the rule."""

# --8<-- [start:main]
import torch

torch.manual_seed(0)
print("GPUs   mean of one   mean of the slowest   work lost")
for gpus in (1, 2, 8, 64, 512):
    steps = 1 + 0.05 * torch.randn(2000, gpus)  # 5% up and down, by chance
    slowest = steps.max(dim=1).values.mean()
    lost = 1 - steps.mean() / slowest
    print(f"{gpus:4}   {steps.mean().item():11.4f}   {slowest.item():19.4f}   {lost.item():9.1%}")
# --8<-- [end:main]
