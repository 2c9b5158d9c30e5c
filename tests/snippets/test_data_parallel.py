"""The claims of the lesson on DataParallel: each test would fail were its claim false.

On a machine without two GPUs DataParallel passes its input through. So the claims about replicas
are tested in two ways: by the lesson's own step by hand, and by DataParallel's own code (its
forward, scatter, replicate, parallel_apply and gather) in which only the transfers between GPUs
are replaced by copies on one device: the fixture `gpus`.
"""

import contextlib
import copy
import importlib
import sys
import threading
import types

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.snippets.conftest import ROOT
from tools.snippets import load

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32

for name in ("data_parallel", "parallel_apply", "replicate", "scatter_gather"):
    importlib.import_module(f"torch.nn.parallel.{name}")
MODULES = {
    name.rpartition(".")[2]: sys.modules[name] for name in sys.modules if "nn.parallel." in name
}


@pytest.fixture(autouse=True)
def one_thread():
    """Compute in one thread: faster where everything is tiny, and the same sums each time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def gpus(monkeypatch):
    """``gpus(model, 2)``: DataParallel as on that many GPUs, all of them played by the CPU.

    Replaced are the four transfers and the look-ups of devices; all else is PyTorch's own code.
    As on GPUs, copies have storages of their own, gradients of copies are added up in the
    original, and the first GPU's buffers are the model's.
    """

    def broadcast(tensors, devices, detach=False):
        return [[t.clone() if i or not detach else t for t in tensors] for i in devices]

    def scatter(devices, sizes, dim, tensor):
        return tensor.chunk(len(devices), dim)

    def gather(device, dim, *tensors):
        return torch.cat([t.reshape(1) if t.dim() == 0 else t for t in tensors], dim)

    monkeypatch.setattr(MODULES["replicate"], "_broadcast_coalesced_reshape", broadcast)
    monkeypatch.setattr(MODULES["scatter_gather"], "Scatter", types.SimpleNamespace(apply=scatter))
    monkeypatch.setattr(MODULES["scatter_gather"], "Gather", types.SimpleNamespace(apply=gather))
    for name, value in {
        "is_available": lambda: True,
        "current_accelerator": lambda check_available=False: torch.device("cpu"),
        "current_stream": lambda device=None: contextlib.nullcontext(),
        "device_index": lambda device: contextlib.nullcontext(),
    }.items():
        monkeypatch.setattr(torch.accelerator, name, value)

    def wrap(model, number):
        parallel = nn.DataParallel(model)
        parallel.device_ids, parallel.dim = list(range(number)), 0
        parallel.src_device_obj, parallel.output_device = torch.device("cpu"), 0
        return parallel

    return wrap


@pytest.fixture
def problem():
    """Inputs, targets and a fresh model of the lesson's size, the same each time."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 2))
    return torch.randn(64, 2), torch.randint(0, 2, (64,)), model


def weights(model):
    """All weights of `model` as one vector."""
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def gradients(model):
    """All gradients of `model` as one vector."""
    return torch.cat([weight.grad.flatten() for weight in model.parameters()])


class Calls(nn.Module):
    """Tells which chunk each call got, and in which thread."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.seen = []

    def forward(self, inputs):
        self.seen.append((len(inputs), threading.current_thread(), torch.is_grad_enabled()))
        return inputs * self.weight


# What wrapping does


def test_without_a_gpu_data_parallel_passes_its_input_through():
    model = Calls()
    parallel = nn.DataParallel(model)
    assert parallel.device_ids == []
    parallel(torch.ones(8, 1))
    assert [rows for rows, _, _ in model.seen] == [8]


def test_on_an_apple_gpu_data_parallel_passes_its_input_through(monkeypatch):
    monkeypatch.setattr(MODULES["data_parallel"], "_get_available_device_type", lambda: "mps")
    model, inputs = nn.Linear(4, 2), torch.ones(8, 4)
    parallel = nn.DataParallel(model)
    assert parallel.device_ids == []
    assert parallel(inputs).equal(model(inputs))


def test_wrapping_warns_of_nothing(recwarn):
    nn.DataParallel(nn.Linear(2, 2))
    assert not recwarn.list


def test_the_wrapper_holds_the_model_itself(program):
    run = program("data-parallel/wrap.py")
    assert run["parallel"].module is run["model"]
    assert list(run["parallel"].parameters())[0] is run["model"].weight


def test_data_parallel_names_its_keys_with_module_and_the_model_does_not(program):
    run = program("data-parallel/save.py")
    assert list(run["parallel"].state_dict()) == ["module.weight", "module.bias"]
    assert list(torch.load("model.pt")) == ["weight", "bias"]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Programs save into the current folder."""
    monkeypatch.chdir(tmp_path)


