# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""A model of scaling: how much of N GPUs' work is left when the gradients have to be sent."""

# --8<-- [start:model]
LINKS = {"NVLink": 300e9, "PCIe 4": 32e9, "100 Gbit/s": 12.5e9, "10 Gbit/s": 1.25e9}
LATENCY = 20e-6  # seconds for each message
WEIGHTS = 124e6 * 4  # bytes: GPT-2 small, gradients in FP32
FORWARD, BACKWARD = 0.05, 0.10  # seconds for the batch of one GPU
BUCKET = 25 * 2**20  # bytes


def step_time(gpus, bandwidth, forward=FORWARD, backward=BACKWARD):
    """Buckets are sent one after the other, each when its gradients are ready."""
    buckets = round(WEIGHTS / BUCKET)
    sending = 2 * (gpus - 1) * (WEIGHTS / buckets / gpus / bandwidth + LATENCY)
    end = 0.0
    for number in range(1, buckets + 1):
        ready = forward + backward * number / buckets
        end = max(end, ready) + (sending if gpus > 1 else 0)
    return end


# --8<-- [end:model]

# --8<-- [start:tables]
print("batch of 32 on each GPU: efficiency")
print("GPUs   " + "   ".join(LINKS))
for gpus in (1, 2, 4, 8, 16, 32, 64):
    row = [(FORWARD + BACKWARD) / step_time(gpus, link) for link in LINKS.values()]
    print(
        f"{gpus:4}   "
        + "   ".join(f"{e:{len(name)}.2f}" for name, e in zip(LINKS, row, strict=True))
    )

print("\nbatch of 256 in all: times as fast as one GPU")
print("GPUs   " + "   ".join(LINKS))
for gpus in (1, 2, 4, 8, 16, 32, 64):
    share = 8 / gpus  # of the work of a batch of 32
    row = [
        8 * (FORWARD + BACKWARD) / step_time(gpus, link, FORWARD * share, BACKWARD * share)
        for link in LINKS.values()
    ]
    print(
        f"{gpus:4}   "
        + "   ".join(f"{s:{len(name)}.1f}" for name, s in zip(LINKS, row, strict=True))
    )
# --8<-- [end:tables]
