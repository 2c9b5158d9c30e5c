"""The claims about DDP's wrong programs: how large the damage is, and that each cure cures.

That a program shows its symptom is checked by its ``.out``. Here the smallest change that the
page recommends is made to the program's text, and the symptom must be gone.
"""

from dataclasses import replace

import pytest
import torch.distributed as dist

from tests.snippets import runner
from tests.snippets.conftest import ROOT, device_chosen
from tools.snippets import load


def test_each_program_chooses_the_gpu_of_its_rank(monkeypatch):
    for path in (
        "ddp/wrong/broadcast_buffers.py",
        "ddp/wrong/collectives_crossed.py",
        "ddp/wrong/different_models.py",
        "ddp/wrong/different_shapes.py",
        "ddp/wrong/early_stop.py",
        "ddp/wrong/frozen_late.py",
        "ddp/wrong/loss_summed.py",
        "ddp/wrong/module_called.py",
        "ddp/wrong/module_prefix.py",
        "ddp/wrong/no_sync_late.py",
        "ddp/wrong/nothing_to_train.py",
        "ddp/wrong/own_method.py",
        "ddp/wrong/padded_metric.py",
        "ddp/wrong/ready_twice.py",
        "ddp/wrong/static_graph.py",
        "ddp/wrong/uneven_batches.py",
        "ddp/wrong/unfrozen_late.py",
        "ddp/wrong/unused_parameters.py",
        "ddp/wrong/weights_after_wrapping.py",
    ):
        assert device_chosen(path, monkeypatch) == [3], path


# Errors that name the mistake


def test_torchrun_tells_the_rank(cured):
    text = cured("ddp/wrong/no_torchrun.py", then="print(dist.get_rank())\n", count=2)
    assert text == "0\n1\n"


def test_init_process_group_lets_the_model_be_wrapped(cured):
    change = ("ddp = Dist", "torch.distributed.init_process_group()\nddp = Dist")
    then = "print(torch.distributed.get_world_size())\n"
    assert cured("ddp/wrong/no_init.py", change, then=then, count=2) == "2\n2\n"


def test_port_0_is_a_free_one(cured):
    change = ("str(port)", '"0"')
    assert cured("ddp/wrong/port_in_use.py", change, then="print(dist.get_world_size())\n") == "1\n"


def test_without_device_ids_a_model_on_the_cpu_is_wrapped(cured):
    text = cured(
        "ddp/wrong/cpu_model.py", (", device_ids=[local_rank]", ""), then="print(ddp.device_ids)\n"
    )
    assert text.count("None") == 2


def test_a_model_on_one_type_of_device_is_wrapped(cured):
    text = cured(
        "ddp/wrong/layer_left_behind.py", (', device="meta"', ""), then="print('wrapped')\n"
    )
    assert text.count("wrapped") == 2


def test_the_same_model_on_all_ranks_is_wrapped(cured):
    change = ("if dist.get_rank() == 0:", "if True:")
    then = "print(len(list(ddp.parameters())))\n"
    assert cured("ddp/wrong/different_models.py", change, then=then) == "4\n4\n"


def test_a_number_of_classes_that_all_agree_on_is_wrapped(cured):
    change = (
        "classes = len(labels.unique())\n",
        "most = labels.max()\n"
        "dist.all_reduce(most, dist.ReduceOp.MAX)\n"
        "classes = most.item() + 1\n",
    )
    text = cured("ddp/wrong/different_shapes.py", change, then="print(ddp.module.out_features)\n")
    assert text == "3\n3\n"


def test_a_model_with_something_to_train_is_wrapped(cured):
    change = ("model.requires_grad_(False)", "model.weight.requires_grad_(False)")
    assert (
        cured("ddp/wrong/nothing_to_train.py", change, then="print('wrapped')\n").count("wrapped")
        == 2
    )


def test_find_unused_parameters_lets_a_layer_be_unused(cured):
    change = ("Model().to(device))", "Model().to(device), find_unused_parameters=True)")
    text = cured("ddp/wrong/unused_parameters.py", change)
    assert text.splitlines() == [f"rank {r}: step {s} done" for r in (0, 1) for s in (0, 1)]