def test_every_batch_is_moved_to_the_device_and_evaluation_makes_no_graph(program, monkeypatch):
    forward, to, with_grad, moved = nn.Sequential.forward, torch.Tensor.to, [], []

    def calling(self, inputs):
        with_grad.append(torch.is_grad_enabled())
        return forward(self, inputs)

    def moving(self, *arguments, **options):
        if self.dim() and not isinstance(self, nn.Parameter):
            moved.append(len(self))
        return to(self, *arguments, **options)

    monkeypatch.setattr(nn.Sequential, "forward", calling)
    monkeypatch.setattr(torch.Tensor, "to", moving)
    program("data-parallel/train.py")
    assert set(with_grad[:-1]) == {True}  # on several GPUs each replica makes a call
    assert with_grad[-1] is False
    assert moved == [64] * 2 * 8 * 31 + [512] * 2


def test_the_complete_program_saves_weights_that_the_plain_model_loads(program):
    run = program("data-parallel/train.py")
    fresh = copy.deepcopy(run["model"])
    nn.init.zeros_(fresh[0].weight)
    fresh.load_state_dict(torch.load("spirals.pt"))
    assert torch.equal(weights(fresh), weights(run["model"]))
    assert run["accuracy"] > 0.95


def test_the_complete_program_learns_on_two_gpus_as_on_one(program, gpus, monkeypatch):
    alone = weights(program("data-parallel/train.py")["model"])
    wrapped, plain = [], nn.DataParallel

    def two(model):
        wrapped.append(model)
        monkeypatch.setattr(nn, "DataParallel", plain)
        parallel = gpus(model, 2)
        monkeypatch.setattr(nn, "DataParallel", two)
        return parallel

    monkeypatch.setattr(nn, "DataParallel", two)
    run = program("data-parallel/train.py")
    assert wrapped == [run["model"]]
    # 248 steps of Adam: the sums of a batch are taken in another order, and the last bits differ.
    assert torch.allclose(weights(run["model"]), alone, atol=1e-3)
    assert run["accuracy"] > 0.95


# The step by hand


def test_a_batch_is_cut_into_equal_chunks(program):
    assert [len(chunk) for chunk in program("data-parallel/step_1_scatter.py")["chunks"]] == [
        32,
        32,
    ]


def test_weights_of_a_replica_are_copies_that_lead_back_to_the_originals(program):
    run = program("data-parallel/step_2_replicate.py")
    for replica in run["replicas"]:
        weight = replica[0].weight
        assert not isinstance(weight, nn.Parameter)
        assert weight.data_ptr() != run["model"][0].weight.data_ptr()
        weight.sum().backward()
    assert run["model"][0].weight.grad.eq(2).all()  # 1 from each replica


@pytest.mark.parametrize(
    "path", ["data-parallel/step_3_apply.py", "data-parallel/step_4_gather.py"]
)
def test_each_layer_of_a_replica_has_weights_of_its_own(program, path):
    run = program(path)
    for replica in run["replicas"]:
        for layer, original in zip(replica, run["model"], strict=True):
            assert layer is not original
            if isinstance(original, nn.Linear):
                assert layer.weight.data_ptr() != original.weight.data_ptr()


def test_a_replica_has_no_parameters(program, gpus, problem):
    assert not list(program("data-parallel/step_2_replicate.py")["replicas"][1].parameters())
    seen = []

    class Model(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, inputs):
            seen.append(len(list(self.parameters())))
            return self.inner(inputs)

    inputs, _, model = problem
    gpus(Model(model), 2)(inputs)
    assert seen == [0, 0]


def test_replicas_compute_in_threads_of_their_own(gpus):
    model = Calls()
    gpus(model, 2)(torch.ones(8, 1))
    assert [rows for rows, _, _ in model.seen] == [4, 4]
    assert len({thread for _, thread, _ in model.seen} | {threading.current_thread()}) == 3


def test_threads_learn_that_gradients_are_off(gpus):
    model = Calls()
    with torch.no_grad():
        gpus(model, 2)(torch.ones(8, 1))
    assert [grad for _, _, grad in model.seen] == [False, False]


def test_gathered_outputs_are_in_the_order_of_the_batch(gpus, problem):
    inputs, _, model = problem
    assert torch.allclose(gpus(model, 4)(inputs), model(inputs))


