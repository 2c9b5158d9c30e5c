"""The claims about the wrong programs: how large the damage is, and that each cure cures.

That a program shows its symptom is checked by its ``.out``. Here the smallest change that the
lesson recommends is made to the program's text, and the symptom must be gone.
"""

import pytest
import torch

AUTOCAST = "with torch.amp.autocast(device.type, dtype=torch.float16):\n"

#: Prints the gradient's size over what calculus says, where every input is 0.1 and every target
#: 0: the loss is o**2 and the gradient 0.2 * o for the one output o.
GRADIENT = "print(f'{(model.weight.grad / 0.2 / loss.sqrt()).abs().max().item():.2f}')\n"

#: Prints True if the gradient, scaled, is an FP16 number: it was computed in FP16, and by this
#: step alone (what the step before left is unscaled, and would add a part 65536 times smaller).
FP16 = "scaled = model.weight.grad * 65536\nprint(torch.equal(scaled, scaled.half().float()))\n"

#: Prints how many steps the scaler has seen since its scale last changed.
CLEAN_STEPS = "print(scaler.state_dict()['_growth_tracker'])\n"


def figures(text: str) -> dict[str, float]:
    """The numbers of lines such as ``step taken:  -0.2``, by label."""
    pairs = (line.split(":") for line in text.splitlines() if ":" in line)
    return {label: float(value.split()[0]) for label, value in pairs}


# The scale: put on, taken off, updated


def test_backward_on_the_unscaled_loss_shrinks_the_step_65536_times(program):
    run = program("amp/wrong/unscaled_loss.py")
    assert run["wanted"] / run["taken"] == pytest.approx(65536)
    assert run["scaler"].state_dict()["_growth_tracker"] == 1  # it saw nothing wrong


def test_backward_on_the_scaled_loss_takes_the_step_wanted(cured):
    printed = cured(
        "amp/wrong/unscaled_loss.py",
        ("scaler.scale(loss)\nloss.backward()", "scaler.scale(loss).backward()"),
        ("weight.grad[0, 0].item()", "weight.grad[0, 0].item() / scaler.get_scale()"),
        then=FP16,
    )
    assert printed.endswith("\nTrue\n")
    seen = figures(printed)
    assert seen["step taken"] == seen["step wanted"] == pytest.approx(-0.2, rel=1e-3)


def test_scaling_the_loss_gives_the_scaler_its_scale(cured):
    printed = cured(
        "amp/wrong/scale_forgotten.py",
        ("loss.backward()", "scaler.scale(loss).backward()"),
        then="print(scaler.get_scale())\n" + GRADIENT + FP16,
    )
    assert printed.split() == ["65536.0", "1.00", "True"]


def test_stepping_on_scaled_gradients_makes_the_step_65536_times_too_large(program):
    run = program("amp/wrong/step_on_scaled.py")
    assert run["taken"] / run["wanted"] == pytest.approx(65536)


def test_scaler_step_takes_the_step_wanted_from_scaled_gradients(cured):
    seen = figures(
        cured("amp/wrong/step_on_scaled.py", ("optimizer.step()", "scaler.step(optimizer)"))
    )
    assert seen["too large"] == 1


def test_clipping_scaled_gradients_shrinks_the_step_65536_times(program):
    run = program("amp/wrong/clip_scaled.py")
    step = run["model"].weight.norm().item()
    assert step == pytest.approx(run["max_norm"] / 65536, rel=1e-3)
    assert run["scaler"].state_dict()["_growth_tracker"] == 1  # it saw nothing wrong


def test_unscaling_before_the_clip_makes_the_step_as_long_as_the_clip_allows(cured):
    change = ("norm = nn", "scaler.unscale_(optimizer)\nnorm = nn")
    seen = figures(cured("amp/wrong/clip_scaled.py", change))
    assert seen["norm that the clip saw"] == 0.4
    assert seen["length of step taken"] == pytest.approx(seen["length of step wanted"], rel=1e-3)


def test_update_after_each_step_cures_step_has_already_been_called(cured):
    step = "    scaler.step(optimizer)\n"
    printed = cured(
        "amp/wrong/no_update.py", (step, step + "    scaler.update()\n"), then=GRADIENT + FP16
    )
    assert printed == "step 0\nstep 1\n1.00\nTrue\n"


def test_scaler_step_gives_update_its_check(cured):
    change = ("optimizer.step()", "scaler.step(optimizer)")
    printed = cured(
        "amp/wrong/update_without_step.py",
        change,
        then="print(scaler.get_scale())\n" + GRADIENT + FP16,
    )
    assert printed.split() == ["65536.0", "1.00", "True"]


