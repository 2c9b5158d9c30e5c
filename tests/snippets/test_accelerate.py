"""The claims of the lesson on Accelerate: each test would fail were its claim false.

Programs of two processes run on two ranks, and a `before` or `after` of this module looks at what
they do. What takes one process is tried here, in a state of its own.
"""

import importlib.util
import os
import shlex
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import yaml
from accelerate import Accelerator, debug_launcher, notebook_launcher, skip_first_batches
from accelerate.commands import launch
from accelerate.commands.config import config_args, default
from accelerate.state import AcceleratorState, GradientState, PartialState
from accelerate.utils import FullyShardedDataParallelPlugin, set_seed
from accelerate.utils.launch import prepare_multi_gpu_env, prepare_simple_launcher_cmd_env
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from tests.snippets import compare, launches
from tests.snippets.conftest import ROOT
from tools.pages import load_all as load_pages
from tools.snippets import load, load_all

LESSON = [s for s in load_all(ROOT) if s.path.startswith("accelerate/")]


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """For each test a folder and a state of Accelerate of its own, and no launcher's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "ACCELERATE_USE_CPU"):
        monkeypatch.delenv(name, raising=False)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    AcceleratorState._reset_state(True)
    GradientState._reset_state()


def cpu() -> Accelerator:
    """An Accelerator of one process on the CPU."""
    return Accelerator(cpu=True)


def equal(one: dict, other: dict) -> bool:
    """True when two state dicts have the same names and bit for bit the same tensors."""
    return one.keys() == other.keys() and all(one[name].equal(other[name]) for name in one)


# The loop, on one process and on two


def test_one_process_trains_exactly_as_the_plain_loop(program, ranks, device):
    plain = program("ddp/single.py")
    (accelerated,) = ranks("accelerate/train.py", names=["model"], count=1)
    assert accelerated["__stdout__"] == plain["__stdout__"]
    if device == "cpu":
        assert equal(accelerated["model"], plain["model"].state_dict())


CALLS = []


def note_calls():
    """Note in CALLS for each call of the model whether gradients are on."""
    forward = nn.Sequential.forward
    nn.Sequential.forward = lambda self, inputs: (
        CALLS.append(torch.is_grad_enabled()),
        forward(self, inputs),
    )[1]


def calls(namespace):
    return CALLS


def test_evaluation_makes_no_graph(ranks):
    for rank in ranks("accelerate/train.py", before=note_calls, after=calls):
        assert rank["__after__"] == [True] * 8 * 31 + [False]


def test_both_processes_end_with_the_same_weights_and_the_file_is_a_plain_model_s(ranks, tmp_path):
    first, second = ranks("accelerate/train.py", names=["model", "total"], folder=tmp_path)
    assert equal(first["model"], second["model"])
    assert first["total"] == second["total"]
    assert second["__stdout__"] == ""
    weights = torch.load(tmp_path / "spirals.pt", map_location="cpu")
    assert equal(weights, first["model"])
    model = nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
    )
    model.load_state_dict(weights)


def test_accelerate_takes_the_steps_of_the_plain_loop_up_to_rounding(ranks):
    first, _ = ranks("accelerate/equal.py", names=["begin", "plain", "accelerated"])
    assert (first["plain"] - first["begin"]).abs().max() > 0.05
    assert (first["plain"] - first["accelerated"]).abs().max() < 1e-14


def test_accelerate_on_one_process_takes_the_steps_of_the_plain_loop_bit_for_bit(ranks, device):
    (only,) = ranks("accelerate/equal.py", names=["plain", "accelerated"], count=1)
    assert only["plain"].equal(only["accelerated"]) or device != "cpu"


def test_in_fp32_the_difference_is_larger_and_still_rounding(changed):
    printed = changed(
        "accelerate/equal.py",
        ("nn.Linear(64, 2)).double()", "nn.Linear(64, 2))"),
        ("model(inputs.double())", "model(inputs)"),
    )
    difference = float(printed.split("largest difference of a weight: ")[1].split()[0])
    assert 1e-10 < difference < 1e-5


def keep_the_group():
    """Leave the process group as it is, for what the test does after the program."""
    Accelerator.end_training = lambda self: None


def two_epochs(namespace):
    """The batch sizes, and the samples of two epochs, one after the other without set_epoch."""
    loader = namespace["loader"]
    samples = [[tuple(p.tolist()) for inputs, _ in loader for p in inputs] for _ in range(2)]
    return batch_sizes(namespace), samples


def batch_sizes(namespace):
    """Samples of a batch of all processes, of one of this process, and its batches in an epoch."""
    loader = namespace["loader"]
    return loader.total_batch_size, len(next(iter(loader))[0]), len(loader)


def test_every_sample_is_seen_once_an_epoch_and_the_next_epoch_has_another_order(ranks):
    one, two = ranks("accelerate/train.py", before=keep_the_group, after=two_epochs)
    (sizes, first), (other_sizes, second) = one["__after__"], two["__after__"]
    assert sizes == other_sizes == (64, 32, 8)  # split: 64 of all processes together
    for epoch in range(2):
        assert len(set(first[epoch]) | set(second[epoch])) == 512
        assert len(first[epoch]) == len(second[epoch]) == 256
    assert first[0] != first[1]


def group_is_there(namespace):
    return dist.is_initialized()


def test_end_training_leaves_no_process_group(ranks):
    for rank in ranks("accelerate/processes.py", after=group_is_there):
        assert rank["__after__"] is False


def test_each_program_takes_leave_of_the_other_processes():
    ending = (
        "accelerate/accumulate.py",
        "accelerate/clipping.py",
        "accelerate/equal.py",
        "accelerate/log.py",
        "accelerate/metrics.py",
        "accelerate/own_scheduler.py",
        "accelerate/precision.py",
        "accelerate/prepare.py",
        "accelerate/processes.py",
        "accelerate/resume.py",
        "accelerate/save.py",
        "accelerate/scheduler.py",
        "accelerate/tracker.py",
        "accelerate/train.py",
        "accelerate/wrong/fp16_on_cpu.py",
        "accelerate/wrong/gather_repeated.py",
        "accelerate/wrong/loader_left_out.py",
        "accelerate/wrong/mean_of_means.py",
        "accelerate/wrong/module_keys.py",
        "accelerate/wrong/not_assigned.py",
        "accelerate/wrong/print_everywhere.py",
        "accelerate/wrong/resume_other_order.py",
        "accelerate/wrong/sampler_twice.py",
        "accelerate/wrong/scheduler_too_fast.py",
    )
    for path in ending:
        assert "\naccelerator.end_training()" in load(path, ROOT).source, path
    several = {s.path for s in LESSON if s.lesson["ranks"] > 1 and not s.wrong}
    assert several <= set(ending)


# The Accelerator and prepare


def test_each_process_finds_its_own_number(ranks):
    first, second = ranks("accelerate/processes.py", names=["rank"])
    assert (first["rank"], second["rank"]) == (0, 1)


def test_without_a_launcher_it_is_the_only_process(ranks):
    (only,) = ranks("accelerate/processes.py", count=1)
    assert "one of 1 processes" in only["__stdout__"]
    assert "saves: True" in only["__stdout__"]


def test_prepare_sends_the_weights_of_rank_0_to_all(ranks):
    first, second = ranks("accelerate/prepare.py", names=["model"])
    assert equal(first["model"], second["model"])


def test_on_one_process_prepare_returns_the_model_itself():
    model = nn.Linear(2, 2)
    assert cpu().prepare(model) is model


def test_by_default_each_process_takes_a_whole_batch(ranks):
    for rank in ranks("accelerate/prepare.py", before=keep_the_group, after=batch_sizes):
        assert rank["__after__"] == (128, 64, 4)


def test_a_prepared_optimizer_does_nothing_while_gradients_accumulate():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = nn.Linear(2, 1)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=1.0))
    before = model.weight.detach().clone()
    with accelerator.accumulate(model):
        accelerator.backward(model(torch.ones(1, 2)).sum())
        optimizer.step()
        optimizer.zero_grad()
    assert model.weight.equal(before)
    assert model.weight.grad is not None


def test_one_process_or_several_a_prepared_loader_repeats_samples_to_come_out_even(ranks):
    first, second = ranks("accelerate/metrics.py", names=["gathered", "metric"])
    for rank in (first, second):
        assert len(rank["gathered"]) == 12
        assert sorted(rank["metric"].tolist()) == list(range(9))
        assert rank["metric"].mean() - rank["gathered"].mean() == pytest.approx(0.75)


# Launching


def launched(*words):
    """What `accelerate launch` makes of its arguments: its namespace, settings filled in."""
    args = launch.launch_command_parser().parse_args(list(words))
    return launch._validate_launch_command(args)[0]


TWO_GPUS = {"distributed_type": "MULTI_GPU", "num_processes": 2}


def configuration(**settings):
    """Write a configuration file and return its name."""
    Path("my.yaml").write_text(yaml.safe_dump(settings))
    return "my.yaml"


@pytest.mark.parametrize(
    "words",
    [
        ("--cpu", "--num_processes", "2"),
        ("--config_file", "MULTI_CPU"),
    ],
)
def test_accelerate_launch_starts_one_process_on_a_cpu_whatever_number_it_is_given(words):
    if words[1] == "MULTI_CPU":
        file = configuration(distributed_type="MULTI_CPU", num_processes=2, use_cpu=True)
        words = ("--config_file", file)
    args = launched(*words, "train.py")
    assert args.num_processes == 2
    assert not (args.multi_gpu or args.use_fsdp or args.use_deepspeed or args.tpu)
    command, environment = prepare_simple_launcher_cmd_env(args)
    assert command == [sys.executable, "train.py"]
    assert not {"RANK", "LOCAL_RANK", "WORLD_SIZE"} & environment.keys()


# Whatever else this machine runs may hold the usual port, which Accelerate warns of.
FREE_PORT = ("--main_process_port", "0")


@pytest.mark.parametrize(
    "words", ["--multi_gpu --num_processes 2", f"--config_file {ROOT}/accelerate/two_gpus.yaml"]
)
def test_multi_gpu_calls_what_torchrun_calls(words, monkeypatch):
    calls = []
    monkeypatch.setattr("torch.distributed.run.run", calls.append)
    launch.launch_command(launched(*words.split(), *FREE_PORT, "train.py"))
    (call,) = calls
    assert (call.nproc_per_node, call.training_script) == ("2", "train.py")


def test_one_gpu_file_starts_python_and_sets_the_precision():
    args = launched("--config_file", f"{ROOT}/accelerate/one_gpu.yaml", "train.py")
    command, environment = prepare_simple_launcher_cmd_env(args)
    assert command == [sys.executable, "train.py"]
    assert environment["ACCELERATE_MIXED_PRECISION"] == "bf16"


def use_the_cpu():
    os.environ["ACCELERATE_USE_CPU"] = "true"


def test_the_variable_makes_an_unchanged_program_find_the_others(ranks):
    one, two = ranks("accelerate/wrong/one_of_one.py", before=use_the_cpu)
    assert "says 0 of 2" in one["__stdout__"]
    assert "says 1 of 2" in two["__stdout__"]
    assert "saves: False" in two["__stdout__"]


def use_fsdp():
    os.environ["ACCELERATE_USE_FSDP"] = "true"


def test_on_a_cpu_fsdp_is_plain_ddp(ranks, device):
    if device == "cpu":
        first, _ = ranks("accelerate/prepare.py", before=use_fsdp)
        assert "DistributedDataParallel" in first["__stdout__"]


def test_config_default_asks_nothing_and_writes_what_it_finds():
    default.write_basic_config(save_location="my.yaml")
    config = config_args.load_config_from_file("my.yaml")
    assert config.num_processes == max(1, torch.cuda.device_count())
    assert Path(config_args.default_config_file).parts[-3:-1] == ("huggingface", "accelerate")


def test_without_a_file_launch_reads_the_one_of_config_default(monkeypatch):
    file = configuration(**TWO_GPUS)
    for module in (launch, config_args):
        monkeypatch.setattr(module, "default_config_file", file)
    assert launched("train.py").num_processes == 2


def printed_lines() -> list[str]:
    """The commands of the lesson's page."""
    fences = load_pages()["en"]["accelerate"].fences
    return [line for f in fences if f.lang == "bash" for line in f.body.splitlines()]