def test_the_step_by_hand_has_the_loss_of_one_model(program):
    run = program("data-parallel/step_4_gather.py")
    assert torch.allclose(run["loss"], run["alone"])
    assert run["logits"].shape == (64, 2)


def test_the_step_by_hand_has_the_gradients_of_one_model(program):
    run = program("data-parallel/step_5_backward.py")
    assert torch.allclose(
        sum(share.grad for share in run["shares"]), run["model"][4].bias.grad, atol=1e-8
    )
    for got, expected in zip(run["gradients"], run["expected"], strict=True):
        assert torch.allclose(got, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_data_parallel_has_the_gradients_of_one_model(gpus, problem, number):
    inputs, targets, model = problem
    alone = copy.deepcopy(model)
    F.cross_entropy(alone(inputs), targets).backward()
    F.cross_entropy(gpus(model, number)(inputs), targets).backward()
    assert torch.allclose(gradients(model), gradients(alone), rtol=1e-4, atol=1e-7)


def test_gradients_of_replicas_are_added_up_not_averaged(gpus):
    model = Calls()
    gpus(model, 4)(torch.ones(8, 1)).sum().backward()
    assert model.weight.grad.item() == 8


# What the batch means


def test_chunks_are_as_large_as_the_batch_over_the_gpus_rounded_up(program):
    lines = program("data-parallel/chunks.py")["__stdout__"].splitlines()
    assert "batch  9 on 4 GPUs: [3, 3, 3]" in lines  # the fourth has nothing to do
    assert "batch  5 on 4 GPUs: [2, 2, 1]" in lines
    assert "batch  3 on 4 GPUs: [1, 1, 1]" in lines


@pytest.mark.parametrize(("batch", "chunks"), [(9, [3, 3, 3]), (5, [2, 2, 1]), (3, [1, 1, 1])])
def test_data_parallel_uses_as_many_gpus_as_there_are_chunks(gpus, batch, chunks):
    model = Calls()
    assert len(gpus(model, 4)(torch.ones(batch, 1))) == batch
    assert sorted((rows for rows, _, _ in model.seen), reverse=True) == chunks


def test_the_mean_of_means_is_off_only_where_chunks_differ(program):
    rows = [line.split() for line in program("data-parallel/uneven.py")["__stdout__"].splitlines()]
    off = {(int(r[0]), int(r[1])): float(r[4].rstrip("%")) for r in rows[1:]}
    assert off[64, 4] == 0
    assert 0 < off[63, 2] < off[7, 2] < off[13, 4]


def test_the_mean_of_gathered_logits_is_exact_where_chunks_differ(gpus, problem):
    inputs, targets, model = problem
    parallel = gpus(model, 4)
    inside = F.cross_entropy(parallel(inputs[:13]), targets[:13])
    assert torch.allclose(inside, F.cross_entropy(model(inputs[:13]), targets[:13]))


def test_one_loss_a_sample_is_exact_where_chunks_differ(program, gpus):
    run = program("data-parallel/loss_per_gpu.py")
    assert run["losses"].shape == (7,)
    parallel = gpus(run["parallel"].module, 2)
    exact = F.cross_entropy(run["model"](run["inputs"]), run["targets"])
    assert torch.allclose(parallel(run["inputs"], run["targets"]).mean(), exact)
    assert gradients(run["model"]).abs().sum() > 0


def test_a_scalar_from_each_gpu_is_gathered_into_a_vector(gpus, problem):
    class Mean(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, inputs, targets):
            return F.cross_entropy(self.model(inputs), targets)

    inputs, targets, model = problem
    assert gpus(Mean(model), 4)(inputs, targets).shape == (4,)


def test_gathering_scalars_warns():
    scalars = [torch.ones((), device="meta")] * 2
    with (
        pytest.warns(UserWarning, match="Was asked to gather along dimension 0"),
        pytest.raises((AttributeError, RuntimeError)),  # meta tensors have nothing to gather
    ):
        nn.parallel.gather(scalars, 0)


# What is lost on replicas


def test_by_hand_an_attribute_and_a_replaced_buffer_are_lost_and_one_chunk_is_kept(program):
    run = program("data-parallel/lost.py")
    model, alone = run["model"], run["alone"]
    assert (model.calls, model.seen.item(), model.last.item()) == (0, 12, 0)
    assert (alone.calls, alone.seen.item(), alone.last.item()) == (3, 24, 24)


def test_in_data_parallel_an_attribute_and_a_replaced_buffer_are_lost_and_one_chunk_kept(
    program, gpus
):
    model = program("data-parallel/lost.py")["Counting"]()
    parallel = gpus(model, 2)
    for _ in range(3):
        parallel(torch.ones(8, 2))
    assert (model.calls, model.seen.item(), model.last.item()) == (0, 12, 0)


def test_batch_norm_remembers_the_first_chunk_alone(program):
    run = program("data-parallel/batch_norm.py")
    assert (run["alone"].running_mean.item(), run["first"].running_mean.item()) == (3.5, 1.5)


def test_in_data_parallel_batch_norm_normalizes_each_chunk_by_itself(program, gpus):
    run = program("data-parallel/batch_norm.py")
    parallel = gpus(nn.BatchNorm1d(1, momentum=1.0), 2)
    assert torch.allclose(parallel(run["batch"]), run["chunks"])
    assert not torch.allclose(run["whole"], run["chunks"], atol=0.1)


def test_in_data_parallel_batch_norm_remembers_the_first_chunk(gpus):
    model = nn.BatchNorm1d(1, momentum=1.0)
    gpus(model, 2)(torch.arange(8.0).unsqueeze(1))
    assert model.running_mean.item() == 1.5


def test_hooks_fire_once_for_each_gpu(gpus, problem):
    inputs, _, model = problem
    rows = []
    model[0].register_forward_hook(lambda module, given, output: rows.append(len(output)))
    gpus(model, 4)(inputs)
    assert rows == [16] * 4


def test_a_parameter_list_works_on_replicas(gpus):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.scales = nn.ParameterList([torch.ones(2), torch.ones(2)])

        def forward(self, inputs):
            for scale in self.scales:
                inputs = inputs * scale
            return inputs

    model = Model()
    gpus(model, 2)(torch.ones(4, 2)).sum().backward()
    assert all(scale.grad.eq(4).all() for scale in model.scales)


# What may go in, and come out


def test_numbers_and_strings_go_to_each_gpu_whole():
    assert nn.parallel.scatter(["a", "b", "c"], [0, 1]) == [["a", "b", "c"]] * 2
    assert nn.parallel.scatter(0.5, [0, 1]) == [0.5, 0.5]


def test_tensors_in_a_dictionary_are_split_and_its_strings_are_not(gpus):
    given = []

    class Model(Calls):
        def forward(self, batch):
            given.append((len(batch["inputs"]), batch["names"]))
            return batch["inputs"]

    gpus(Model(), 2)({"inputs": torch.ones(4, 1), "names": ["a", "b", "c", "d"]})
    assert given == [(2, ["a", "b", "c", "d"])] * 2


def test_each_tensor_of_a_list_of_dictionaries_is_split_not_the_list(gpus):
    given = []

    class Model(Calls):
        def forward(self, images):
            given.append([len(image["boxes"]) for image in images])
            return images[0]["boxes"]

    gpus(Model(), 2)([{"boxes": torch.ones(4, 4)}, {"boxes": torch.ones(2, 4)}])
    assert given == [[2, 1], [2, 1]]


def test_another_dim_is_split_where_asked_for(gpus):
    model = Calls()
    parallel = gpus(model, 2)
    parallel.dim = 1
    assert parallel(torch.ones(3, 8)).shape == (3, 8)
    assert [rows for rows, _, _ in model.seen] == [3, 3]


def test_one_row_of_a_second_input_silences_a_gpu(gpus):
    class Model(Calls):
        def forward(self, inputs, mask):
            return super().forward(inputs * mask)

    model = Model()
    assert len(gpus(model, 2)(torch.ones(8, 1), torch.ones(1, 1))) == 4  # of 8
    assert len(model.seen) == 1


# Memory


@pytest.fixture
def table(program):
    """The rows of memory.py, in MiB: GPU 0 and others, the same with the loss inside."""
    return program("data-parallel/memory.py")["rows"]


def test_logits_on_gpu_0_take_the_bytes_of_the_whole_batch(table):
    assert table["gathered logits"][0] == 512 * 4000 * 4 / 2**20
    assert table["gathered logits"][1] == 0


def test_the_loss_keeps_about_as_much_as_the_logits(table):
    assert table["kept by the loss"][0] == pytest.approx(table["gathered logits"][0], rel=0.01)


def test_gradients_are_as_large_as_the_weights_and_adam_is_twice_that(table):
    weights = (256 * 256 + 256 + 256 * 4000 + 4000) * 4 / 2**20
    assert table["weights, or their copy"] == (weights,) * 4
    assert table["gradients"][0] == weights
    assert table["Adam's two averages"][0] == pytest.approx(2 * weights)


def test_the_loss_inside_takes_the_logits_off_gpu_0(table):
    first, other, first_inside, other_inside = table["total"]
    assert first > 7 * other
    assert first_inside < 0.6 * first
    saved = table["gathered logits"][0] + 0.75 * table["kept by the loss"][0]
    assert first - first_inside == pytest.approx(saved, rel=0.01)


def test_activations_are_those_of_a_chunk(table):
    batch, features = 512 // 4, 256
    # The inputs and the hidden layer after ReLU.
    assert table["activations of its chunk"][0] == 2 * batch * features * 4 / 2**20


# Mixed precision


@pytest.fixture
def cuda(gpus, monkeypatch):
    """As `gpus`, and autocast to CUDA takes its state as it does with a GPU."""
    monkeypatch.setattr(
        torch.accelerator, "current_accelerator", lambda check_available=False: torch.device("cuda")
    )
    monkeypatch.setattr(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *a, **k: True)
    yield gpus
    torch.set_autocast_enabled("cuda", False)


class State(Calls):
    """Tells the state of autocast where it is called."""

    def forward(self, inputs):
        self.seen.append((torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")))
        return inputs


@pytest.mark.parametrize("dtype", [FP16, BF16])
def test_replicas_learn_that_autocast_is_on_and_take_its_default_format(cuda, dtype):
    model = State()
    with torch.autocast("cuda", dtype=dtype):
        cuda(model, 2)(torch.ones(8, 1))
    assert model.seen == [(True, FP16)] * 2


def test_replicas_without_autocast_have_none(cuda):
    model = State()
    cuda(model, 2)(torch.ones(8, 1))
    assert [enabled for enabled, _ in model.seen] == [False, False]


def test_autocast_inside_forward_holds_in_each_thread(cuda):
    class Inside(State):
        def forward(self, inputs):
            with torch.autocast("cuda", dtype=BF16):
                return super().forward(inputs)

    model = Inside()
    cuda(model, 2)(torch.ones(8, 1))
    assert model.seen == [(True, BF16)] * 2


def test_the_model_of_amp_py_computes_in_its_format_in_each_thread(gpus):
    # FP16 in place of BF16, which on a CPU is the default and so would prove nothing.
    snippet = load("data-parallel/amp.py", ROOT)
    source = snippet.sections["model"].text
    assert source.count("bfloat16") == 1
    names = {}
    exec(source.replace("bfloat16", "float16"), names)
    model = names["Mixed"](nn.Linear(2, 2))
    assert gpus(model, 2)(torch.ones(8, 2)).dtype == FP16


def test_weights_and_gradients_stay_fp32_under_mixed_precision(program):
    run = program("data-parallel/amp.py")
    weight = run["parallel"].module.model.weight
    assert (weight.dtype, weight.grad.dtype, run["logits"].dtype) == (FP32, FP32, BF16)
    assert weight.grad.abs().sum() > 0


# The warning about GPUs that differ


def properties(memory, cores):
    return types.SimpleNamespace(total_memory=memory, multi_processor_count=cores)


@pytest.mark.parametrize(
    ("first", "second", "warns"),
    [((24, 80), (24, 80), False), ((24, 80), (16, 80), True), ((24, 80), (24, 40), True),
     ((24, 80), (18, 60), False)],
)  # fmt: skip
def test_gpus_with_less_than_three_quarters_of_the_memory_or_cores_are_warned_of(
    monkeypatch, recwarn, first, second, warns
):
    module = MODULES["data_parallel"]
    both = [properties(*first), properties(*second)]
    monkeypatch.setattr(module, "_get_devices_properties", lambda ids: both)
    module._check_balance([0, 1])
    assert [("imbalance between your GPUs" in str(w.message)) for w in recwarn] == [True] * warns


@pytest.mark.parametrize(
    "path",
    [
        "data-parallel/step_1_scatter.py",
        "data-parallel/step_2_replicate.py",
        "data-parallel/step_3_apply.py",
        "data-parallel/step_4_gather.py",
        "data-parallel/step_5_backward.py",
    ],
)
def test_the_step_by_hand_uses_two_gpus_where_there_are_two(monkeypatch, path):
    snippet = load(path, ROOT)
    last = "    gpus = [torch.device(device.type, 0), torch.device(device.type, 1)]\n"
    start, found, _ = snippet.source.partition(last)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    monkeypatch.setattr(
        torch.accelerator, "current_accelerator", lambda check_available=False: torch.device("cuda")
    )
    names = {}
    exec(start + found, names)
    assert names["gpus"] == [torch.device("cuda", 0), torch.device("cuda", 1)]
