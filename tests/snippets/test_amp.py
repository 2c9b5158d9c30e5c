"""The claims of the lesson on mixed precision: each test would fail were its claim false.

Where a program shows the claim, the test looks at the program's variables; otherwise it makes the
smallest case of its own. All of it runs on the device that ``--device`` names.
"""

import copy
import io
import re
import statistics
import time
import types

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.snippets import runner
from tests.snippets.conftest import ROOT
from tools.snippets import load

FP16, BF16, FP32 = torch.float16, torch.bfloat16, torch.float32


@pytest.fixture(autouse=True)
def one_thread():
    """Compute in one thread: faster where everything is tiny, and the same sums each time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def problem(device):
    """Inputs, targets and a fresh linear model, the same each time."""
    torch.manual_seed(0)
    inputs = torch.randn(64, 4)
    targets = inputs.sum(dim=1, keepdim=True)
    model = nn.Linear(4, 1)
    return inputs.to(device), targets.to(device), model.to(device)


def forward(model, inputs, targets, dtype=FP16):
    """The loss under autocast to `dtype`, or in plain fp32 if that is None."""
    enabled = dtype is not None
    with torch.autocast(inputs.device.type, dtype=dtype or BF16, enabled=enabled):
        return F.mse_loss(model(inputs), targets)


def weights(model):
    """All weights of `model` as one vector that later steps leave alone."""
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def gradients(model):
    """All gradients of `model` as one vector that later steps leave alone."""
    return torch.cat([weight.grad.flatten() for weight in model.parameters()]).clone()


def sgd_step(problem, scale=1024.0, dtype=FP16, lr=0.1, clip=None, unscale=True):
    """How far one step of SGD moves the weights."""
    inputs, targets, model = problem
    model = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=scale)
    before = weights(model)
    scaler.scale(forward(model, inputs, targets, dtype)).backward()
    if clip is not None:
        if unscale:
            scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    scaler.step(optimizer)
    scaler.update()
    return weights(model) - before


def on_fake_cuda(operation):
    """The dtype that `operation` (of an fp32 and an fp16 tensor) returns by CUDA's rules."""
    with FakeTensorMode():
        torch.set_autocast_enabled("cuda", True)
        try:
            x = torch.rand(4, 4, device="cuda")
            return operation(x, x.half()).dtype
        finally:
            torch.set_autocast_enabled("cuda", False)


def on_cpu(operation):
    """The dtype that `operation` (of an fp32 and an fp16 tensor) returns by the CPU's rules."""
    x = torch.rand(4, 4)
    with torch.autocast("cpu", dtype=FP16):
        return operation(x, x.half()).dtype


@pytest.fixture
def layer_dtypes(monkeypatch):
    """The dtypes that linear layers have returned so far."""
    seen = set()
    linear = F.linear

    def watched(*arguments):
        result = linear(*arguments)
        seen.add(result.dtype)
        return result

    monkeypatch.setattr(F, "linear", watched)
    return seen


# The number formats and the gradient that is too small


def test_range_and_step_of_a_format_follow_from_its_bits(program):
    rows = program("amp/formats.py")["__stdout__"].splitlines()[1:]
    assert [row.split()[0] for row in rows if row.endswith("agrees")] == ["fp32", "fp16", "bf16"]


def test_tf32_has_the_range_of_fp32_and_the_step_of_fp16(program):
    rows = program("amp/formats.py")["__stdout__"].splitlines()[1:]
    table = {row.split()[0]: row.split() for row in rows}
    assert table["tf32"][2] == table["fp32"][2]  # exponent
    assert table["tf32"][5] == table["fp32"][5]  # smallest normal
    assert table["tf32"][7] == table["fp16"][7]  # step at 1


@pytest.mark.parametrize(("dtype", "fraction"), [(FP16, 10), (BF16, 7)])
def test_half_of_the_smallest_number_is_zero(device, dtype, fraction):
    smallest = torch.finfo(dtype).smallest_normal * 2.0**-fraction
    assert torch.tensor(smallest, device=device).to(dtype) == smallest
    assert torch.tensor(smallest / 2, device=device).to(dtype) == 0


def test_half_a_step_at_one_is_rounded_away(device):
    for dtype in (FP16, BF16):
        one = torch.ones(1, dtype=dtype, device=device)
        step = torch.finfo(dtype).eps
        assert (one + step) > 1
        assert (one + step / 2) == 1


def test_a_gradient_of_1e_8_is_zero_in_fp16_but_not_in_bf16(device):
    for dtype, lost in [(FP16, True), (BF16, False), (FP32, False)]:
        weight = torch.ones(1, dtype=dtype, device=device, requires_grad=True)
        ((weight * 1e-4).float() * 1e-4).backward()
        assert (weight.grad.item() == 0) == lost


def test_scaling_the_loss_rescues_the_gradient_that_fp16_loses(device):
    weight = torch.ones(1, dtype=FP16, device=device, requires_grad=True)
    ((weight * 1e-4).float() * 1e-4 * 65536).backward()
    assert weight.grad.float().item() / 65536 == pytest.approx(1e-8, rel=2e-3)


