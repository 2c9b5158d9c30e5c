"""The claims about the wrong programs of Accelerate: how large the damage is, that each cure cures.

That a program shows its symptom is checked by its ``.out``. Here the smallest change that the
lesson recommends is made to the program's text, and the symptom must be gone.
"""

import pytest
import torch
from torch import nn

from tests.snippets.test_accelerate import fresh

__all__ = ["fresh"]

CPU = "cpu=not torch.accelerator.is_available()"


# Errors that name the mistake


def test_one_accelerator_with_all_settings_cures_second_accelerator(changed):
    printed = changed(
        "accelerate/wrong/second_accelerator.py",
        (f"Accelerator({CPU})", f'Accelerator({CPU}, mixed_precision="bf16")'),
        ('Accelerator(mixed_precision="bf16")', "Accelerator()"),
    )
    assert printed == "first : bf16\nsecond: bf16\n"


def test_unwrap_model_gives_the_method_of_the_model_back(changed):
    printed = changed(
        "accelerate/wrong/own_method.py",
        ("model.classify(inputs)", "labels = accelerator.unwrap_model(model).classify(inputs)"),
        then="accelerator.print(len(labels))\naccelerator.end_training()\n",
    )
    assert printed == "4\n"


def test_on_one_process_the_method_is_there(changed):
    assert changed("accelerate/wrong/own_method.py", then="print(len(inputs))\n", ranks=1) == "4\n"


def test_a_forward_pass_around_the_wrapper_averages_no_gradients(changed):
    printed = changed(
        "accelerate/wrong/not_assigned.py",
        ("accelerator.prepare(model, optimizer)", "ddp = accelerator.prepare(model)"),
    )  # model, not ddp, is called in the loop
    first, second = (line.split()[-1] for line in printed.splitlines())
    assert first != second


def test_unwrapping_before_saving_cures_module_keys(changed):
    printed = changed(
        "accelerate/wrong/module_keys.py",
        ("import torch\n", "import time\n\nimport torch\n"),
        (
            "accelerator.save(model.",
            "time.sleep(0.5 * accelerator.is_main_process)  # however slow the disk is\n"
            "accelerator.save(accelerator.unwrap_model(model).",
        ),
        then="print(*weights)\n",
    )
    assert printed == "weight bias\n" * 2


def test_a_file_with_the_prefix_can_be_mended(changed):
    printed = changed(
        "accelerate/wrong/module_keys.py",
        (
            "plain.load_state_dict(weights)\n",
            "from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present\n"
            'consume_prefix_in_state_dict_if_present(weights, "module.")\n'
            "print(plain.load_state_dict(weights))\n",
        ),
    )
    assert printed == "<All keys matched successfully>\n" * 2


def test_a_batch_that_can_be_divided_cures_odd_batch(changed):
    printed = changed(
        "accelerate/wrong/odd_batch.py",
        ("batch_size=63", "batch_size=64"),
        then="accelerator.print(len(next(iter(loader))[0]))\naccelerator.end_training()\n",
    )
    assert printed == "32\n"


def test_without_split_batches_any_batch_will_do(changed):
    printed = changed(
        "accelerate/wrong/odd_batch.py",
        ("split_batches=True", "split_batches=False"),
        then="accelerator.print(len(next(iter(loader))[0]))\naccelerator.end_training()\n",
    )
    assert printed == "63\n"


def test_an_accelerator_inside_the_function_cures_notebook_accelerator(changed):
    printed = changed(
        "accelerate/wrong/notebook_accelerator.py",
        ("# --8<-- [start:new]\naccelerator = Accelerator(cpu=True)\n# --8<-- [end:new]\n", ""),
        (
            '    accelerator.print("training")',
            "    accelerator = Accelerator(cpu=True)\n"
            '    accelerator.print("training on", accelerator.num_processes)\n'
            "    accelerator.end_training()",
        ),
        (
            "num_processes=2",
            'num_processes=2, rdzv_backend="c10d", rdzv_endpoint="localhost:0"',
        ),
    )
    assert printed.splitlines()[1:] == ["training on 2"]


def test_a_call_on_one_process_waits_until_the_time_out(ranks):
    first, second = ranks("accelerate/wrong/gather_on_main.py")
    assert "Timed out waiting 5000ms" in first["__exception__"]
    assert second["__exception__"] is None


def test_gathering_on_all_processes_cures_gather_on_main(changed):
    printed = changed(
        "accelerate/wrong/gather_on_main.py",
        (
            "if accelerator.is_main_process:\n",
            "mean = accelerator.gather(loss).mean()\nif accelerator.is_main_process:\n",
        ),
        ("accelerator.gather(loss).mean())", "mean.item())"),
        ("time.sleep(7)", "pass"),
        then="accelerator.end_training()\n",
    )
    assert printed == "mean loss: 1.0\n"


# The processes do not find each other


def test_cpu_true_cures_one_of_one(changed):
    printed = changed(
        "accelerate/wrong/one_of_one.py", ("= Accelerator()", "= Accelerator(cpu=True)")
    )
    assert "rank 0: Accelerate says 0 of 2" in printed
    assert "rank 1: Accelerate says 1 of 2\nrank 1: prints and saves: False" in printed