def test_unscaling_once_after_all_micro_batches_cures_unscale_twice(cured):
    clip = "nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)\n"
    printed = cured(
        "amp/wrong/unscale_twice.py",
        (f"    scaler.unscale_(optimizer)\n    {clip}", f"scaler.unscale_(optimizer)\n{clip}"),
        ("for micro_batch", "before = model.weight.clone()\nfor micro_batch"),
        then="loss = 2 * loss\n"
        + GRADIENT
        + FP16
        + CLEAN_STEPS
        + "print(torch.allclose(before - model.weight, 0.1 * model.weight.grad, atol=1e-6))\n",
    )
    assert printed == "micro-batch 0\nmicro-batch 1\n1.00\nTrue\n1\nTrue\n"


def test_unscaling_before_the_step_cures_unscale_after_step(cured):
    printed = cured(
        "amp/wrong/unscale_after_step.py",
        (
            "scaler.step(optimizer)\nscaler.unscale_(optimizer)\n",
            "scaler.unscale_(optimizer)\nscaler.step(optimizer)\n",
        ),
        then=GRADIENT + FP16,
    )
    assert printed == "1.00\nTrue\n"


def test_an_optimizer_without_a_closure_works_with_a_scaler(cured):
    printed = cured(
        "amp/wrong/closure.py",
        ("LBFGS(model.parameters())", "SGD(model.parameters())"),
        # Twice: the closure starts from no gradient however often it is called.
        ("scaler.step(optimizer, closure=closure)", "closure()\nloss = closure()"),
        then="scaler.step(optimizer)\n" + GRADIENT + FP16,
    )
    assert printed == "1.00\nTrue\n"


def test_a_closure_without_its_name_is_not_refused_and_sees_scaled_gradients(cured):
    printed = cured(
        "amp/wrong/closure.py",
        ("LBFGS(model.parameters())", "SGD(model.parameters())"),
        (
            "scaler.step(optimizer, closure=closure)",
            "closure()\nscaler.step(optimizer, closure)\nloss = closure()",
        ),
        then=GRADIENT,
    )
    assert float(printed) == pytest.approx(65536, rel=0.01)


def test_an_optimizer_with_a_closure_works_in_bf16_without_a_scaler(cured):
    printed = cured(
        "amp/wrong/closure.py",
        ("float16", "bfloat16"),
        ("scaler.scale(loss).backward()", "loss.backward()"),
        ("scaler.step(optimizer, closure=closure)", "before = optimizer.step(closure)"),
        then="print(closure().item() < 0.1 * before.item())\n",
    )
    assert printed == "True\n"


def test_skipping_the_empty_state_of_a_disabled_scaler_lets_the_run_resume(cured):
    printed = cured(
        "amp/wrong/disabled_state.py",
        ("scaler.load_state_dict", 'if checkpoint["scaler"]:\n    scaler.load_state_dict'),
        then="print(scaler.is_enabled())\n",
    )
    assert printed == "saved: {'scaler': {}}\nTrue\n"


# A gradient for each weight


def test_an_optimizer_built_from_the_final_model_has_its_inf_checks(cured):
    build = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    ready = "scaler = torch.amp.GradScaler(device.type)\n"
    printed = cured("amp/wrong/no_inf_checks.py", (build, ""), (ready, build + ready), then=FP16)
    assert printed.startswith("gradient of the weight that the optimizer knows: tensor([[")
    assert printed.endswith("\nTrue\n")


def test_zero_grad_at_the_start_keeps_the_gradient_for_the_step(cured):
    printed = cured(
        "amp/wrong/zero_grad_between.py",
        ("optimizer.zero_grad()\n", ""),
        (AUTOCAST, "optimizer.zero_grad()\n" + AUTOCAST),
        then=GRADIENT + FP16,
    )
    assert printed.startswith("gradient: tensor([[")
    assert printed.endswith("\n1.00\nTrue\n")


def test_zero_grad_that_keeps_zeros_loses_the_update_without_an_error(cured):
    printed = cured(
        "amp/wrong/zero_grad_between.py",
        ("zero_grad()", "zero_grad(set_to_none=False)"),
        ("scaler.step(optimizer)", "before = model.weight.clone()\nscaler.step(optimizer)"),
        then="print(torch.equal(model.weight, before))\n",
    )
    assert printed.endswith("\nTrue\n")