def test_unscaling_in_fp16_would_lose_the_gradient_again(device):
    scaled = torch.tensor(1e-8 * 65536, device=device).half()
    assert scaled / 65536 == 0
    assert scaled.float() / 65536 > 0


def test_fp16_turns_a_quarter_of_real_gradients_into_zero_and_scaled_ones_hardly_any(program):
    names = program("amp/gradients.py")
    lost = {
        scale: (names["gradients"](scale, enabled=True)[names["real"]] == 0).float().mean().item()
        for scale in (1, 65536)
    }
    assert 0.2 < lost[1] < 0.3
    assert lost[65536] < 0.001


def test_scaling_does_not_make_these_gradients_overflow(program):
    assert program("amp/gradients.py")["gradients"](65536, enabled=True).isfinite().all()


def test_the_histogram_counts_each_gradient_once(program):
    names = program("amp/gradients.py")
    rows = [line.split() for line in names["__stdout__"].splitlines() if line.startswith("2^")]
    assert sum(int(count) for _, count in rows) == names["real"].sum()


def test_bf16_needs_no_scaler_where_fp16_does(program):
    rows = program("amp/needs_scaling.py")["__stdout__"].splitlines()
    left = {row[:12].strip(): int(row.split()[-1].rstrip("%")) for row in rows}
    assert left == {"fp32": 0, "fp16": 100, "fp16, scaled": 0, "bf16": 0}


def test_a_scaler_does_bf16_no_harm(problem):
    exact = sgd_step(problem, scale=1.0, dtype=BF16)
    assert sgd_step(problem, scale=65536.0, dtype=BF16).equal(exact)


# autocast


def test_autocast_leaves_weights_and_gradients_in_fp32(program):
    names = program("amp/autocast.py")
    for weight in names["model"].parameters():
        assert weight.dtype == weight.grad.dtype == FP32
    assert names["logits"].dtype == FP16
    assert names["loss"].dtype == FP32


def test_gradients_of_activations_have_the_dtype_of_the_forward_pass(problem):
    inputs, targets, model = problem
    with torch.autocast(inputs.device.type, dtype=FP16):
        outputs = model(inputs)
        outputs.retain_grad()
        loss = F.mse_loss(outputs, targets)
    loss.backward()  # outside autocast: backward follows the forward pass
    assert outputs.grad.dtype == FP16


