"""The claims of the lesson on DistributedDataParallel: each test would fail were its claim false.

Where a program shows the claim, the test looks at its output and at its variables on each rank;
otherwise it plants the smallest program of its own, which runs in the same way.
"""

import os
import pickle
import re
import socket
import statistics
import subprocess
import sys
import textwrap

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DistributedSampler

from tests import kept
from tests.snippets import launches, runner
from tests.snippets.conftest import ROOT, left
from tools import pages
from tools.snippets import load, load_all

HEAD = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 5
# ranks = 2
# ///
"""A program of a test."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
if device.type != "cpu":
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
dist.init_process_group()
rank = dist.get_rank()


def collectives(function):
    """The names of the collectives that `function` calls, as the profiler sees them."""
    with profile(activities=[ProfilerActivity.CPU]) as watched:
        function()
    return [event.name for event in watched.events() if event.name.startswith("c10d::")]


'''
TAIL = """
ddp = None
dist.destroy_process_group()
"""


@pytest.fixture(autouse=True)
def one_thread():
    """Compute in one thread, as each rank does."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def planted(tmp_path, device):
    """Run `body` on two ranks; for each, return the named variables and ``__stdout__``."""

    def run(body, names, source=None, folder=None):
        place = tmp_path / "planted" / "ddp"
        place.mkdir(parents=True, exist_ok=True)
        text = source or HEAD + textwrap.dedent(body) + TAIL
        (place / "planted.py").write_text(text)
        result, ran = kept.run_ranks(
            load("ddp/planted.py", place.parent),
            device,
            probe=runner.Probe(tuple(names)),
            folder=folder,
        )
        assert not result.exception, result.traceback
        assert not result.timed_out, result.stderr
        return [pickle.loads(one["kept"]) | {"__stdout__": one["stdout"]} for one in ran]

    return run


def numbers(line):
    """The numbers of a line of output, behind its last colon or word."""
    return [float(number) for number in re.findall(r"-?\d+\.\d+", line)]


def flat(state):
    """All tensors of a state_dict as one vector."""
    return torch.cat([tensor.flatten().double() for tensor in state.values()])


def losses(text):
    """The losses of the epochs that a program printed."""
    return {
        int(epoch): float(loss)
        for epoch, loss in re.findall(r"epoch +(\d+): loss (\d+\.\d+)", text)
    }


# torchrun, and the commands that the page prints


def test_torchrun_shows_one_rank_and_keeps_the_others_in_files(device):
    """The command as the page prints it, in a folder that holds the program alone."""
    if device != "cpu":
        pytest.skip("the page shows what the command prints on a CPU")
    fences = pages.load_all()["en"]["ddp"].fences
    (command,) = [f.body for f in fences if f.lang == "bash" and "--local-ranks-filter" in f.body]
    [(out, _)], left = launches.as_printed([command], [load("ddp/launch.py", ROOT).file])
    first, second = (
        "".join(
            line + "\n"
            for line in load("ddp/launch.py", ROOT).out_path().read_text().split("\n")
            if line.startswith(rank)
        )
        for rank in ("rank 0", "rank 1")
    )
    assert "rank 0" in out
    assert "rank 1" not in out
    logs = {name.split("/")[-2]: text for name, text in left.items() if "stdout.log" in name}
    assert logs == {"0": first.encode(), "1": second.encode()}


def test_every_rank_is_told_who_it_is_and_gets_the_sum(lesson):
    ran = lesson("ddp/launch.py", ["rank", "number"])
    assert [one["rank"] for one in ran] == [0, 1]
    assert [one["number"].item() for one in ran] == [3, 3]
    for number, one in enumerate(ran):
        assert f"RANK={number} LOCAL_RANK={number} WORLD_SIZE=2" in one["__stdout__"]


def test_every_program_that_wraps_a_model_ends_with_the_two_lines():
    wrapping = [
        program
        for program in load_all(ROOT)
        if "DistributedDataParallel(" in program.source and "/wrong/" not in program.path
    ]
    assert len(wrapping) > 10
    for program in wrapping:
        code = [line for line in program.source.splitlines() if line and "--8<--" not in line]
        assert re.match(r"del (\w+, )*ddp\b", code[-2]), program.path
        assert code[-1] == "dist.destroy_process_group()", program.path