def test_the_accelerator_first_cures_state_before(changed):
    made = "accelerator = Accelerator(cpu=True)\n"
    printed = changed(
        "accelerate/wrong/state_before.py",
        (made, ""),
        ("if PartialState()", made + "if PartialState()"),
    )
    assert printed == "rank 0: prepares the data\nrank 0: one of 2\nrank 1: one of 2\n"


def test_a_tracker_that_asks_for_the_main_process_settles_the_state_too(changed):
    printed = changed(
        "accelerate/wrong/state_before.py",
        (
            "if PartialState().is_main_process:",
            "from accelerate.tracking import GeneralTracker, on_main_process\n"
            "class Tracker(GeneralTracker):\n"
            "    name, requires_logging_directory, tracker = 'mine', False, None\n"
            "    @on_main_process\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "if Tracker():",
        ),
    )
    assert printed.count("one of 1") == 2


def test_bf16_cures_fp16_on_cpu(changed):
    printed = changed(
        "accelerate/wrong/fp16_on_cpu.py",
        ('cpu=True, mixed_precision="fp16"', 'cpu=True, mixed_precision="bf16"'),
    )
    assert "computed : torch.bfloat16" in printed


# prepare was forgotten for something


def test_assigning_what_prepare_returns_keeps_the_weights_together(changed):
    printed = changed(
        "accelerate/wrong/not_assigned.py",
        ("\naccelerator.prepare(model,", "\nmodel, optimizer = accelerator.prepare(model,"),
    )
    first, second = (line.split()[-1] for line in printed.splitlines())
    assert first == second


def test_preparing_the_loader_cures_loader_left_out(changed):
    printed = changed(
        "accelerate/wrong/loader_left_out.py",
        (
            "model, optimizer = accelerator.prepare(model, optimizer)",
            "model, optimizer, loader = accelerator.prepare(model, optimizer, loader)",
        ),
    )
    assert printed.splitlines() == [
        "rank 0: 2 batches, samples [0, 1, 4, 5]",
        "rank 1: 2 batches, samples [2, 3, 6, 7]",
    ]


def test_a_plain_loader_cures_sampler_twice(changed):
    printed = changed(
        "accelerate/wrong/sampler_twice.py", ("batch_size=2, sampler=sampler", "batch_size=2")
    )
    assert printed == "samples seen: [0, 1, 2, 3, 4, 5, 6, 7]\n"


def test_preparing_the_optimizer_cures_optimizer_left_out(changed):
    printed = changed(
        "accelerate/wrong/optimizer_left_out.py",
        (
            "model, loader = accelerator.prepare(model, loader)",
            "model, loader, optimizer = accelerator.prepare(model, loader, optimizer)",
        ),
        then="print(accelerator.unwrap_model(model).weight.grad)\n",
    )
    assert printed == "batches: 4 - steps taken: 1\nNone\n"  # the next one begins anew


# Gradients of the wrong size


#: What two programs print of the step that they take, in each direction.
STEP = "print(*(before - accelerator.unwrap_model(model).weight)[0].tolist())\n"


def test_accumulate_cures_no_accumulate(changed):
    mistake = "    optimizer.zero_grad()\n    accelerator.backward(loss)\n    optimizer.step()\n"
    printed = changed(
        "accelerate/wrong/no_accumulate.py",
        ("inputs = torch.randn(32, 2)", "torch.manual_seed(0)\ninputs = torch.randn(32, 2)"),
        (
            mistake,
            "    with accelerator.accumulate(model):\n"
            "        accelerator.backward(loss)\n"
            "        optimizer.step()\n"
            "        optimizer.zero_grad()\n",
        ),
    )
    steps = [float(line.split()[-1]) for line in printed.splitlines()]
    assert steps[:3] == [0, 0, 0]
    assert steps[3] > 0.25


def test_accelerator_backward_cures_plain_backward(changed):
    printed = changed(
        "accelerate/wrong/plain_backward.py",
        ("        loss.backward()", "        accelerator.backward(loss)"),
    )
    assert "too large                  : 1.00 times" in printed


def test_without_division_the_step_is_four_times_too_long(changed):
    printed = changed(
        "accelerate/wrong/plain_backward.py",
        ("optimizer = torch", "before = model.weight.detach().clone()\noptimizer = torch"),
        then="wanted *= 0.1\n" + STEP + "print(wanted)\n",
    )
    step, wanted = printed.splitlines()[-2:]
    step = torch.tensor([float(word) for word in step.split()])
    assert step.norm().item() == pytest.approx(4 * float(wanted))


def test_clipping_each_batch_turns_the_step(changed):
    printed = changed(
        "accelerate/wrong/clip_each_batch.py",
        ("optimizer = torch", "before = model.weight.detach().clone()\noptimizer = torch"),
        then=STEP,
    )
    across, up = map(float, printed.splitlines()[-1].split())
    assert across / up == pytest.approx(2, abs=1e-3)  # the gradients are 3 and 1