def test_accelerate_launch_trains_on_two_processes_as_the_page_prints_it():
    (line,) = [line for line in printed_lines() if line.startswith("accelerate launch --multi_gpu")]
    train = load("accelerate/train.py", ROOT)
    [(out, _)], _ = launches.as_printed([line], [train.file], CUDA_VISIBLE_DEVICES="")
    assert not compare.differences(train.out_path().read_text("utf-8"), out, rtol=0.01), out


# Precision, accumulation, clipping, schedules


def test_autocast_is_on_in_the_model_alone_and_its_output_is_fp32(ranks):
    first, _ = ranks("accelerate/precision.py", names=["inner", "logits"])
    assert first["inner"] == [torch.bfloat16]
    assert first["logits"].dtype == torch.float32


SENT = []


def count_buckets():
    """Count the buckets that DDP sends, in SENT."""
    make = DistributedDataParallel.__init__

    def send(sent, bucket):
        sent.append(bucket.index())
        mean = bucket.buffer().div_(dist.get_world_size())
        return dist.all_reduce(mean, async_op=True).get_future().then(lambda f: f.value()[0])

    def make_and_count(self, *arguments, **options):
        make(self, *arguments, **options)
        self.register_comm_hook(SENT, send)

    DistributedDataParallel.__init__ = make_and_count