def test_a_rank_that_leaves_early_takes_its_connections_with_it(planted):
    ran = planted(
        """
        import time

        message = "it went well"
        if rank == 1:
            time.sleep(1)
            try:
                dist.all_reduce(torch.ones(1, device=device))
            except RuntimeError as error:
                message = str(error)
        """,
        ["message"],
    )
    assert re.search("Connection (closed|reset) by peer", ran[1]["message"])


# Wrapping


def test_wrapping_gives_every_rank_the_weights_of_rank_0(lesson):
    first, second = (one["__stdout__"].splitlines() for one in lesson("ddp/wrap.py"))
    created, wrapped = ([numbers(text[i])[0] for text in (first, second)] for i in (0, 1))
    assert created[0] != created[1]
    assert wrapped == [created[0]] * 2


def test_gradients_are_averaged_not_summed(lesson):
    ran = lesson("ddp/wrap.py", ["own", "model"])
    assert [one["own"].item() for one in ran] == [1, 3]
    averaged = [numbers(one["__stdout__"].splitlines()[3])[0] for one in ran]
    assert averaged == [2, 2]


def test_ranks_that_start_alike_and_step_alike_stay_alike(lesson):
    first, second = (one["model"] for one in lesson("ddp/wrap.py", ["model"]))
    assert first["weight"].equal(second["weight"])


def test_weights_are_not_sent_after_the_start(planted):
    ran = planted(
        """
        model = nn.Linear(4, 1).to(device)
        ddp = DistributedDataParallel(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


        def step():
            optimizer.zero_grad()
            ddp(torch.ones(2, 4, device=device) * (1 + rank)).mean().backward()
            optimizer.step()


        for _ in range(2):  # in the second step DDP agrees on the order of its buckets, once
            step()
        called = collectives(step)
        wrapping = collectives(lambda: DistributedDataParallel(nn.Linear(4, 1).to(device)))
        """,
        ["called", "wrapping"],
    )
    for one in ran:
        assert one["called"] == ["c10d::allreduce_"]
        assert "c10d::broadcast_" in one["wrapping"]


def test_training_past_the_wrapper_lets_the_ranks_drift_apart(planted):
    body = """
        torch.manual_seed(0)
        model = nn.Linear(4, 1).to(device)
        ddp = DistributedDataParallel(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            {forward}(torch.ones(2, 4, device=device) * (1 + rank)).mean().backward()
            optimizer.step()
        """
    through = planted(body.format(forward="ddp"), ["model"])
    past = planted(body.format(forward="ddp.module"), ["model"])
    assert flat(through[0]["model"]).equal(flat(through[1]["model"]))
    assert not flat(past[0]["model"]).allclose(flat(past[1]["model"]), atol=0.1)


def test_a_bucket_is_sent_while_gradients_are_still_missing(lesson):
    events = lesson("ddp/buckets.py")[0]["__stdout__"].splitlines()
    assert events.index("bucket 0 is sent: 32768 bytes") < events.index(
        "gradient of layer 0 is ready"
    )
    ready = [line.split()[3] for line in events if line.startswith("gradient")]
    assert ready == ["3", "2", "1", "0"]


def test_a_bucket_holds_25_mib_by_default(planted):
    ran = planted(
        """
        ddp = DistributedDataParallel(nn.Linear(1, 1).to(device))
        capacity = ddp.bucket_bytes_cap
        """,
        ["capacity"],
    )
    assert ran[0]["capacity"] == 25 * 2**20


# The sampler


def test_over_all_ranks_each_sample_is_seen_once_an_epoch(lesson):
    ran = lesson("ddp/sampler.py", ["epochs", "seen"])
    for epoch in range(2):
        assert sorted(ran[0]["epochs"][epoch] + ran[1]["epochs"][epoch]) == list(range(8))
    assert all(one["seen"].tolist() == [1] * 8 for one in ran)


def test_the_order_changes_between_epochs_only_with_set_epoch(lesson):
    for one in lesson("ddp/sampler.py", ["forgotten", "epochs"]):
        assert one["forgotten"][0] == one["forgotten"][1]
        assert one["epochs"][0] != one["epochs"][1]


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_shares_of_a_batch_are_those_of_one_process(ranks):
    """The whole batch has the same 64 samples, however many ranks share it."""
    for epoch in (0, 7):
        samplers = [
            DistributedSampler(range(512), num_replicas=ranks, rank=r) for r in range(ranks)
        ]
        alone = DistributedSampler(range(512), num_replicas=1, rank=0)
        for sampler in [*samplers, alone]:
            sampler.set_epoch(epoch)
        shares, order = [list(sampler) for sampler in samplers], list(alone)
        size = 64 // ranks
        for batch in range(8):
            together = [i for s in shares for i in s[batch * size : (batch + 1) * size]]
            assert sorted(together) == sorted(order[batch * 64 : (batch + 1) * 64])