def test_the_guard_keeps_the_scheduler_from_moving_on_a_skipped_step(cured):
    guard = "old = scaler.get_scale()\nscaler.update()\nif scaler.get_scale() >= old:\n    "
    change = ("scaler.update()\n", guard)
    skipped = figures(cured("amp/wrong/scheduler_unguarded.py", change))
    assert skipped == {"scale": 32768, "learning rate": 0.1}
    stepped = figures(cured("amp/wrong/scheduler_unguarded.py", change, ("1000.0", "0.1")))
    assert stepped == {"scale": 65536, "learning rate": 0.05}


# Weights in 16 bits


def test_fp32_weights_under_autocast_have_gradients_that_can_be_unscaled(cured):
    assert cured("amp/wrong/half_model.py", (".half()", "")) == "gradient: torch.float32\n"


def test_fp32_weights_under_autocast_keep_adam_from_nan(cured):
    printed = cured("amp/wrong/half_adam.py", ("model.half()\n", ""))
    assert printed.splitlines()[-1] == "weight:           [[-0.001, 0.0]]"


def test_autocast_around_each_forward_sees_the_weights_of_each_step(cured):
    loss = "loss = nn.functional.mse_loss(model(inputs), targets)\n"
    printed = cured(
        "amp/wrong/step_in_autocast.py",
        (AUTOCAST + "    for", "if True:\n    for"),
        (8 * " " + loss, 8 * " " + AUTOCAST + 12 * " " + loss),
        then=FP16,
    )
    *lines, fresh = printed.splitlines()
    assert fresh == "True"
    losses = [float(line.split()[-1]) for line in lines]
    assert len(losses) == 5
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.1 * losses[0]


def test_autocast_without_its_cache_sees_the_weights_of_each_step(cured):
    printed = cured("amp/wrong/step_in_autocast.py", ("dtype=torch.float16", "cache_enabled=False"))
    losses = [float(line.split()[-1]) for line in printed.splitlines()]
    assert losses[-1] < 0.1 * losses[0]


# The range of FP16


def test_inputs_of_ordinary_size_cure_the_forward_overflow(cured):
    printed = cured("amp/wrong/forward_overflow.py", ("20000.0", "1.0")).splitlines()
    assert printed[0] == "step   0  loss 16.0  scale 65536.0"
    assert float(printed[2].split()[3]) < 1e-3
    assert float(printed[2].split()[-1]) >= 1


def test_bf16_has_the_range_that_the_forward_overflow_lacks(cured):
    printed = cured(
        "amp/wrong/forward_overflow.py",
        ("dtype=torch.float16", "dtype=torch.bfloat16"),
        ("lr=0.1", "lr=1e-10"),  # the gradients are huge, as the inputs are
    )
    first, _, last = (float(line.split()[3]) for line in printed.splitlines()[:3])
    assert first == pytest.approx(80000**2, rel=0.01)
    assert last < 0.01 * first


@pytest.mark.parametrize("lowest", ["torch.finfo(scores.dtype).min", "float('-inf')"])
def test_a_mask_of_the_lowest_value_of_the_dtype_hides_the_future(cured, lowest):
    printed = cured(
        "amp/wrong/mask_overflow.py",
        ("-1e9", lowest),
        then="print(scores.softmax(dim=-1).float().tolist()[1])\n",
    )
    assert printed == "scores: torch.float16\n[0.5, 0.5, 0.0, 0.0]\n"


def test_an_epsilon_that_fp16_can_hold_guards_the_division(cured):
    printed = cured("amp/wrong/tiny_epsilon.py", ("+ 1e-8", "+ 1e-4"))
    assert printed.splitlines()[-1] == "values:  [[0.0, 0.0]]"


def test_dividing_in_fp32_guards_the_division(cured):
    change = ("hidden / (hidden.abs()", "hidden.float() / (hidden.float().abs()")
    assert cured("amp/wrong/tiny_epsilon.py", change).splitlines()[-1] == "values:  [[0.0, 0.0]]"


def test_a_loss_in_fp32_has_a_gradient_that_fp16_can_hold(cured):
    printed = cured(
        "amp/wrong/half_loss.py", (".mean()", ".float().mean()"), then="print(loss.dtype)\n"
    )
    assert "inf" not in printed
    assert "loss:     torch.float32\n" in printed
    assert "scale:    65536.0\n" in printed


# Dtypes that do not fit


def test_casting_to_fp32_cures_mixed_dtypes(cured):
    assert cured("amp/wrong/mixed_dtypes.py", ("head(features)", "head(features.float())"))


