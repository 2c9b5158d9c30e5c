# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ///
"""The same settings in Python: the plugins check them, without a GPU and without DeepSpeed."""

# --8<-- [start:main]
from accelerate.utils import DeepSpeedPlugin, FullyShardedDataParallelPlugin

fsdp = FullyShardedDataParallelPlugin(
    fsdp_version=2,
    reshard_after_forward=True,
    auto_wrap_policy="size_based_wrap",
    min_num_params=1_000_000,
    state_dict_type="SHARDED_STATE_DICT",
)
print("FSDP version :", fsdp.fsdp_version)
print("wraps by     :", fsdp.auto_wrap_policy.__name__)
print("checkpoints  :", fsdp.state_dict_type.name)

deepspeed = DeepSpeedPlugin(zero_stage=2, gradient_accumulation_steps=1, gradient_clipping=1.0)
print("ZeRO stage   :", deepspeed.deepspeed_config["zero_optimization"]["stage"])
print("clips at     :", deepspeed.deepspeed_config["gradient_clipping"])
print("batch size   :", deepspeed.deepspeed_config["train_micro_batch_size_per_gpu"])
# --8<-- [end:main]