LOSSES = {
    "cross_entropy": lambda x, h: F.cross_entropy(h, h.argmax(dim=1)),
    "nll_loss": lambda x, h: F.nll_loss(h, h.argmax(dim=1)),
    "mse_loss": lambda x, h: F.mse_loss(h, h),
    "l1_loss": lambda x, h: F.l1_loss(h, h),
    "smooth_l1_loss": lambda x, h: F.smooth_l1_loss(h, h),
    "huber_loss": lambda x, h: F.huber_loss(h, h),
    "kl_div": lambda x, h: F.kl_div(h, h, reduction="batchmean"),
    "bce_with_logits": lambda x, h: F.binary_cross_entropy_with_logits(h, h),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("rules", [on_cpu, on_fake_cuda])
def test_loss_functions_are_computed_in_fp32(rules, name):
    assert rules(LOSSES[name]) == FP32


@pytest.mark.parametrize("rules", [on_cpu, on_fake_cuda])
def test_matrix_products_are_16_bit_everywhere(rules):
    for operation in (
        lambda x, h: F.linear(x, x),
        lambda x, h: x @ x,
        lambda x, h: F.conv1d(x.unsqueeze(0), x.unsqueeze(2)),
        lambda x, h: torch.einsum("ij,jk->ik", x, x),
        lambda x, h: F.scaled_dot_product_attention(x, x, x),
    ):
        assert rules(operation) == FP16


@pytest.mark.parametrize("rules", [on_cpu, on_fake_cuda])
def test_a_loss_written_by_hand_may_stay_16_bit(rules):
    assert rules(lambda x, h: (h * h).mean()) == FP16


@pytest.mark.parametrize("rules", [on_cpu, on_fake_cuda])
def test_the_wider_dtype_wins_where_dtypes_are_mixed(rules):
    assert rules(lambda x, h: h + x) == FP32
    assert rules(lambda x, h: torch.cat([h, x])) == FP32


@pytest.mark.parametrize(
    "operation",
    [
        lambda x, h: F.softmax(h, dim=1),
        lambda x, h: F.log_softmax(h, dim=1),
        lambda x, h: F.layer_norm(h, (4,)),
        lambda x, h: h.sum(),
        lambda x, h: h.exp(),
        lambda x, h: h.log(),
        lambda x, h: h**2,
    ],
    ids=["softmax", "log_softmax", "layer_norm", "sum", "exp", "log", "pow"],
)
def test_cuda_widens_to_fp32_what_a_cpu_leaves_in_16_bits(operation):
    assert on_cpu(operation) == FP16
    assert on_fake_cuda(operation) == FP32


def test_bce_after_a_sigmoid_is_an_error_by_cudas_rules_and_silent_on_a_cpu():
    def bce(x, h):
        return F.binary_cross_entropy(h, h)

    assert on_cpu(bce) == FP32
    with pytest.raises(RuntimeError, match="unsafe to autocast"):
        on_fake_cuda(bce)


def test_fake_tensors_follow_the_rules_of_the_real_device(program, device):
    """On a GPU this checks the table's CUDA column against the GPU itself."""
    names = program("amp/autocast_ops.py")
    with torch.autocast(device, dtype=FP16):
        real = names["results"](device)
    with FakeTensorMode():
        previous = torch.get_autocast_dtype(device)
        torch.set_autocast_dtype(device, FP16)
        torch.set_autocast_enabled(device, True)
        try:
            fake = names["results"](device)
        finally:
            torch.set_autocast_enabled(device, False)
            torch.set_autocast_dtype(device, previous)
    assert fake == real
    assert names[device] == real


def test_the_table_leaves_autocast_as_it_was(device, capsys):
    runner.use_device(device)
    try:
        runner.execute(load("amp/autocast_ops.py", ROOT))
        assert not torch.is_autocast_enabled("cuda")
    finally:
        torch.set_autocast_enabled("cuda", False)


def test_autocast_keeps_the_16_bit_copy_of_a_weight_until_it_ends(problem):
    inputs, _, model = problem
    with torch.autocast(inputs.device.type, dtype=FP16):
        before = model(inputs)
        with torch.no_grad():
            model.weight.zero_()
            model.bias.zero_()
        assert model(inputs).equal(before)
    with torch.autocast(inputs.device.type, dtype=FP16):
        assert model(inputs).eq(0).all()


def test_autocast_leaves_float64_alone(device):
    if device == "mps":
        pytest.fail("this device has no float64: run this test on another one")
    x = torch.rand(4, 4, dtype=torch.float64, device=device)
    with torch.autocast(device, dtype=FP16):
        assert (x @ x).dtype == torch.float64


def test_autocast_leaves_in_place_operations_alone(device):
    x = torch.rand(4, 4, device=device)
    with torch.autocast(device, dtype=FP16):
        assert x.addmm_(x.clone(), x.clone()).dtype == FP32


def test_the_default_dtype_is_fp16_on_cuda_and_bf16_on_a_cpu():
    assert torch.get_autocast_dtype("cuda") == FP16
    assert torch.get_autocast_dtype("cpu") == BF16


def test_autocast_takes_the_type_of_a_device_not_a_device(device):
    with pytest.raises(ValueError, match="device_type"):
        torch.autocast(torch.device(device))


def test_an_index_of_the_device_hides_that_there_is_no_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    layer, inputs = nn.Linear(2, 2), torch.ones(1, 2)
    with pytest.warns(UserWarning, match="CUDA is not available"):
        torch.autocast("cuda", dtype=FP16)
    with torch.autocast("cuda:0", dtype=FP16):  # a warning would be an error
        assert layer(inputs).dtype == FP32


def test_clipping_an_infinite_gradient_leaves_nan_and_zeros(device):
    weight = torch.zeros(2, device=device, requires_grad=True)
    weight.grad = torch.tensor([torch.inf, 1.0], device=device)
    nn.utils.clip_grad_norm_([weight], 1.0)
    assert weight.grad[0].isnan() and weight.grad[1] == 0


def test_the_short_and_the_long_spelling_are_the_same_thing():
    assert torch.autocast is torch.amp.autocast
    assert torch.GradScaler is torch.amp.GradScaler


def test_an_fp32_island_holds_what_fp16_cannot(program):
    lines = program("amp/fp32_island.py")["__stdout__"]
    assert "torch.float16, inf" in lines
    assert "torch.float32, 160000" in lines


def test_fp16_activations_above_65504_are_infinite_and_bf16_ones_are_not(device):
    x = torch.full((1,), 300.0, device=device)
    assert (x.to(FP16) * x.to(FP16)).isinf()
    assert (x.to(BF16) * x.to(BF16)).isfinite()


# The scaler


def test_defaults_of_the_scaler(device):
    scaler = torch.amp.GradScaler(device)
    assert scaler.is_enabled()
    assert scaler.get_scale() == 65536
    assert scaler.get_growth_factor() == 2
    assert scaler.get_backoff_factor() == 0.5
    assert scaler.get_growth_interval() == 2000


@pytest.mark.parametrize("scale", [2.0, 1024.0, 8192.0])
def test_scaling_by_s_leaves_the_step_as_it_was(problem, scale):
    exact = sgd_step(problem, scale=1.0, dtype=None)
    assert sgd_step(problem, scale=scale, dtype=None).equal(exact)  # a power of two: bit for bit
    torch.testing.assert_close(sgd_step(problem, scale=scale), exact, rtol=5e-3, atol=1e-4)


def test_the_scaled_gradients_are_s_times_the_true_ones(program):
    names = program("amp/loop_2_backward.py")
    scaled = names["model"][0].weight.grad / names["scaler"].get_scale()
    torch.testing.assert_close(scaled, names["exact"][0], rtol=0.02, atol=2e-5)


def test_step_unscales_the_gradients_in_place(program):
    before = gradients(program("amp/loop_2_backward.py")["model"])
    after = gradients(program("amp/loop_3_step.py")["model"])
    torch.testing.assert_close(after, before / 65536, rtol=1e-5, atol=0)


def test_step_does_not_unscale_what_unscale_has_unscaled(problem):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    scaler.scale(forward(model, inputs, targets)).backward()
    scaler.unscale_(optimizer)
    unscaled = gradients(model)
    scaler.step(optimizer)
    assert gradients(model).equal(unscaled)


def test_the_parts_of_the_loop_make_the_step_of_the_whole_loop(program):
    parts = program("amp/loop_4_update.py")
    torch.manual_seed(0)
    sizes = [(2, 64), (64, 64), (64, 2)]
    a, b, c = (nn.Linear(*size) for size in sizes)
    model = nn.Sequential(a, nn.ReLU(), b, nn.ReLU(), c).to(parts["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler(parts["device"].type)
    with torch.autocast(parts["device"].type, dtype=FP16):
        loss = F.cross_entropy(model(parts["points"]), parts["labels"])
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weights(model).equal(weights(parts["model"]))
    assert scaler.state_dict() == parts["scaler"].state_dict()


def test_the_parts_of_the_loop_train_on_the_problem_of_the_course(program):
    whole = program("amp/train_fp32.py")
    for part in (
        program("amp/loop_1_forward.py"),
        program("amp/loop_2_backward.py"),
        program("amp/loop_3_step.py"),
        program("amp/loop_4_update.py"),
    ):
        assert part["points"].equal(whole["points"])
        assert part["labels"].equal(whole["labels"])


def test_adams_first_step_moves_a_weight_by_the_learning_rate(program):
    assert program("amp/loop_3_step.py")["moved"] == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("name", ["train_fp32", "train", "bfloat16"])
def test_fp32_fp16_and_bf16_learn_the_spirals_alike(program, name):
    names = program(f"amp/{name}.py")
    assert names["accuracy"] == 1
    assert names["loss"] < 0.01


def test_mixed_precision_stays_within_0_002_of_the_losses_of_fp32():
    losses = {}
    for name in ("train_fp32", "train"):
        output = load(f"amp/{name}.py").out_path("cpu").read_text("utf-8")
        losses[name] = [float(loss) for loss in re.findall(r"loss (\S+)", output)]
    pairs = list(zip(losses["train_fp32"], losses["train"], strict=True))
    assert len(pairs) == 5
    assert all(abs(fp32 - mixed) <= 0.0021 for fp32, mixed in pairs)


def test_the_spirals_can_be_learned_in_fp16_without_scaling(program):
    names = program("amp/train_fp32.py")
    points, labels, device = names["points"], names["labels"], names["device"]
    torch.manual_seed(0)
    layers = [nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)]
    model = nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(201):
        with torch.autocast(device.type, dtype=FP16):
            logits = model(points)
            loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (logits.argmax(dim=1) == labels).float().mean() == 1
    assert loss < 0.01


@pytest.mark.parametrize("interval", [1, 3, 5])
def test_the_scale_doubles_after_exactly_growth_interval_clean_steps(problem, interval):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=8.0, growth_interval=interval)
    for step in range(1, 2 * interval + 1):
        optimizer.zero_grad()
        scaler.scale(forward(model, inputs, targets)).backward()
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == 8.0 * 2 ** (step // interval)


def test_an_overflow_halves_the_scale_and_restarts_the_count(problem):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    for factor, scale, clean in [(1, 1024, 1), (1, 1024, 2), (1e6, 512, 0), (1, 512, 1)]:
        optimizer.zero_grad()
        scaler.scale(factor * forward(model, inputs, targets)).backward()
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == scale
        assert scaler.state_dict()["_growth_tracker"] == clean


def test_the_scale_path_shows_a_rise_and_a_fall_and_skips_exactly_where_it_falls(program):
    lines = program("amp/scale_path.py")["__stdout__"].splitlines()
    powers = [int(line.split("2^")[1].split()[0]) for line in lines]
    skipped = [line.endswith("skipped") for line in lines]
    for now, after, skip in zip(powers, powers[1:], skipped, strict=False):
        assert (after == now - 1) == skip
    assert any(after > now for now, after in zip(powers, powers[1:], strict=False))


def test_the_scale_may_fall_below_one(problem):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=2.0)
    for _ in range(3):
        optimizer.zero_grad()
        scaler.scale(1e9 * forward(model, inputs, targets)).backward()
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 0.25


def test_skipped_step_changes_no_weight_and_no_optimizer_state(problem):
    inputs, targets, model = problem
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    scaler.scale(forward(model, inputs, targets)).backward()
    scaler.step(optimizer)
    scaler.update()
    before, state = weights(model), copy.deepcopy(optimizer.state_dict()["state"])

    optimizer.zero_grad()
    scaler.scale(1e6 * forward(model, inputs, targets)).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 512  # so it was skipped
    assert weights(model).equal(before)
    after = optimizer.state_dict()["state"]
    assert all(torch.equal(after[i][key], state[i][key]) for i in state for key in state[i])


def test_a_skipped_first_step_leaves_the_optimizer_without_a_state(program):
    names = program("amp/skipped_step.py")
    assert names["skipped"]
    assert names["model"].weight.equal(names["before"])
    assert not names["optimizer"].state


def test_step_returns_none_whether_it_stepped_or_skipped(problem):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    for factor in (1, 1e6):
        optimizer.zero_grad()
        scaler.scale(factor * forward(model, inputs, targets)).backward()
        assert scaler.step(optimizer) is None
        scaler.update()


def test_the_scaler_looks_at_the_gradients_and_not_at_the_loss(problem):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    before = weights(model)
    loss = forward(model, inputs, targets) + torch.inf  # infinite, with finite gradients
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert loss.isinf()
    assert scaler.get_scale() == 1024
    assert not weights(model).equal(before)


def test_the_optimizer_holds_no_second_copy_of_the_weights(problem):
    inputs, targets, model = problem
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    scaler.scale(forward(model, inputs, targets)).backward()
    scaler.step(optimizer)
    assert {key for state in optimizer.state.values() for key in state} == {
        "step",
        "exp_avg",
        "exp_avg_sq",
    }
    held = [weight for group in optimizer.param_groups for weight in group["params"]]
    assert all(a is b for a, b in zip(held, model.parameters(), strict=True))


def test_a_guarded_scheduler_moves_with_the_optimizer_only(program):
    names = program("amp/scheduler.py")
    done = names["__stdout__"].count("stepped")
    assert names["__stdout__"].count("skipped") == 2
    assert names["scheduler"].last_epoch == done == 3


@pytest.mark.parametrize("place", ["start", "before backward", "after step"])
def test_zero_grad_may_stand_anywhere_but_between_backward_and_step(problem, place):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    for _ in range(2):
        expected = sgd_step(problem)
        before = weights(model)
        if place == "start":
            optimizer.zero_grad()
        loss = forward(model, inputs, targets)
        if place == "before backward":
            optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if place == "after step":
            optimizer.zero_grad()
        torch.testing.assert_close(weights(model) - before, expected)


@pytest.fixture
def cleared(monkeypatch):
    """The calls of an optimizer's zero_grad so far."""
    calls = []
    zero_grad = torch.optim.Optimizer.zero_grad

    def watched(optimizer):
        calls.append(optimizer)
        zero_grad(optimizer)

    monkeypatch.setattr(torch.optim.Optimizer, "zero_grad", watched)
    return calls


def test_the_loop_clears_the_gradients_once_a_step(program, cleared):
    program("amp/train.py")
    assert len(cleared) == 201


def test_each_of_several_optimizers_clears_its_gradients_once_a_step(program, cleared):
    names = program("amp/several_losses.py")
    assert cleared == [names["small_optimizer"], names["large_optimizer"]] * 5


def test_a_forgotten_zero_grad_hides_behind_the_scale(problem):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    scaler.scale(forward(model, inputs, targets)).backward()
    scaler.step(optimizer)
    scaler.update()
    old = gradients(model)  # unscaled by step, and not cleared
    true = torch.autograd.grad(scaler.scale(forward(model, inputs, targets)), model.weight)[0]
    scaler.scale(forward(model, inputs, targets)).backward()
    scaler.unscale_(optimizer)
    expected = (true.flatten() + old[:4]) / 1024  # the old ones count 1024 times less
    torch.testing.assert_close(model.weight.grad.flatten(), expected)


# Clipping, accumulation, penalties, several losses


def test_clipping_after_unscale_limits_the_step_to_lr_times_max_norm(problem):
    assert sgd_step(problem, lr=0.5, clip=1.0).norm().item() == pytest.approx(0.5, rel=1e-3)


def test_clipping_without_unscale_shrinks_the_step(problem):
    right = sgd_step(problem, lr=0.5, clip=1.0).norm().item()
    wrong = sgd_step(problem, lr=0.5, clip=1.0, unscale=False).norm().item()
    assert wrong == pytest.approx(right / 1024, rel=0.01)


def test_clipping_sees_the_norm_of_the_true_gradients(program, problem):
    inputs, targets, model = problem
    forward(model, inputs, targets, dtype=None).backward()
    first = program("amp/clipping.py")["__stdout__"].splitlines()[0]
    seen = float(first.split("norm ")[1].split(",")[0])
    assert seen == pytest.approx(gradients(model).norm().item(), rel=5e-3)


@pytest.mark.parametrize("k", [2, 4, 8])
def test_k_micro_batches_equal_the_big_batch(problem, k):
    inputs, targets, model = problem
    big = sgd_step(problem)
    before = weights(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    for few_inputs, few_targets in zip(inputs.chunk(k), targets.chunk(k), strict=True):
        scaler.scale(forward(model, few_inputs, few_targets) / k).backward()
    scaler.step(optimizer)
    torch.testing.assert_close(weights(model) - before, big, rtol=5e-3, atol=1e-4)


def test_accumulating_without_dividing_by_k_makes_a_step_k_times_as_long(problem):
    inputs, targets, model = problem
    big = sgd_step(problem)
    before = weights(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(inputs.device.type, init_scale=1024.0)
    for few_inputs, few_targets in zip(inputs.chunk(4), targets.chunk(4), strict=True):
        scaler.scale(forward(model, few_inputs, few_targets)).backward()
    scaler.step(optimizer)
    torch.testing.assert_close(weights(model) - before, 4 * big, rtol=5e-3, atol=4e-4)


def test_the_accumulation_program_trains_as_the_big_batch_does(program, problem):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        forward(model, inputs, targets, dtype=None).backward()
        optimizer.step()
    accumulated = weights(program("amp/accumulation.py")["model"])
    torch.testing.assert_close(accumulated, weights(model), rtol=5e-3, atol=5e-4)


def test_a_gradient_penalty_under_amp_trains_as_in_fp32(program, problem):
    inputs, targets, model = problem
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = forward(model, inputs, targets, dtype=None)
        slopes = torch.autograd.grad(loss, model.parameters(), create_graph=True)
        (loss + 0.1 * sum(slope.pow(2).sum() for slope in slopes).sqrt()).backward()
        optimizer.step()
    amp = weights(program("amp/gradient_penalty.py")["model"])
    torch.testing.assert_close(amp, weights(model), rtol=5e-3, atol=5e-4)


def test_of_several_optimizers_only_the_one_that_overflowed_is_skipped(program):
    rows = program("amp/several_losses.py")["__stdout__"].splitlines()
    small, large = zip(*(row.split("losses ")[1].split(", ") for row in rows), strict=True)
    assert len(set(small)) == 5  # each step moved it
    assert len(set(large[:3])) == 1  # two skipped steps
    assert len(set(large[2:])) == 3


def test_one_overflow_lowers_the_scale_once_for_all(program):
    rows = program("amp/several_losses.py")["__stdout__"].splitlines()
    assert [row.split("scale ")[1].split(",")[0] for row in rows] == [
        "65536",
        "32768",
        "16384",
        "16384",
        "16384",
    ]


def test_clipping_is_shown_on_a_16_bit_forward_pass(program, layer_dtypes):
    program("amp/clipping.py")
    assert layer_dtypes == {FP16}


def test_accumulation_is_shown_in_16_bits_beside_the_big_batch_in_fp32(program, layer_dtypes):
    program("amp/accumulation.py")
    assert layer_dtypes == {FP16, FP32}


def test_the_gradient_penalty_is_shown_on_a_16_bit_forward_pass(program, layer_dtypes):
    program("amp/gradient_penalty.py")
    assert layer_dtypes == {FP16}


# Custom functions


def test_custom_fwd_hands_a_function_fp32_inputs_and_turns_autocast_off(device):
    seen = {}

    class Look(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type=device, cast_inputs=torch.float32)
        def forward(ctx, x):
            seen["forward"] = (x.dtype, torch.is_autocast_enabled(device))
            return x.clone()

        @staticmethod
        @torch.amp.custom_bwd(device_type=device)
        def backward(ctx, gradient):
            seen["backward"] = torch.is_autocast_enabled(device)
            return gradient

    with torch.autocast(device, dtype=FP16):
        x = torch.ones(2, dtype=FP16, device=device, requires_grad=True)
        out = Look.apply(x)
    out.sum().backward()
    assert seen == {"forward": (FP32, False), "backward": False}
    assert out.dtype == FP32
    assert x.grad.dtype == FP16


def test_custom_bwd_runs_backward_with_the_autocast_state_of_forward(device):
    seen = {}

    class Look(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type=device)
        def forward(ctx, x):
            seen["forward"] = torch.is_autocast_enabled(device)
            return x.clone()

        @staticmethod
        @torch.amp.custom_bwd(device_type=device)
        def backward(ctx, gradient):
            seen["backward"] = torch.is_autocast_enabled(device)
            return gradient

    x = torch.ones(2, device=device, requires_grad=True)
    with torch.autocast(device, dtype=FP16):
        out = Look.apply(x)
    out.sum().backward()  # outside the region
    assert seen == {"forward": True, "backward": True}


def test_the_custom_function_runs_backward_without_autocast_too(program, device):
    """Even where somebody calls backward inside the region."""
    seen = []

    class Context:
        def save_for_backward(self, *tensors):
            self.tensors = tensors

        @property
        def saved_tensors(self):
            seen.append(torch.is_autocast_enabled(device))
            return self.tensors

    cube, context = program("amp/custom_function.py")["Cube"], Context()
    with torch.autocast(device, dtype=FP16):
        cube.forward(context, torch.ones(1, device=device))
        cube.backward(context, torch.ones(1, device=device))
    assert seen == [False]


def test_the_custom_function_holds_a_value_that_fp16_cannot(program):
    names = program("amp/custom_function.py")
    assert names["hidden"].dtype == FP16
    assert names["cube"].item() == 125000
    assert (names["hidden"] ** 3).isinf()
    assert names["layer"].weight.grad.eq(7500).all()


# Saving, evaluating, switching off


def test_resuming_equals_not_stopping_bit_for_bit(program):
    names = program("amp/resume.py")
    assert weights(names["model"]).equal(weights(names["straight_model"]))
    resumed, straight = (
        names[name].state_dict()["state"] for name in ("optimizer", "straight_optimizer")
    )
    assert all(torch.equal(resumed[i][k], straight[i][k]) for i in straight for k in straight[i])
    assert names["scaler"].state_dict() == names["straight_scaler"].state_dict()


def test_what_is_resumed_is_training_in_16_bits(program, layer_dtypes):
    program("amp/resume.py")
    assert layer_dtypes == {FP16}


@pytest.mark.parametrize("left_out", ["model", "optimizer", "scaler"])
def test_resuming_without_one_of_the_three_states_is_another_training(program, left_out):
    names = program("amp/resume.py")
    file = io.BytesIO(names["file"].getvalue())
    checkpoint = torch.load(file, map_location=names["device"])
    parts = dict(zip(("model", "optimizer", "scaler"), names["start"](), strict=True))
    if left_out == "model":
        parts["model"].weight.data.zero_()
    for name, part in parts.items():
        if name != left_out:
            part.load_state_dict(checkpoint[name])
    names["train"](*parts.values(), steps=3)
    same = weights(parts["model"]).equal(weights(names["straight_model"]))
    same_scaler = parts["scaler"].state_dict() == names["straight_scaler"].state_dict()
    assert not (same and same_scaler)


def test_evaluation_needs_autocast_and_eval_but_no_scaler(program):
    names = program("amp/evaluate.py")
    assert not names["model"].training
    assert names["logits"].dtype == FP16
    assert not names["logits"].requires_grad
    assert "scaler" not in names


def test_a_softmax_in_16_bits_loses_the_small_probabilities(program):
    names = program("amp/evaluate.py")
    assert names["probabilities"].min() > 0
    assert names["logits"].softmax(dim=1).min() == 0


def test_enabled_false_is_the_plain_fp32_loop_bit_for_bit(program, problem):
    inputs, targets, _ = problem
    names = program("amp/enabled.py")
    torch.manual_seed(1)
    model = nn.Linear(4, 1).to(inputs.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        loss = forward(model, inputs, targets, dtype=None)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert names["use_amp"] is False  # the last round
    assert weights(names["model"]).equal(weights(model))


def test_a_disabled_scaler_returns_the_loss_itself_and_has_no_state(device):
    scaler = torch.amp.GradScaler(device, enabled=False)
    loss = torch.ones(1, device=device)
    assert scaler.scale(loss) is loss
    assert scaler.state_dict() == {}
    assert scaler.get_scale() == 1


# bf16, memory, speed


def test_fp32_weights_catch_the_update_that_bf16_weights_lose(device):
    ends = {}
    for dtype in (BF16, FP32):
        model = nn.Linear(1, 1, bias=False).to(device, dtype)
        nn.init.constant_(model.weight, 2.0)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
        for _ in range(1000):
            optimizer.zero_grad()
            with torch.autocast(device, dtype=BF16):
                loss = model(torch.ones(1, 1, device=device)).sum()
            loss.backward()
            optimizer.step()
        ends[dtype] = model.weight.item()
    assert ends[BF16] == 2
    assert ends[FP32] == pytest.approx(1, abs=1e-4)


def test_what_backward_needs_shrinks_and_nothing_else_does(program):
    names = program("amp/memory.py")
    fp32, mixed = names["fp32"], names["mixed"]
    for row in ("weights", "gradients", "Adam's two averages"):
        assert mixed[row] == fp32[row] > 0
    assert mixed["for backward, batch 4096"] == pytest.approx(
        fp32["for backward, batch 4096"] / 2, rel=0.03
    )


def test_adams_state_is_as_large_as_two_sets_of_weights(program):
    fp32 = program("amp/memory.py")["fp32"]
    assert fp32["Adam's two averages"] == pytest.approx(2 * fp32["weights"], rel=0.01)


def test_with_a_small_batch_autocast_keeps_more_because_of_the_16_bit_weights(program):
    names = program("amp/memory.py")
    fp32, mixed = (names[kind]["for backward, batch    8"] for kind in ("fp32", "mixed"))
    assert mixed > fp32
    copies = (256 * 256 + 256 * 8) * 2 / 2**20  # the two weights that backward multiplies by
    assert mixed == pytest.approx(fp32 / 2 + copies, abs=0.005)


def test_checkpointing_keeps_less_and_leaves_the_gradients_as_they_are(program):
    names = program("amp/checkpointing.py")
    kept = [float(line.split()[-2]) for line in names["__stdout__"].splitlines()[:2]]
    assert kept[1] < kept[0] / 5
    assert names["same"]
    assert all(gradient.ne(0).any() for gradient in names["gradients"][True])


def test_a_compiled_model_computes_what_the_plain_one_does(program):
    names = program("amp/compile.py")
    assert names["compiled"] is not names["model"]
    assert isinstance(names["compiled"], torch._dynamo.eval_frame.OptimizedModule)
    assert names["outputs"].dtype == FP16
    torch.testing.assert_close(names["loss"], names["plain"], rtol=5e-3, atol=0)


def test_timing_waits_for_the_device_before_each_look_at_the_clock(program, monkeypatch, device):
    events = []
    clock = time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: events.append("clock") or clock())
    monkeypatch.setattr(torch.accelerator, "synchronize", lambda: events.append("wait"))
    if device == "cpu":  # stand in for an accelerator by one that calls itself so
        pretend = types.SimpleNamespace(type="pretend")
        monkeypatch.setattr(
            torch.accelerator, "current_accelerator", lambda check_available=False: pretend
        )
        monkeypatch.setattr(nn.Module, "to", lambda self, *args: self)
        randn, autocast = torch.randn, torch.autocast
        monkeypatch.setattr(torch, "randn", lambda *size, device: randn(64, 64))
        linear = nn.Linear
        monkeypatch.setattr(nn, "Linear", lambda *size: linear(64, 64))
        monkeypatch.setattr(torch, "autocast", lambda kind, **options: autocast("cpu", **options))
    names = program("amp/timing.py")
    looks = [before for before, event in zip(events, events[1:], strict=False) if event == "clock"]
    assert set(looks) == {"wait"}
    assert events.count("clock") == 3 * 15 * 2
    assert names["size"] == 4096


def test_timing_leaves_the_warm_up_out(program):
    names = program("amp/timing.py")
    assert len(names["seconds"]) == 15
    assert names["median"] == statistics.median(names["seconds"][5:])


def test_the_tf32_switch_is_read_back_and_leaves_fp32_results(program, device):
    names = program("amp/tf32.py")
    lines = names["__stdout__"].splitlines()
    assert [line.split(":")[0] for line in lines[1:]] == ["tf32", "ieee"]
    errors = [float(line.split("error ")[1]) for line in lines[1:]]
    assert names["product"].dtype == FP32
    assert errors[1] < 1e-5
    ampere = device == "cuda" and torch.cuda.get_device_capability() >= (8, 0)
    assert (errors[0] > 1e-5) == ampere  # only such a GPU has TF32


def pretend_cuda(monkeypatch, capability, bf16):
    """Make torch say that it has a GPU of this compute capability."""
    pretend = types.SimpleNamespace(type="cuda")
    monkeypatch.setattr(
        torch.accelerator, "current_accelerator", lambda check_available=False: pretend
    )
    monkeypatch.setattr(torch.amp, "is_autocast_available", lambda kind: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: bf16)


@pytest.mark.parametrize(
    ("capability", "bf16", "advice"),
    [
        ((9, 0), True, "bf16"),
        ((8, 0), True, "bf16"),
        ((7, 5), False, "fp16 with a scaler"),
        ((7, 0), False, "fp16 with a scaler"),
        ((6, 1), False, "fp32"),
    ],
)
def test_advice_by_gpu_is_bf16_from_ampere_fp16_from_volta(
    program, monkeypatch, capability, bf16, advice
):
    pretend_cuda(monkeypatch, capability, bf16)
    lines = program("amp/support.py")["__stdout__"].splitlines()
    assert f"compute capability {capability[0]}.{capability[1]}" in lines[3]
    assert lines[4].startswith(f"use          : {advice}")


def test_support_asks_for_bf16_that_is_not_emulated(program, monkeypatch):
    asked = []
    pretend_cuda(monkeypatch, (7, 5), False)
    monkeypatch.setattr(
        torch.cuda,
        "is_bf16_supported",
        lambda including_emulation=True: asked.append(including_emulation) or False,
    )
    program("amp/support.py")
    assert asked == [False]


def test_support_has_advice_for_other_accelerators(program, monkeypatch):
    pretend = types.SimpleNamespace(type="mps")
    monkeypatch.setattr(
        torch.accelerator, "current_accelerator", lambda check_available=False: pretend
    )
    assert "fp16 with a scaler; time bf16 too" in program("amp/support.py")["__stdout__"]


# Finding faults


def test_the_first_layer_that_overflows_is_named(program):
    lines = program("amp/find_overflow.py")["__stdout__"].splitlines()
    assert [line.endswith("True") for line in lines] == [True, True, True, False]


def test_the_lowest_number_hides_a_position_completely(program):
    attention = program("amp/mask.py")["attention"]
    assert attention[0].tolist() == [0.5, 0.5, 0, 0]


def test_a_row_that_is_hidden_whole_is_nan_with_minus_infinity_only(program):
    names = program("amp/mask.py")
    assert names["attention"][1].isfinite().all()
    assert names["infinite"][1].isnan().all()


@pytest.mark.parametrize(("dtype", "fits"), [(FP16, False), (BF16, True)])
def test_minus_1e9_does_not_fit_fp16(device, dtype, fits):
    scores = torch.zeros(2, dtype=dtype, device=device)
    hidden = torch.tensor([True, False], device=device)
    if fits:
        assert scores.masked_fill(hidden, -1e9)[0] < -9e8
    else:
        with pytest.raises(RuntimeError, match="without overflow"):
            scores.masked_fill(hidden, -1e9)
