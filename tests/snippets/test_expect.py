"""The claims about what to expect: bytes, the model of scaling, and the worked problems."""

import re

import pytest

from tests.snippets.conftest import left
from tools import pages

EFFICIENCY = "expect/efficiency.py"


def table(text):
    """The rows of ``wire.out``: formula and measured, by name."""
    found = re.findall(r"^(\S.*?) {3,}(\d\.\d\d) +(\d\.\d\d)$", text, re.M)
    return {name: (float(formula), float(measured)) for name, formula, measured in found}


@pytest.fixture(scope="module")
def seen():
    """What was printed by number of ranks, so that each number runs once."""
    return {}


@pytest.fixture
def wire(ranks, seen):
    def run(count):
        if count not in seen:
            ran = ranks("expect/wire.py", count=count, after=left)
            assert [one["__after__"] for one in ran] == [{"group": False, "ddp": False}] * count
            seen[count] = table(ran[0]["__stdout__"])
        return seen[count]

    return run


@pytest.mark.xdist_group("wire")
@pytest.mark.parametrize(("count", "factor"), [(2, 1.0), (4, 1.5)])
def test_a_ddp_step_sends_what_one_all_reduce_of_the_gradients_sends(wire, count, factor):
    rows = wire(count)
    assert rows["all-reduce"] == rows["DDP"]
    assert rows["DDP"] == pytest.approx((factor, factor), abs=0.01)


@pytest.mark.xdist_group("wire")
@pytest.mark.parametrize("count", [2, 4])
def test_no_sync_sends_nothing_and_the_fp16_hook_half(wire, count):
    rows = wire(count)
    assert rows["DDP, no_sync"][1] == 0
    assert rows["DDP, FP16 hook"][1] == pytest.approx(rows["DDP"][1] / 2, abs=0.01)


def test_under_no_sync_gradients_are_added_up_all_the_same(changed):
    look = """
weight = next(ddp.parameters())
before = weight.grad.clone()
accumulate(ddp)
print("added up:", not before.equal(weight.grad))
del rows, ddp, compressed
"""
    printed = changed("expect/wire.py", ("del rows, ddp, compressed", look), ranks=2)
    assert printed.count("added up: True") == 2


@pytest.mark.xdist_group("wire")
@pytest.mark.parametrize("count", [2, 4])
def test_gloo_sends_an_all_reduce_for_a_reduce_scatter_and_that_is_the_rest_of_fsdp(wire, count):
    rows = wire(count)
    part = (count - 1) / count
    assert rows["reduce-scatter"][1] == pytest.approx(2 * part, abs=0.01)
    assert rows["FSDP"][0] == pytest.approx(3 * part, abs=0.01)
    assert rows["FSDP"][1] == pytest.approx(2 * part + rows["reduce-scatter"][1], abs=0.02)


def test_no_rank_leaves_while_another_counts(changed):
    counts = "    return (sent() - before) / size"
    later = "    time.sleep(rank == 0)\n"
    printed = changed("expect/wire.py", (counts, later + counts), ranks=4)
    assert table(printed)["FSDP"] == pytest.approx((2.25, 3.0), abs=0.02)


@pytest.mark.parametrize("page", ["data-parallel", "choose", "expect"])
def test_all_pages_write_the_formulas_with_the_same_letters(page):
    for theirs in pages.load_all().values():
        text = " ".join(theirs[page].text.split())
        assert "*N*" in text and "*P*" in text
        assert "2(N − 1)/N × P" in text
        assert set(re.findall(r"(\w) − 1\)", text)) == {"N"}
        assert set(re.findall(r"[)N] × (\w+)", text)) == {"P"}


def test_what_each_sends_stays_below_two_and_three(program):
    rows = [line.split() for line in program("expect/volume.py")["__stdout__"].splitlines()[1:]]
    for gpus, data_parallel, ddp, fsdp in ([float(x) for x in row] for row in rows):
        assert ddp < 2 and fsdp < 3
        assert fsdp == pytest.approx(1.5 * ddp, abs=0.01)
        assert data_parallel == pytest.approx(gpus * ddp, rel=0.01)


def test_one_gpu_sends_nothing_and_is_fully_used(program):
    model = program(EFFICIENCY)
    for link in model["LINKS"].values():
        alone = model["step_time"](1, link)
        assert alone == pytest.approx(model["FORWARD"] + model["BACKWARD"])


def test_what_fits_behind_the_backward_pass_costs_its_last_bucket_only(program):
    model = program(EFFICIENCY)
    alone, buckets = model["step_time"](1, 1), round(model["WEIGHTS"] / model["BUCKET"])
    for link in ("NVLink", "PCIe 4"):
        bandwidth = model["LINKS"][link]
        all_of_it = model["WEIGHTS"] / bandwidth
        assert all_of_it < model["BACKWARD"]
        lost = model["step_time"](2, bandwidth) - alone
        assert lost == pytest.approx(all_of_it / buckets + 2 * model["LATENCY"])


def test_two_gpus_over_a_slow_link_do_less_than_one(program):
    model = program(EFFICIENCY)
    alone = model["step_time"](1, 1)
    assert 2 * alone / model["step_time"](2, model["LINKS"]["10 Gbit/s"]) < 1
    for name in ("NVLink", "PCIe 4", "100 Gbit/s"):
        assert alone / model["step_time"](32, model["LINKS"][name]) > 0.95


def test_with_the_whole_batch_fixed_64_gpus_are_slower_than_32(program):
    model = program(EFFICIENCY)
    work = 8 * (model["FORWARD"] + model["BACKWARD"])

    def speed(gpus):
        share = 8 / gpus
        passes = model["FORWARD"] * share, model["BACKWARD"] * share
        return work / model["step_time"](gpus, model["LINKS"]["NVLink"], *passes)

    assert speed(64) < speed(32) > speed(16)


def test_sending_fewer_larger_buckets_overlaps_less(program):
    """The model has the property for which DDP has buckets at all."""
    model = program(EFFICIENCY)
    link = model["LINKS"]["100 Gbit/s"]
    many = model["step_time"](8, link)
    model["step_time"].__globals__["BUCKET"] = model["WEIGHTS"]
    assert model["step_time"](8, link) > many


def test_the_slowest_of_64_takes_a_tenth_longer_than_the_mean(program):
    rows = program("expect/stragglers.py")["__stdout__"].splitlines()[1:]
    slowest = {int(row.split()[0]): float(row.split()[2]) for row in rows}
    assert slowest[1] == pytest.approx(1, abs=0.01)
    assert slowest[64] == pytest.approx(1.12, abs=0.01)
    assert list(slowest.values()) == sorted(slowest.values())


def test_the_answers_of_the_problems(program):
    run = program("expect/problems.py")
    printed = run["__stdout__"]
    assert run["gradients"] == 496e6
    assert run["sending"] == pytest.approx(0.4, abs=0.01)
    assert run["sending"] - run["backward"] == pytest.approx(0.3, abs=0.01)
    rows = re.findall(r"^ +(\d+) +(\d+)% +(\d+)%$", printed, re.M)
    reached = {int(batches): (int(fp32), int(fp16)) for batches, fp32, fp16 in rows}
    assert reached[16][0] < 90 < reached[32][0] and (reached[16][0], reached[32][0]) == (89, 94)
    assert reached[4][1] < 90 < reached[8][1] == 92
    assert 56e9 < 80e9 < run["state"]
    assert pytest.approx(0.14) == 42e9 / 300e9 and pytest.approx(33.6) == 42 / 1.25
