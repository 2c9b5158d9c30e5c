# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
# ///
"""What each way of training sends in a step, in multiples of the size of the weights."""

# --8<-- [start:main]
print("GPUs   DataParallel, in all   DDP, each   FSDP, each")
for gpus in (2, 4, 8, 64):
    data_parallel = 2 * (gpus - 1)
    ddp = 2 * (gpus - 1) / gpus
    fsdp = 3 * (gpus - 1) / gpus
    print(f"{gpus:4}   {data_parallel:20}   {ddp:9.2f}   {fsdp:10.2f}")
# --8<-- [end:main]