def test_info_names_the_unused_parameters(ranks):
    printed = ranks("ddp/wrong/unused_parameters.py", before=tell_names)
    for rank, one in enumerate(printed):
        wanted = f"did not receive grad for rank {rank}: second_head.bias, second_head.weight"
        assert wanted in one["__exception__"]


def tell_names():
    dist.set_debug_level(dist.DebugLevel.INFO)


def test_detail_crashes_when_a_model_is_wrapped_on_gloo(device):
    if device != "cpu":
        pytest.skip("a claim about gloo")
    snippet = load("ddp/wrong/unused_parameters.py", ROOT)
    change = ("dist.init", "dist.set_debug_level(dist.DebugLevel.DETAIL)\ndist.init")
    result = runner.run(replace(snippet, source=snippet.source.replace(*change)), device)
    assert not result.ended and result.exit_code == -11


def test_freezing_before_wrapping_trains_the_rest(cured):
    freeze = "model[0].requires_grad_(False)\n"
    changes = ((freeze, ""), ("ddp = Dist", freeze + "ddp = Dist"))
    text = cured("ddp/wrong/frozen_late.py", *changes)
    assert text.splitlines() == [f"rank {r}: step {s} done" for r in (0, 1) for s in (0, 1)]


def test_without_static_graph_the_graph_may_change(cured):
    change = ("static_graph=True", "find_unused_parameters=True")
    text = cured("ddp/wrong/static_graph.py", change)
    assert text.splitlines() == [f"rank {r}: step {s} done" for r in (0, 1) for s in (0, 1, 2)]


def test_checkpointing_without_reentrance_may_use_a_layer_twice(cured):
    changes = (
        (
            "hidden = checkpoint(self.shared, hidden, use_reentrant=True)",
            "hidden = checkpoint(self.shared, hidden, use_reentrant=False)",
        ),
        (
            "return checkpoint(self.shared, hidden, use_reentrant=True)",
            "return checkpoint(self.shared, hidden, use_reentrant=False)",
        ),
    )
    then = "print(ddp.module.shared.weight.grad is not None)\n"
    assert cured("ddp/wrong/ready_twice.py", *changes, then=then) == "True\nTrue\n"


def test_a_method_is_asked_of_the_model(cured):
    text = cured("ddp/wrong/own_method.py", ("print(ddp.", "print(model."))
    assert text.startswith("tensor(")


def test_the_sampler_shuffles_by_itself(cured):
    change = ("shuffle=True, sampler=sampler", "sampler=sampler")
    then = "print(list(sampler), list(DistributedSampler(samples, 2, 0, shuffle=False)))\n"
    order, plain = cured("ddp/wrong/sampler_and_shuffle.py", change, then=then).split("] [")
    assert plain == "0, 2, 4, 6]\n" and order.strip("[") != "0, 2, 4, 6"


def test_a_tensor_can_be_reduced(cured):
    text = cured(
        "ddp/wrong/number_reduced.py", ("loss.item()", "loss"), then="print(loss.item())\n"
    )
    assert text.count("1.0") == 2


def test_the_model_is_saved_without_the_prefix(cured):
    change = ("torch.save(ddp.", "torch.save(model.")
    then = "print(torch.equal(plain.weight, model.weight))\n"
    assert cured("ddp/wrong/module_prefix.py", change, then=then) == "True\nTrue\n"


def test_the_prefix_can_be_taken_off(cured):
    changes = (
        (
            'plain.load_state_dict(torch.load("model.pt", map_location=device))',
            'state = torch.load("model.pt", map_location=device)\n'
            'nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")\n'
            "plain.load_state_dict(state)",
        ),
    )
    then = "print(torch.equal(plain.weight, model.weight))\n"
    assert cured("ddp/wrong/module_prefix.py", *changes, then=then) == "True\nTrue\n"