def buckets(namespace):
    """How many buckets were sent, and whether the last step's gradients are gone."""
    return len(SENT), all(p.grad is None for p in namespace["model"].parameters())


def test_nothing_is_sent_while_gradients_accumulate(ranks):
    for rank in ranks("accelerate/accumulate.py", before=count_buckets, after=buckets):
        assert rank["__after__"] == (2, True)  # of five batches: the fourth, and the last


def test_the_last_batch_of_an_epoch_alone_counts_a_quarter_of_its_gradient():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    inputs = torch.randn(5, 2)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    loader = DataLoader(TensorDataset(inputs), batch_size=1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for (batch,) in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).sum())
            optimizer.step()
            gradient = model.weight.grad.clone()
            optimizer.zero_grad()
    assert torch.allclose(gradient, inputs[4:] / 4)


def test_accumulate_takes_two_models():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    first, second = accelerator.prepare(nn.Linear(2, 1), nn.Linear(2, 1))
    with accelerator.accumulate(first, second):
        assert not accelerator.sync_gradients


def test_a_clipped_step_is_as_long_as_the_clip_allows(ranks):
    first, _ = ranks("accelerate/clipping.py", names=["norm", "step"])
    assert first["norm"] > 1
    assert first["step"].item() == pytest.approx(0.5, rel=1e-4)