def test_clipping_once_keeps_the_direction(changed):
    printed = changed(
        "accelerate/wrong/clip_each_batch.py",
        (
            "        accelerator.clip_grad_norm_(model.parameters(), max_norm=1.0)",
            "        if accelerator.sync_gradients:\n"
            "            accelerator.clip_grad_norm_(model.parameters(), max_norm=1.0)",
        ),
    )
    assert printed.endswith("their ratio is to be 3, and is 3.00\n")
    norm = torch.tensor([float(word) for word in printed.splitlines()[1].split()[1::2]]).norm()
    assert norm.item() == pytest.approx(1, abs=1e-3)


def test_a_prepared_schedule_of_ten_steps_is_over_in_five(ranks):
    for rank in ranks("accelerate/wrong/scheduler_too_fast.py", names=["rates"]):
        assert rank["rates"][5] == pytest.approx(0.1)
        assert rank["rates"][4] > 0.15


def test_leaving_the_scheduler_out_of_prepare_cures_scheduler_too_fast(changed):
    printed = changed(
        "accelerate/wrong/scheduler_too_fast.py",
        ("scheduler = accelerator.prepare(scheduler)\n", ""),
    )
    assert printed == "learning rates: 1.0 0.9 0.8 0.7 0.6 0.5 0.4 0.3 0.2 0.1\n"


def test_splitting_the_batches_cures_it_too(changed):
    printed = changed(
        "accelerate/wrong/scheduler_too_fast.py",
        ("import Accelerator\n", "import Accelerator, DataLoaderConfiguration\n"),
        (
            CPU,
            f"{CPU}, dataloader_config=DataLoaderConfiguration(split_batches=True)",
        ),
        ("torch.randn(160, 2)", "torch.randn(80, 2)"),
    )
    assert printed == "learning rates: 1.0 0.9 0.8 0.7 0.6 0.5 0.4 0.3 0.2 0.1\n"


def test_a_cosine_schedule_that_is_over_rises_again():
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
    optimizer.step()
    rates = []
    for _ in range(16):  # eight processes, two calls
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
    assert rates[7] == pytest.approx(0, abs=1e-6)
    assert rates[15] == pytest.approx(1)


# Numbers and files that are not right


def test_gather_for_metrics_cures_gather_repeated(changed):
    printed = changed(
        "accelerate/wrong/gather_repeated.py",
        ("accelerator.gather(batch)", "accelerator.gather_for_metrics(batch)"),
    )
    assert printed == "accuracy: 6 of 9 = 0.667\n"


def test_gathering_each_sample_cures_mean_of_means(changed):
    printed = changed(
        "accelerate/wrong/mean_of_means.py", ("batch.float().mean())", "batch.float())")
    )
    assert printed == "accuracy: 0.667, to be 0.667\n"


def test_prepare_before_load_state_cures_load_before_prepare(changed):
    load = 'accelerator.load_state("checkpoint")\n'
    prepare = "model = accelerator.prepare(model)\n"
    printed = changed("accelerate/wrong/load_before_prepare.py", (load + prepare, prepare + load))
    assert printed == "the weights that were saved: True\n"


def test_the_seed_gives_a_new_run_the_first_epoch_of_the_old_one(changed):
    printed = changed(
        "accelerate/wrong/resume_other_order.py",
        (
            "accelerator.end_training()",
            "orders = [torch.cat([batch for (batch,) in start()]).tolist() for _ in range(2)]\n"
            "accelerator.print(orders[0] == orders[1], len(accelerator._dataloaders))\n"
            "accelerator.end_training()",
        ),
    )
    assert printed.splitlines()[-1] == "True 1"  # and it knows of its own loader alone


def test_a_seedable_sampler_and_set_epoch_cure_resume_other_order(changed):
    printed = changed(
        "accelerate/wrong/resume_other_order.py",
        (
            "import Accelerator, skip_first_batches",
            "import Accelerator, DataLoaderConfiguration, skip_first_batches",
        ),
        (
            CPU,
            f"{CPU}, dataloader_config=DataLoaderConfiguration(\n"
            "    use_seedable_sampler=True, data_seed=0)",
        ),
        (
            'accelerator.load_state("checkpoint")',
            'accelerator.load_state("checkpoint")\nloader.set_epoch(1)',
        ),
    )
    assert printed == "epoch 1: 16 samples, 16 different ones of 16\n"


def test_accelerate_s_print_and_save_cure_print_everywhere(changed):
    printed = changed(
        "accelerate/wrong/print_everywhere.py",
        (
            'print(f"rank {accelerator.process_index}: loss {loss.item()}")\n'
            'torch.save(loss, "loss.pt")\n',
            'mean = accelerator.reduce(loss.to(accelerator.device), reduction="mean")\n'
            'accelerator.print(f"loss {mean.item()}")\n'
            'accelerator.save(mean, "loss.pt")\n',
        ),
        ('print(f"rank {accelerator.process_index}: wrote', 'accelerator.print(f"wrote'),
    )
    assert printed == "loss 1.0\nwrote loss.pt\n"