def test_a_barrier_makes_the_file_ready_for_all(cured):
    changes = (
        ("model.load_state", "dist.barrier()\nmodel.load_state"),
        ("time.sleep(0.5)", "time.sleep(1)"),  # however slow the disk is
    )
    assert cured("ddp/wrong/load_before_save.py", *changes) == "rank 0: loaded\nrank 1: loaded\n"


# Time-outs and hangs


def test_stopping_by_the_mean_loss_stops_all_ranks(cured):
    change = (
        "    if loss < 0.5:",
        "    mean = loss.detach().clone()\n    dist.all_reduce(mean)\n    if mean / 2 <= 0.5:",
    )
    text = cured("ddp/wrong/early_stop.py", change)
    assert text == "rank 0: step 0: loss 1.0\nrank 1: step 0: loss 0.0\n"


def test_the_rank_that_waits_for_a_batch_times_out(ranks):
    waiting, other = ranks("ddp/wrong/uneven_batches.py")
    assert "Timed out waiting 1000ms for recv operation" in waiting["__exception__"]
    assert other["__exception__"] is None


def test_equally_many_batches_end_without_a_time_out(cured):
    text = cured("ddp/wrong/uneven_batches.py", ("5 if rank == 0 else 4", "4"))
    assert text.splitlines()[2] == "rank 0: next epoch"


def test_join_lets_the_ranks_have_unequal_numbers_of_batches(cured):
    changes = (
        ("for step, inputs in", "join = ddp.join()\njoin.__enter__()\nfor step, inputs in"),
        ("time.sleep(2)", "join.__exit__(None, None, None)\ntime.sleep(0)"),
    )
    text = cured("ddp/wrong/uneven_batches.py", *changes)
    assert "rank 0: step 2 done" in text and text.count("next epoch") == 2


def test_the_rank_that_is_alone_at_the_barrier_times_out(ranks):
    alone, other = ranks("ddp/wrong/barrier_on_rank_0.py")
    assert "Timed out waiting 1000ms for recv operation" in alone["__exception__"]
    assert other["__exception__"] is None


def test_a_barrier_outside_of_the_if_is_passed(cured):
    text = cured(
        "ddp/wrong/barrier_on_rank_0.py",
        ("    dist.barrier()\n", "dist.barrier()\n"),
        ("time.sleep(2)", 'torch.load("model.pt")'),  # the next epoch finds the file
    )
    assert text == "rank 0: saved\nrank 0: next epoch\nrank 1: next epoch\n"


# Warnings


def test_forward_sync_buffers_does_not_warn(cured):
    change = ("broadcast_buffers=False", "forward_sync_buffers=False")
    assert cured("ddp/wrong/broadcast_buffers.py", change) == ""


# No message


def test_the_wrapper_averages_what_the_model_inside_does_not(cured):
    text = cured("ddp/wrong/module_called.py", ("ddp.module(inputs)", "ddp(inputs)"))
    steps = ["-0.15", "-0.30", "-0.45"]
    wanted = [f"rank {r}: step {s}: weight {w}" for r in (0, 1) for s, w in enumerate(steps)]
    assert text.splitlines() == wanted


def test_wrapping_after_unfreezing_averages_all_gradients(cured):
    unfreeze = "model[0].requires_grad_(True)\n"
    changes = ((unfreeze, ""), ("ddp = Dist", unfreeze + "ddp = Dist"))
    text = cured("ddp/wrong/unfrozen_late.py", *changes)
    assert [line.split()[-1] for line in text.splitlines()] == ["1.5"] * 4


def test_loading_before_wrapping_gives_all_ranks_the_weights(cured):
    load_it = "if rank == 0:\n    model.load_state_dict(pretrained)\n"
    changes = ((load_it, ""), ("ddp = Dist", load_it + "ddp = Dist"))
    text = cured("ddp/wrong/weights_after_wrapping.py", *changes)
    assert text == "rank 0: weight 2.9\nrank 1: weight 2.9\n"