def test_the_order_depends_on_seed_and_epoch_alone():
    resumed = DistributedSampler(range(512), num_replicas=2, rank=0)
    resumed.set_epoch(12)
    straight = DistributedSampler(range(512), num_replicas=2, rank=0)
    for epoch in range(13):
        straight.set_epoch(epoch)
        order = list(straight)
    assert list(resumed) == order
    other = DistributedSampler(range(512), num_replicas=2, rank=0, seed=1)
    other.set_epoch(12)
    assert list(other) != order


def test_different_seeds_of_the_sampler_lose_samples():
    shares = [
        list(DistributedSampler(range(512), num_replicas=2, rank=r, seed=r)) for r in range(2)
    ]
    assert len(set(shares[0] + shares[1])) < 512


def test_drop_last_leaves_out_what_does_not_divide_evenly():
    shares = [
        list(DistributedSampler(range(7), 2, r, shuffle=False, drop_last=True)) for r in range(2)
    ]
    assert shares == [[0, 2, 4], [1, 3, 5]]


# Saving


def slow_save():
    """Let saving take a second, and count it (runs in each rank, ahead of the program)."""
    import time

    save, dist.saved = torch.save, 0

    def slowly(what, name):
        time.sleep(1)
        save(what, name)
        dist.saved += 1

    torch.save = slowly


def saved(names):
    from torch.serialization import save

    torch.save = save
    return dist.saved


def test_nobody_loads_before_rank_0_has_saved(lesson):
    ran = lesson("ddp/save.py", ["fresh", "model"], before=slow_save, after=saved)
    assert [one["__after__"] for one in ran] == [1, 0]
    assert ran[0]["fresh"]["weight"].equal(ran[1]["fresh"]["weight"])


def test_what_is_loaded_is_what_was_saved_and_has_the_keys_of_the_plain_model(lesson):
    for one in lesson("ddp/save.py", ["fresh", "model"]):
        assert one["fresh"]["weight"].equal(one["model"]["weight"])
        assert "keys of model ['weight'], of ddp ['module.weight']" in one["__stdout__"]


# The complete program


def watch():
    """Note what a program saves, which epochs its sampler is told, and the calls of its model."""
    save, tell = torch.save, DistributedSampler.set_epoch
    forward, to = nn.Sequential.forward, torch.Tensor.to
    dist.watched = {"saves": [], "epochs": [], "with_grad": [], "moved": []}

    def saving(what, name):
        dist.watched["saves"].append(name)
        save(what, name)

    def telling(self, epoch):
        dist.watched["epochs"].append(epoch)
        tell(self, epoch)

    def calling(self, inputs):
        dist.watched["with_grad"].append(torch.is_grad_enabled())
        return forward(self, inputs)

    def moving(self, *arguments, **options):
        if self.dim() and not isinstance(self, nn.Parameter):
            dist.watched["moved"].append(len(self))
        return to(self, *arguments, **options)

    torch.save, DistributedSampler.set_epoch = saving, telling
    nn.Sequential.forward, torch.Tensor.to = calling, moving
    dist.unwatched = (save, tell, forward, to)


def watched(names):
    """What was noted; everything is as before `watch` again."""
    torch.save, DistributedSampler.set_epoch, nn.Sequential.forward, torch.Tensor.to = (
        dist.unwatched
    )
    return dist.watched | {"files": sorted(os.listdir()), **left(names)}


def test_every_batch_is_moved_to_the_device_and_evaluation_makes_no_graph(program):
    watch()
    try:
        program("ddp/single.py")
    finally:
        seen = watched({})
    assert seen["with_grad"] == [True] * 8 * 31 + [False]
    assert seen["moved"] == [64] * 2 * 8 * 31 + [512] * 2