def by_plain_steps(samples, batch, rates):
    """The weight that plain steps of `batch` samples lead to, from the seed of the program."""
    torch.manual_seed(0)
    batches = torch.randn(samples, 2).split(batch)
    model = nn.Linear(2, 1)
    for inputs, rate in zip(batches, rates, strict=True):
        gradients = torch.autograd.grad(model(inputs).square().mean(), model.parameters())
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter -= rate * gradient
    return model.weight.detach()


def test_with_split_batches_a_prepared_schedule_decays_once_a_step(ranks):
    expected = [1 - step / 10 for step in range(10)]
    weight = by_plain_steps(80, 8, expected)
    for rank in ranks("accelerate/scheduler.py", names=["rates", "inputs", "model"]):
        assert rank["rates"] == pytest.approx(expected)
        assert len(rank["inputs"]) == 4  # half of a batch
        assert torch.allclose(rank["model"]["module.weight"], weight, rtol=1e-4)


def test_a_schedule_of_ones_own_decays_once_a_step(ranks):
    weight = by_plain_steps(64, 32, [1.0, 0.5])  # 2 processes, 2 batches of 8 a step
    for rank in ranks("accelerate/own_scheduler.py", names=["scheduler", "model"]):
        assert rank["scheduler"]["last_epoch"] == 2
        assert torch.allclose(rank["model"]["module.weight"], weight, rtol=1e-4)