def test_staying_inside_autocast_cures_mixed_dtypes(cured):
    assert cured("amp/wrong/mixed_dtypes.py", ("logits = head", AUTOCAST + "    logits = head"))


def test_casting_to_the_dtype_of_the_buffer_cures_index_put(cured):
    printed = cured(
        "amp/wrong/index_put.py",
        ("= outputs\n", "= outputs.to(buffer.dtype)\n"),
        then="print(buffer.any(dim=1).tolist())\n",
    )
    written = [row in (1, 3) for row in range(8)]
    assert printed == f"outputs: torch.float16\nbuffer:  torch.float32\n{written}\n"


def test_custom_fwd_and_custom_bwd_cure_the_plain_custom_function(cured):
    static = "    @staticmethod\n    def "
    amp = "    @staticmethod\n    @torch.amp.custom_{}(device_type=device.type)\n    def "
    printed = cured(
        "amp/wrong/custom_function_plain.py",
        (static + "forward", amp.format("fwd") + "forward"),
        (static + "backward", amp.format("bwd") + "backward"),
        then="print(inputs.grad.unique().tolist())\n",
    )
    assert printed == "gradient: torch.float16\nweight:   torch.float32\n[4.0]\n"


def test_float_before_numpy_cures_the_unsupported_scalar_type(cured):
    printed = cured("amp/wrong/numpy_bfloat16.py", ("outputs.cpu()", "outputs.float().cpu()"))
    assert printed == "outputs: torch.bfloat16\npredictions: float32\n"


def test_float_cures_an_operation_that_exists_in_fp32_only(cured):
    printed = cured("amp/wrong/unsupported_op.py", ("outputs.quantile", "outputs.float().quantile"))
    assert printed == "outputs: torch.float16\nmedian: torch.float32\n"


# Rules of devices


def test_the_new_spelling_warns_no_more(cured):
    printed = cured(
        "amp/wrong/deprecated.py",
        ("torch.cuda.amp.GradScaler(", 'torch.amp.GradScaler("cuda", '),
        ("torch.cuda.amp.autocast(", 'torch.amp.autocast("cuda", '),
    )
    assert printed.count("True") == 2


def test_the_type_of_the_device_cures_the_device_object(cured):
    assert cured("amp/wrong/device_object.py", ("autocast(device,", "autocast(device.type,")) == (
        "product: torch.bfloat16\n"
    )


def test_bce_with_logits_is_safe_under_the_autocast_of_cuda(cured):
    printed = cured(
        "amp/wrong/bce_loss.py",
        (
            "binary_cross_entropy(torch.sigmoid(logits), labels)",
            "binary_cross_entropy_with_logits(logits, labels)",
        ),
        then='print(torch.is_autocast_enabled("cuda"))\n',
    )
    assert printed == "loss: torch.float32\nFalse\n"


def test_bce_loss_passes_under_the_autocast_of_the_cpu():
    import torch

    with torch.amp.autocast("cpu", dtype=torch.float16):
        loss = torch.nn.functional.binary_cross_entropy(torch.rand(4), torch.ones(4))
    assert loss.isfinite()


def test_autocast_for_the_device_of_the_tensors_casts(cured):
    printed = cured(
        "amp/wrong/wrong_device.py",
        (
            'with torch.amp.autocast("cpu", dtype=torch.bfloat16):',
            'torch.set_autocast_enabled("cuda", True)\n    if True:',
        ),
    )
    assert printed == "device:  cuda\nproduct: torch.float16\n"


# The words of the same mistake in other places


def test_writing_to_a_slice_converts_where_writing_by_indices_does_not(cured):
    change = ("buffer[rows] = outputs", "buffer[1:3] = outputs")
    printed = cured("amp/wrong/index_put.py", change, then="print(buffer.any().item())\n")
    assert printed.endswith("True\n")


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (lambda h: torch.nn.Linear(4, 1, bias=False)(h), "expected m1 and m2 to have the same"),
        (lambda h: torch.nn.Conv1d(8, 1, 1)(h), r"Input type \(c10::Half\) and bias type \(float"),
        (lambda h: torch.bmm(h[None], torch.ones(1, 4, 1)), "expected scalar type Half but found"),
    ],
)
def test_mixed_dtypes_have_other_words_in_other_operations(layer, message):
    with pytest.raises(RuntimeError, match=message):
        layer(torch.ones(8, 4, dtype=torch.float16))