def test_rank_0_alone_prints_and_saves_and_every_epoch_is_told(lesson):
    first, second = lesson("ddp/train.py", before=watch, after=watched)
    assert len(losses(first["__stdout__"])) == 7
    assert second["__stdout__"] == ""
    # Never under the final name: a program killed while it writes leaves the last file whole.
    assert first["__after__"]["saves"] == ["checkpoint.new"] * 7
    assert second["__after__"]["saves"] == []
    for one in (first, second):
        assert one["__after__"]["epochs"] == list(range(31))
        assert not one["__after__"]["group"]
        assert not one["__after__"]["ddp"]
    assert first["__after__"]["files"] == ["spirals.pt"]
    assert first["__after__"]["with_grad"] == [True] * 8 * 31 + [False]
    assert second["__after__"]["with_grad"] == [True] * 8 * 31
    for one, at_the_end in ((first, [512] * 2), (second, [])):
        assert one["__after__"]["moved"] == [32] * 2 * 8 * 31 + at_the_end


def test_at_the_end_all_ranks_have_the_same_weights_and_they_are_good(lesson, tmp_path):
    ran = lesson("ddp/train.py", ["model", "points", "labels"], folder=tmp_path)
    assert flat(ran[0]["model"]).equal(flat(ran[1]["model"]))
    saved = torch.load(tmp_path / "spirals.pt", map_location="cpu")["model"]
    assert flat(saved).equal(flat(ran[0]["model"]))
    model = nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
    )
    model.load_state_dict(saved)
    guessed = model(ran[0]["points"]).argmax(dim=1)
    assert (guessed == ran[0]["labels"]).float().mean() > 0.97


@pytest.mark.parametrize("count", [1, 4])
def test_any_number_of_ranks_trains_alike(lesson, count):
    two = losses(lesson("ddp/train.py")[0]["__stdout__"])
    other = losses(lesson("ddp/train.py", count=count)[0]["__stdout__"])
    assert other.keys() == two.keys()
    for epoch in two:
        assert other[epoch] == pytest.approx(two[epoch], rel=0.02, abs=0.0021)


def test_two_ranks_learn_as_one_device_does(lesson, program):
    alone = losses(program("ddp/single.py")["__stdout__"])
    two = losses(lesson("ddp/train.py")[0]["__stdout__"])
    assert alone.keys() == two.keys()
    assert max(alone[30], two[30]) < 0.05
    assert statistics.mean(abs(alone[e] - two[e]) for e in alone) < 0.05


def test_a_resumed_run_continues_as_if_it_had_never_stopped(lesson, planted, tmp_path):
    """Stopped in epoch 13, whose last checkpoint is that of epoch 10."""
    names = ["model", "optimizer", "start"]
    straight = lesson("ddp/train.py", names)
    source = load("ddp/train.py", ROOT).source
    interrupted = source.replace("range(start, 31)", "range(start, 13)").replace(
        'os.replace("checkpoint.pt", "spirals.pt")', "pass"
    )
    assert interrupted.count("range(start, 13)") == interrupted.count("    pass") == 1
    folder = tmp_path / "work"
    folder.mkdir()
    stopped = planted("", ["model"], source=interrupted, folder=folder)
    assert not flat(stopped[0]["model"]).equal(flat(straight[0]["model"]))
    resumed = lesson("ddp/train.py", names, folder=folder)
    for one, other in zip(resumed, straight, strict=True):
        assert (one["start"], other["start"]) == (11, 0)
        assert flat(one["model"]).equal(flat(other["model"]))
        for mine, theirs in zip(
            one["optimizer"]["state"].values(), other["optimizer"]["state"].values(), strict=True
        ):
            assert mine["exp_avg_sq"].equal(theirs["exp_avg_sq"])
    assert min(losses(resumed[0]["__stdout__"])) == 15


# The same as one process


def test_two_ranks_and_one_process_have_the_same_weights_after_100_steps(lesson):
    """Within 1e-5: the same sums, in another order, over and over."""
    for one in lesson("ddp/equal.py", ["model", "alone"]):
        torch.testing.assert_close(flat(one["model"]), flat(one["alone"]), rtol=0, atol=1e-5)


def test_dataparallel_has_the_weights_of_ddp_after_100_steps(lesson):
    """Its replicas by hand, as on two devices: the same tolerance for the same reason."""
    first = lesson("ddp/equal.py", ["model", "points", "labels"])[0]
    torch.manual_seed(0)
    arm = torch.randint(0, 2, (512,))
    torch.rand(512)  # as the program: the network comes after the data
    assert arm.equal(first["labels"])
    model = nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(100):
        order = torch.randperm(512, generator=torch.Generator().manual_seed(step))[:64]
        outputs = []
        for chunk in first["points"][order].chunk(2):
            replica = replicated(model)
            outputs.append(replica(chunk))
        loss = F.cross_entropy(torch.cat(outputs), first["labels"][order])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.testing.assert_close(flat(first["model"]), flat(model.state_dict()), rtol=0, atol=1e-5)