# Saving and resuming


def test_accelerator_save_writes_on_the_main_process_alone(ranks):
    first, second = ranks("accelerate/save.py", before=count_saves, after=saves)
    assert (first["__after__"], second["__after__"]) == (1, 0)


SAVES = []


def count_saves():
    save = torch.save
    torch.save = lambda *arguments, **options: (SAVES.append(1), save(*arguments, **options))


def saves(namespace):
    return len(SAVES)


def test_save_model_writes_safetensors_that_a_plain_model_loads():
    from safetensors.torch import load_file

    accelerator = cpu()
    model = accelerator.prepare(nn.Linear(2, 1))
    accelerator.save_model(model, "folder")
    nn.Linear(2, 1).load_state_dict(load_file("folder/model.safetensors"))


@pytest.mark.parametrize(
    ("change", "order"),
    [
        (("use_seedable_sampler=True, data_seed=0", ""), False),
        (("        loader.set_epoch(epoch)\n", ""), False),
        (("skip_first_batches(loader, first) if first else loader", "loader"), False),
        ((", generator=torch.Generator()", ""), True),
        (('accelerator.load_state("checkpoint")\n', ""), True),
    ],
    ids=["seedable sampler", "set_epoch", "skip_first_batches", "generator", "load_state"],
)
def test_each_line_of_resuming_is_needed(changed, change, order):
    printed = changed("accelerate/resume.py", change)
    assert f"in the same order: {order}" in printed
    assert "bit for bit the same weights: False" in printed


CLEARED = []


def note_gradients():
    """Note in CLEARED, ahead of each backward pass, whether no gradient is left of the last one."""
    backward, prepare = Accelerator.backward, Accelerator.prepare
    models = []

    def preparing(self, *things):
        models.append(things[0])
        return prepare(self, *things)

    def passing(self, loss):
        CLEARED.append(all(p.grad is None for p in models[-1].parameters()))
        backward(self, loss)

    Accelerator.prepare, Accelerator.backward = preparing, passing


def data_and_gradients(namespace):
    return namespace["dataset"].tensors[0], CLEARED


def test_resuming_trains_on_the_same_data_everywhere_and_on_one_batch_at_a_time(ranks):
    one, two = ranks("accelerate/resume.py", before=note_gradients, after=data_and_gradients)
    (data, cleared), (other, others) = one["__after__"], two["__after__"]
    torch.manual_seed(0)  # as the program does on each process
    assert data.equal(other)
    assert data.cpu().equal(torch.randn(48, 4))
    assert cleared == others == [True] * 6 * 6  # 6 batches an epoch: 3 epochs, and again 3


def test_resuming_equals_not_stopping_on_one_process_too(ranks):
    (only,) = ranks(
        "accelerate/resume.py", names=["before", "after", "order"], after=rates, count=1
    )
    assert only["__stdout__"].count("True") == 3
    assert only["before"] + only["after"] == only["order"]
    assert only["__after__"] == pytest.approx([0.1 * 0.9**12] * 2)  # 36 steps, 3 at each rate