def test_without_a_sampler_each_rank_sees_all_samples(ranks):
    seen = ranks("ddp/wrong/no_sampler.py", after=all_batches)
    assert sorted(seen[0]["__after__"]) == list(range(8))
    assert seen[0]["__stdout__"].split(": ")[1] == seen[1]["__stdout__"].split(": ")[1]


def all_batches(namespace):
    return [n for (batch,) in namespace["loader"] for n in batch.tolist()]


def test_a_sampler_shares_the_samples(cured):
    changes = (
        (
            "import DataLoader, TensorDataset",
            "import DataLoader, DistributedSampler, TensorDataset",
        ),
        ("shuffle=True", "sampler=DistributedSampler(samples)"),
    )
    text = cured("ddp/wrong/no_sampler.py", *changes)
    assert shares(text) == [list(range(8))]


def shares(text):
    """The samples of the two ranks' lines taken together, in order, once for each pair."""
    lines = [eval(line.split(": ")[-1]) for line in text.splitlines()]
    half = len(lines) // 2
    return [
        sorted(n for batch in one + other for n in batch)
        for one, other in zip(lines[:half], lines[half:], strict=True)
    ]


def test_set_epoch_gives_each_epoch_its_order(cured):
    change = ("    print(", "    sampler.set_epoch(epoch)\n    print(")
    text = cured("ddp/wrong/no_set_epoch.py", change)
    orders = {line.split(": ")[-1] for line in text.splitlines()[:3]}
    assert len(orders) == 3
    assert shares(text) == [list(range(8))] * 3


def test_a_stream_that_skips_what_others_read_is_shared(cured):
    change = ("yield from range(8)", "yield from range(rank, 8, 2)")
    assert shares(cured("ddp/wrong/iterable_dataset.py", change)) == [list(range(8))]


def test_sharing_without_padding_counts_each_answer_once(cured):
    changes = (
        (
            "sampler = DistributedSampler(TensorDataset(right), shuffle=False)",
            "sampler = range(dist.get_rank(), len(right), 2)",
        ),
    )
    assert cured("ddp/wrong/padded_metric.py", *changes) == "1 of 5 right\n"


def test_the_environment_knows_the_local_rank(cured):
    change = (
        "local_rank = parser.parse_args().local_rank",
        'local_rank = int(os.environ["LOCAL_RANK"])',
    )
    text = cured("ddp/wrong/local_rank_argument.py", change)
    assert text.splitlines()[1] == "rank 1: local_rank 1, LOCAL_RANK 1"


def test_forward_inside_no_sync_leaves_the_gradients_alone(cured):
    changes = (
        ("loss = ddp(inputs).mean()\n", ""),
        ("    loss.backward()", "    ddp(inputs).mean().backward()"),
    )
    text = cured("ddp/wrong/no_sync_late.py", *changes)
    assert text == "rank 0: gradient 1.0\nrank 1: gradient 2.0\n"


def test_the_same_order_on_all_ranks_keeps_the_numbers_apart(cured):
    change = (" if rank == 0 else (right, loss)", "")
    text = cured("ddp/wrong/collectives_crossed.py", change)
    assert text == "rank 0: loss 1.0, right 80.0\nrank 1: loss 1.0, right 80.0\n"


def test_rank_0_alone_saves_its_own(cured):
    change = ("torch.save(", "if rank == 0:\n    torch.save(")
    text = cured("ddp/wrong/save_on_all_ranks.py", change)
    assert [line[-3:] for line in text.splitlines()] == ["0.2", "0.2"]


def test_the_last_to_save_wins_whichever_it_is(changed):
    change = ("0.5 * rank", "0.5 * (1 - rank)")
    text = changed("ddp/wrong/save_on_all_ranks.py", change)
    assert [line[-3:] for line in text.splitlines()] == ["0.2", "0.2"]


def test_dividing_the_sum_gives_the_mean(cured):
    change = ("dist.all_reduce(loss)\n", "dist.all_reduce(loss)\nloss /= dist.get_world_size()\n")
    assert cured("ddp/wrong/loss_summed.py", change) == "loss 0.5\n"