def replicated(model):
    """A replica of a `Sequential` as DataParallel makes it, its weights copied by autograd."""
    layers = []
    for layer in model:
        replica = layer._replicate_for_data_parallel()
        for name, weight in layer.named_parameters():
            setattr(replica, name, weight.clone())
        layers.append(replica)
    return lambda inputs: nn.Sequential.forward(layers, inputs)


def test_the_difference_grows_faster_with_adam(planted, lesson):
    sgd = lesson("ddp/equal.py", ["difference"])[0]["difference"]
    source = load("ddp/equal.py", ROOT).source
    adam = source.replace("SGD(model.parameters(), lr=0.1)", "Adam(model.parameters(), lr=1e-2)")
    adam = adam.replace("SGD(alone.parameters(), lr=0.1)", "Adam(alone.parameters(), lr=1e-2)")
    assert adam.count("Adam(") == 2
    assert planted("", ["difference"], source=adam)[0]["difference"] > 2 * sgd


def test_the_mean_of_the_means_of_unequal_shares_is_not_the_mean(planted):
    """And the cure that the page gives is exact: sum, total count, world size."""
    ran = planted(
        """
        model = nn.Linear(1, 1, bias=False).to(device)
        ddp = DistributedDataParallel(model)
        inputs = torch.arange(8.0, device=device).reshape(8, 1)
        mine = inputs[:5] if rank == 0 else inputs[5:]
        ddp(mine).mean().backward()
        of_means = model.weight.grad.item()
        ddp.zero_grad()
        total = torch.tensor(float(len(mine)), device=device)
        dist.all_reduce(total)
        (ddp(mine).sum() / total * dist.get_world_size()).backward()
        cured = model.weight.grad.item()
        """,
        ["of_means", "cured"],
    )
    for one in ran:
        assert one["of_means"] == pytest.approx((2 + 6) / 2)
        assert one["cured"] == pytest.approx(3.5)


# Recipes


def test_no_sync_sends_once_what_is_else_sent_four_times(lesson):
    lines = lesson("ddp/no_sync.py")[0]["__stdout__"].splitlines()
    found = [re.match(r"no_sync (\w+) *: (\d) sent, gradient norm ([\d.]+)", x) for x in lines]
    assert [(m[1], m[2]) for m in found] == [("False", "4"), ("True", "1")]
    assert float(found[0][3]) == pytest.approx(float(found[1][3]), abs=2e-4)


def test_inside_no_sync_there_is_no_collective_at_all(planted):
    ran = planted(
        """
        model = nn.Linear(4, 1).to(device)
        ddp = DistributedDataParallel(model)
        inputs = torch.ones(2, 4, device=device) * (1 + rank)


        def quiet():
            with ddp.no_sync():
                ddp(inputs).mean().backward()


        for _ in range(2):  # in the second step DDP agrees on the order of its buckets, once
            ddp(inputs).mean().backward()
            ddp.zero_grad()
        inside = collectives(quiet)
        mine = model.weight.grad[0, 0].item()
        outside = collectives(lambda: ddp(inputs).mean().backward())
        both = model.weight.grad[0, 0].item()
        """,
        ["inside", "outside", "mine", "both"],
    )
    for number, one in enumerate(ran):
        assert one["inside"] == []
        assert one["outside"] == ["c10d::allreduce_"]
        assert one["mine"] == 1 + number
        assert one["both"] == 3  # the mean of 2 + 2 and 4 + 4, and so also what was added up inside


def test_join_lets_a_rank_finish_alone_and_all_end_with_its_weights(lesson):
    first, second = lesson("ddp/uneven.py", ["model", "batches"])
    assert [len(one["batches"]) for one in (first, second)] == [2, 3]
    assert [numbers(x) for x in second["__stdout__"].splitlines()[:3]] == [[1.0], [1.0], [0.5]]
    assert first["model"]["weight"].equal(second["model"]["weight"])