def rates(namespace):
    return [namespace[run][2].get_last_lr()[0] for run in ("straight", "resumed")]


def test_what_is_registered_is_in_the_checkpoint():
    accelerator = cpu()
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.register_for_checkpointing(scheduler)
    optimizer.step()
    scheduler.step()
    accelerator.save_state("checkpoint")
    optimizer.step()
    scheduler.step()
    accelerator.load_state("checkpoint")
    assert scheduler.last_epoch == 1


def test_skipping_begins_where_it_is_told():
    loader = cpu().prepare(DataLoader(TensorDataset(torch.arange(4)), batch_size=1))
    assert [batch.item() for (batch,) in skip_first_batches(loader, 2)] == [2, 3]


# Logs and trackers


def all_first_of_their_machine():
    os.environ["LOCAL_RANK"] = "0"


def test_accelerator_print_prints_once_on_each_machine(ranks, device):
    if device != "cpu":
        pytest.skip("two processes of one GPU")
    for rank in ranks("accelerate/log.py", before=all_first_of_their_machine):
        assert "accelerator.print" in rank["__stdout__"]
        assert "the first process of this machine" in rank["__stdout__"]


def test_a_function_for_the_main_process_does_nothing_on_the_others(ranks):
    first, second = ranks("accelerate/log.py")
    assert "main process" in first["__stdout__"]
    assert second["__stdout__"].splitlines() == ["[RANK 1] logger.info, of all in order"]


def test_a_tracker_whose_package_is_not_there_warns_and_logs_nothing():
    if importlib.util.find_spec("wandb"):
        pytest.skip("wandb is installed")
    with pytest.warns(UserWarning, match="no supported trackers are currently installed"):
        accelerator = Accelerator(cpu=True, log_with="wandb")
    accelerator.init_trackers("project")
    assert accelerator.trackers == []


def own_tracker(namespace):
    """What Accelerate gives to one who asks for what is behind the tracker."""
    return str(namespace["accelerator"].get_tracker("json", unwrap=True))


def test_only_the_main_process_writes_what_is_logged(ranks):
    first, second = ranks("accelerate/tracker.py", names=["mean"], after=own_tracker)
    assert first["__after__"] == "spirals.jsonl"
    assert first["mean"] == second["mean"] == 0.375
    assert len(first["__stdout__"].splitlines()) == 4  # one writer


# Notebooks


def test_notebook_launcher_trains_in_two_processes(changed):
    printed = changed("accelerate/notebook.py", then="print(result['processes'] == 2)\n")
    assert printed.endswith("True\n")


def test_what_notebook_launcher_starts_leaves_no_wrapper_and_no_group(changed):
    """The wrapper is gone before the group that it sends through, and the group at the end."""
    look = """
import gc

end = Accelerator.end_training


def ending(accelerator):
    kinds = {type(thing).__name__ for thing in gc.get_objects()}
    assert "AcceleratedOptimizer" not in kinds and "DistributedDataParallel" not in kinds
    end(accelerator)


def ended(steps):
    train(steps)
    assert not torch.distributed.is_initialized()


Accelerator.end_training = ending
notebook_launcher(
    ended, args"""
    printed = changed("accelerate/notebook.py", ("notebook_launcher(\n    train, args", look))
    assert printed.startswith("Launching")


def test_debug_launcher_s_processes_both_print(changed):
    printed = changed(
        "accelerate/debug.py", ("    rank = acc", "    accelerator.print('once')\n    rank = acc")
    )
    assert printed.count("once") == 2


def test_the_launchers_take_what_the_page_gives_them():
    assert {"rdzv_backend", "rdzv_endpoint", "use_port"} <= set(
        notebook_launcher.__code__.co_varnames
    )
    assert debug_launcher.__defaults__ == ((), 2)


