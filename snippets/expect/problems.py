# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""The answers to the worked problems."""

# --8<-- [start:first]
gradients = 124e6 * 4
sent = 2 * (8 - 1) / 8 * gradients
print(f"sent by each of 8 GPUs: {sent / 1e6:.0f} MB")
print(f"by NVLink, 300 GB/s: {sent / 300e9 * 1000:.1f} ms")
print(f"by 10 Gbit/s: {sent / 1.25e9 * 1000:.0f} ms")
# --8<-- [end:first]

# --8<-- [start:second]
forward, backward = 0.05, 0.10
sending = 2 * (2 - 1) / 2 * gradients / 1.25e9
print("micro-batches   efficiency   with the FP16 hook")
for batches in (1, 2, 4, 8, 16, 32):
    compute = batches * (forward + backward)
    fp32 = compute / (compute + max(0, sending - backward))
    fp16 = compute / (compute + max(0, sending / 2 - backward))
    print(f"{batches:13}   {fp32:10.0%}   {fp16:18.0%}")
# --8<-- [end:second]

# --8<-- [start:third]
parameters = 7e9
state = 16 * parameters
print(f"state: {state / 1e9:.0f} GB")
for gpus in (1, 2, 4, 8):
    moved = 3 * (gpus - 1) / gpus * 4 * parameters
    print(f"{gpus} GPUs: {state / gpus / 1e9:3.0f} GB each, {moved / 1e9:4.1f} GB sent in a step")
# --8<-- [end:third]