def test_join_does_not_bring_along_the_state_of_the_optimizer(planted):
    ran = planted(
        """
        from torch.distributed.algorithms.join import Join

        model = nn.Linear(1, 1, bias=False).to(device)
        ddp = DistributedDataParallel(model)
        optimizer = torch.optim.Adam(model.parameters())
        with Join([ddp]):
            for _ in range(2 + rank):
                optimizer.zero_grad()
                ddp(torch.ones(4, 1, device=device)).mean().backward()
                optimizer.step()
        steps = [state["step"].item() for state in optimizer.state.values()]
        """,
        ["steps"],
    )
    assert [one["steps"] for one in ran] == [[2], [3]]


def evaluated(names):
    """How the program evaluates, beside what it leaves."""
    decorated = hasattr(names["evaluate"], "__wrapped__")
    return {"training": names["model"].training, "no_grad": decorated, **left(names)}


def test_metrics_are_exact_although_the_sampler_pads(lesson):
    names = ["points", "model", "exact", "with_padding"]
    first = lesson("ddp/metrics.py", names, after=evaluated)[0]
    assert first["__after__"] == {"training": False, "no_grad": True, "group": False, "ddp": False}
    weight, bias = first["model"]["weight"], first["model"]["bias"]
    guessed = (first["points"] @ weight.T + bias).argmax(dim=1)
    right = guessed == (first["points"].sum(dim=1) > 0)
    assert first["exact"] == f"{right.sum()} of 7 right, accuracy {right.float().mean():.3f}"
    padded = right.sum() + right[0]
    assert first["with_padding"] == f"{padded} of 8 right, accuracy {padded / 8:.3f}"
    of_ranks = (right[::2].float().mean() + right[1::2].float().mean()) / 2
    assert of_ranks != right.float().mean()


def test_one_seed_draws_the_same_on_all_ranks_and_the_rank_in_it_another(lesson):
    first, second = (
        [line.partition("keeps")[2] for line in one["__stdout__"].splitlines()]
        for one in lesson("ddp/seeds.py")
    )
    assert first[0] == second[0] == first[1]
    assert first[1] != second[1]


def test_weights_are_the_same_at_the_start_though_the_seeds_differ(lesson):
    lines = [one["__stdout__"].splitlines()[2] for one in lesson("ddp/seeds.py")]
    assert lines[0].removeprefix("rank 0") == lines[1].removeprefix("rank 1")


def test_an_unused_head_keeps_no_gradient_and_a_half_used_one_gets_half(lesson):
    for one in lesson("ddp/unused.py"):
        same, each = one["__stdout__"].splitlines()
        assert same.endswith(", none")
        whole, (left_head, right_head) = numbers(same)[0], numbers(each)
        assert left_head == pytest.approx(whole / 2, abs=1e-4)
        assert right_head != 0


def test_buffers_are_each_ranks_own_until_the_next_forward_pass(lesson):
    first, second = (
        [numbers(line)[0] for line in one["__stdout__"].splitlines()]
        for one in lesson("ddp/buffers.py")
    )
    assert (first, second) == ([1.0, 1.0], [11.0, 1.0])


def test_an_overflow_on_one_rank_makes_both_skip(lesson):
    first, second = lesson("ddp/amp_overflow.py", ["model", "scaler"])
    for one in (first, second):
        did = re.findall(r"step \d (\w+), scale (\d+)", one["__stdout__"])
        assert did == [("stepped", "1024"), ("skipped", "512"), ("stepped", "512")]
    assert flat(first["model"]).equal(flat(second["model"]))
    assert first["scaler"] == second["scaler"]


def test_clipping_needs_no_communication_and_finds_the_same_norm_everywhere(planted):
    ran = planted(
        """
        torch.manual_seed(rank)
        model = nn.Linear(4, 1).to(device)
        ddp = DistributedDataParallel(model)
        ddp(torch.randn(8, 4, device=device) * 100).square().mean().backward()
        norms = []
        called = collectives(
            lambda: norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        )
        after = torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item()
        """,
        ["norms", "called", "after"],
    )
    assert ran[0]["norms"] == ran[1]["norms"]
    assert ran[0]["norms"][0] > 1
    assert [one["called"] for one in ran] == [[], []]
    assert all(one["after"] == pytest.approx(1) for one in ran)


