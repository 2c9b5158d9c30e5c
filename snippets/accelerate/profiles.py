# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.lesson]
# seconds = 5
# ///
"""A configuration file for each kind of hardware, and what Accelerate reads in it."""

# --8<-- [start:main]
from pathlib import Path

import yaml  # comes with Accelerate
from accelerate.commands.config.config_args import load_config_from_file

profiles = {
    "one_gpu": {"distributed_type": "NO", "num_processes": 1, "mixed_precision": "bf16"},
    "two_gpus": {"distributed_type": "MULTI_GPU", "num_processes": 2, "mixed_precision": "bf16"},
    "two_machines": {
        "distributed_type": "MULTI_GPU",
        "num_machines": 2,
        "num_processes": 2,  # of all machines together
        "main_process_port": 29507,  # free on the first machine
        "mixed_precision": "bf16",
    },
    "fsdp": {
        "distributed_type": "FSDP",
        "num_processes": 2,
        "mixed_precision": "bf16",
        "fsdp_config": {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": True,
            "fsdp_auto_wrap_policy": "SIZE_BASED_WRAP",
            "fsdp_min_num_params": 1000000,
            "fsdp_state_dict_type": "SHARDED_STATE_DICT",
        },
    },
    "deepspeed": {
        "distributed_type": "DEEPSPEED",
        "num_processes": 2,
        "mixed_precision": "bf16",
        "deepspeed_config": {
            "zero_stage": 2,
            "gradient_accumulation_steps": 1,
            "gradient_clipping": 1.0,
            "offload_optimizer_device": "none",
        },
    },
}

for name, profile in profiles.items():
    file = Path(f"{name}.yaml")
    file.write_text(yaml.safe_dump(profile, sort_keys=False))
    config = load_config_from_file(str(file))
    print(f"# {file}: {config.distributed_type.value}, {config.num_processes} processes")
    print(file.read_text(), end="")
# --8<-- [end:main]