# Hardware, sharding, memory


def test_the_files_of_the_lesson_are_those_that_the_program_writes(program):
    profiles = program("accelerate/profiles.py")["profiles"]
    assert {p.stem for p in (ROOT / "accelerate").glob("*.yaml")} == profiles.keys()
    for name, profile in profiles.items():
        text = (ROOT / f"accelerate/{name}.yaml").read_text()
        assert text == Path(f"{name}.yaml").read_text()
        config = config_args.load_config_from_file(f"{name}.yaml")
        assert config.num_processes == profile["num_processes"]
        assert config.mixed_precision == "bf16"


def test_accelerate_s_reader_refuses_a_key_that_it_does_not_know():
    with pytest.raises(ValueError, match="unknown keys"):
        config_args.load_config_from_file(configuration(distributed_type="NO", gpus=2))


def test_the_fsdp_file_and_the_plugin_say_the_same(monkeypatch, program):
    args = launched("--config_file", f"{ROOT}/accelerate/fsdp.yaml", *FREE_PORT, "train.py")
    assert args.use_fsdp
    for name, value in prepare_multi_gpu_env(args).items():
        monkeypatch.setenv(name, value)
    by_file = FullyShardedDataParallelPlugin()
    by_hand = program("accelerate/plugins.py")["fsdp"]
    for name in ("fsdp_version", "reshard_after_forward", "state_dict_type", "min_num_params"):
        assert getattr(by_file, name) == getattr(by_hand, name), name
    assert by_file.auto_wrap_policy == by_hand.auto_wrap_policy


def test_the_deepspeed_file_and_the_plugin_say_the_same(program):
    args = launched("--config_file", f"{ROOT}/accelerate/deepspeed.yaml", "train.py")
    assert args.use_deepspeed
    plugin = program("accelerate/plugins.py")["deepspeed"]
    assert args.zero_stage == plugin.zero_stage == 2
    assert args.gradient_accumulation_steps == plugin.gradient_accumulation_steps
    assert args.gradient_clipping == plugin.gradient_clipping
    assert args.offload_optimizer_device == plugin.offload_optimizer_device


def test_a_plugin_refuses_a_setting_that_there_is_not():
    with pytest.raises(ValueError, match="Must be one of"):
        FullyShardedDataParallelPlugin(fsdp_version=2, auto_wrap_policy="by size")


def test_what_is_counted_is_what_training_holds(program):
    run = program("accelerate/estimate.py")
    assert 4 * run["counted"] + run["steps"] == run["held"]
    assert all(p.device.type == "meta" for p in run["model"].parameters())
    assert run["weights"] == 4 * sum(p.numel() for p in run["model"].parameters())
    layers = [m for m in run["model"].modules() if isinstance(m, nn.Linear)]
    assert run["largest"] == max(sum(p.nbytes for p in layer.parameters()) for layer in layers)


# Tips


def seeded(namespace):
    """Random numbers of this process after set_seed, and after the seed for each device."""
    set_seed(1)
    same = torch.rand(1).item()
    set_seed(1, device_specific=True)
    return same, torch.rand(1).item()


def test_set_seed_gives_all_processes_the_same_numbers_or_each_its_own(ranks):
    first, second = (r["__after__"] for r in ranks("accelerate/processes.py", after=seeded))
    assert first[0] == second[0]
    assert first[1] != second[1]


def test_main_process_first_is_there():
    with cpu().main_process_first():
        assert PartialState().is_main_process


# Each shown command is a command


def test_the_commands_of_the_page_are_understood():
    lines = [shlex.split(line) for line in printed_lines()]
    mine = [words[2:] for words in lines if words[:2] == ["accelerate", "launch"]]
    assert len(mine) >= 5
    for words in mine:
        args = launch.launch_command_parser().parse_args(words)
        assert args.training_script == "train.py"