def test_hooks_send_fewer_bytes(lesson):
    lines = lesson("ddp/hooks.py")[0]["__stdout__"].splitlines()
    found = {line.split(":")[0].strip(): line for line in lines}
    sent = {name: int(re.search(r"(\d+) bytes", line)[1]) for name, line in found.items()}
    weights = 2 * 64 + 64 + 64 * 64 + 64 + 64 * 2 + 2
    # PowerSGD, rank 1: 64 + 64 numbers for the square layer, which alone is worth it, the others
    # as they are.
    power = 4 * (64 + 64 + weights - 64 * 64)
    assert sent == {"all-reduce": 4 * weights, "fp16": 2 * weights, "PowerSGD": power}


def test_the_fp16_hook_learns_as_without_and_powersgd_more_slowly(lesson, program):
    first, second = lesson("ddp/hooks.py", ["points", "labels"])
    lines = first["__stdout__"].splitlines()
    whole = program("ddp/single.py")
    for rank, one in enumerate((first, second)):  # each rank has its half of the course's points
        assert one["points"].equal(whole["points"][rank::2])
        assert one["labels"].equal(whole["labels"][rank::2])
    plain, fp16, power = (numbers(line)[-1] for line in lines)
    assert fp16 == pytest.approx(plain, rel=0.1)
    assert plain < power < 0.6


@pytest.mark.parametrize(("as_view", "times"), [(False, 2), (True, 1)])
def test_buckets_take_as_much_as_the_gradients_unless_these_lie_in_them(planted, as_view, times):
    ran = planted(
        f"""
        model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64)).to(device)
        ddp = DistributedDataParallel(model, gradient_as_bucket_view={as_view})
        buckets = []


        def look(_, bucket):
            buckets.append(bucket.buffer())
            return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(
                lambda sent: sent.value()[0]
            )


        ddp.register_comm_hook(None, look)
        for _ in range(3):  # after the first step DDP makes its buckets anew
            buckets.clear()
            ddp.zero_grad()
            ddp(torch.ones(2, 64, device=device)).mean().backward()
        gradients = [weight.grad for weight in model.parameters()]
        storages = [tensor.untyped_storage() for tensor in gradients + buckets]
        held = sum({{one.data_ptr(): one.nbytes() for one in storages}}.values())
        size = sum(weight.nbytes for weight in model.parameters())
        buckets, storages = None, None
        """,
        ["held", "size"],
    )
    assert [one["held"] for one in ran] == [times * one["size"] for one in ran]


def test_the_bf16_hook_needs_nccl():
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    assert "NCCL" in default_hooks.bf16_compress_hook.__doc__


def test_rank_1_is_quiet_unless_something_is_wrong(lesson):
    first, second = (one["__stdout__"] for one in lesson("ddp/rank0_log.py"))
    assert first == "rank 0: INFO epoch 1: samples that could not be read: 1\n"
    assert second == "rank 1: WARNING a sample could not be read\n"


LOGGING = "import logging; logging.basicConfig(stream=sys.stdout, format='%(message)s');"


@pytest.mark.parametrize(
    ("unbuffered", "code", "written"),
    [
        ("1", "print('rank 0')", [b"rank 0", b"\n"]),
        ("", "print('rank 0')", [b"rank 0\n"]),
        ("1", f"{LOGGING} logging.warning('rank 0')", [b"rank 0\n"]),
    ],
)
def test_print_writes_a_line_and_its_end_separately_if_nothing_is_buffered(
    unbuffered, code, written
):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # keeps writes apart
    as_on_a_terminal = "import sys; sys.stdout.reconfigure(line_buffering=True);"
    with ours:
        with theirs:
            subprocess.run(
                [sys.executable, "-c", f"{as_on_a_terminal} {code}"],
                stdout=theirs,
                env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
                check=True,
            )
        assert list(iter(lambda: ours.recv(100), b"")) == written


def test_the_state_of_ddp_has_no_generator_and_a_resumed_run_seeds_anew(planted):
    """Random numbers drawn in an epoch depend on seed, rank and epoch if it is seeded with them."""
    ran = planted(
        """
        def drawn(epoch):
            torch.manual_seed(1000 * epoch + rank)
            return torch.rand(3).tolist()


        straight = [drawn(epoch) for epoch in range(3)]
        resumed = drawn(2)
        """,
        ["straight", "resumed"],
    )
    assert all(one["resumed"] == one["straight"][2] for one in ran)
    assert ran[0]["resumed"] != ran[1]["resumed"]
