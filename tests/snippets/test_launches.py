"""What `make launches` does for each program: one real launch, and what it would say of others."""

import pytest

from tests.kept import RUNS
from tests.snippets import launches, planted
from tests.snippets.conftest import ROOT
from tests.snippets.test_ranks import HEAD
from tools import pages
from tools.snippets import load


@pytest.fixture
def plant(tmp_path):
    """Write a program and its .out into an empty snippets folder and load it."""

    def write(body="", out="", keys=(), name="ddp/planted.py"):
        return planted.write(tmp_path, name, HEAD, body, out, keys)

    return write


def test_a_real_launch_is_compared_by_its_lines(plant, tmp_path):
    """The first command of a page, as it stands there."""
    right = load("ddp/launch.py", ROOT)
    fences = pages.load_all()["en"]["ddp"].fences
    assert launches.command(right) in [f.body.strip() for f in fences if f.lang == "bash"]
    (tmp_path / "work").mkdir()
    ran = RUNS.get(["launch", right.source], lambda: launches.launch(right, tmp_path / "work"))
    assert launches.faults(right, *ran, "cpu") == []
    assert "Setting OMP_NUM_THREADS environment variable for each process to be 1" in ran[2]
    expected = right.out_path().read_text("utf-8")
    wrong = plant("", expected.replace("rank 1: one of 2 on cpu, the sum is 3", "rank 1: 4"))
    (found,) = launches.faults(wrong, *ran, "cpu")
    assert "ddp/planted.py: torchrun --nproc-per-node 2 planted.py: is not planted.out" in found
    assert "expected, and not there: 'rank 1: 4'" in found
    assert "printed, and not expected: 'rank 1: one of 2 on cpu, the sum is 3'" in found


def test_a_launch_that_does_not_end_is_stopped(plant, tmp_path):
    snippet = plant("while True:\n    pass\n")
    (tmp_path / "work").mkdir()
    ran = launches.launch(snippet, tmp_path / "work", limit=2)
    assert "did not end" in launches.faults(snippet, *ran, "cpu")[0]


def ended(rank, code):
    """What torchrun says of a rank that failed."""
    return f"  rank      : {rank} (local_rank: {rank})\n  exitcode  : {code} (pid: 7)\n"


ABORT = "terminate called without an active exception\n" + ended(1, -6)


@pytest.mark.parametrize(
    ("out", "code", "printed", "err", "finds"),
    [
        ("a\nb\n", 0, "b\na\n", "", None),
        ("a\nb\n", 0, "b\n", "", "not there: 'a'"),
        ("a\n", 0, "a\na\n", "", "not expected: 'a'"),
        ("rank 0: a\nrank 1: b\n", 0, "rank 1: brank 0: a\n\n", "", None),
        ("rank 0: a\nrank 1: b\n", 0, "rank 1: brank 0: b\n\n", "", "not there: 'rank 0: a'"),
        ("loss 0.500\n", 0, "loss 0.501\n", "", None),
        ("a\n", 1, "a\n", ABORT, None),
        ("a\n", 1, "", ABORT, "ended with code 1"),
        ("a\n", 1, "a\n", ABORT + ended(0, -15), None),
        ("a\n", 1, "a\n", ABORT + ended(0, 1), "ended with code 1"),
        ("a\n", 1, "a\n", ended(0, -15), "ended with code 1"),
        ("a\n", 1, "a\n", "", "ended with code 1"),
    ],
)
def test_what_a_launch_printed_is_judged(plant, out, code, printed, err, finds):
    found = launches.faults(plant(out=out), code, printed, err, "cpu")
    assert finds in found[0] if finds else not found


@pytest.mark.parametrize(
    ("code", "err", "finds"),
    [
        (1, "[rank0]: Traceback\n[rank1]: ValueError: no\n", None),
        (1, "ValueError: no\n", None),
        (1, "[rank1]: KeyError: no\n", "not there: '[rank1]: ValueError: no'"),
        (1, ended(1, -15), "not there: '[rank1]: ValueError: no'"),
        (0, "[rank1]: ValueError: no\n", "ended well"),
    ],
)
def test_a_declared_error_is_looked_for_on_standard_error(plant, code, err, finds):
    out = "a\n[rank1]: ValueError: no\n"
    snippet = plant("", out, ['raises = "ValueError"'], "ddp/wrong/planted.py")
    found = launches.faults(snippet, code, "a\n", err, "cpu")
    assert finds in found[0] if finds else not found


def test_what_torchrun_left_a_rank_no_time_to_say_is_no_fault(plant):
    out = "rank 0: a\n[rank0]: ValueError: no\nrank 1: b\n[rank1]: ValueError: no\n"
    snippet = plant("", out, ['raises = "ValueError"'], "ddp/wrong/planted.py")
    said = "[rank1]: ValueError: no\n"
    assert not launches.faults(snippet, 1, "rank 1: b\n", said + ended(0, -15), "cpu")
    (found,) = launches.faults(snippet, 1, "rank 1: b\n", said, "cpu")
    assert "'rank 0: a'" in found and "'[rank0]: ValueError: no'" in found
    (found,) = launches.faults(snippet, 1, "rank 0: a\n", said + ended(0, -15), "cpu")
    assert "'rank 1: b'" in found


def test_a_declared_error_that_varies_is_matched_as_its_program_says(plant):
    keys = ['raises = "ValueError"', 'varies = [".rank0.: ValueError: port "]']
    snippet = plant("", "[rank0]: ValueError: port 7 x\n", keys, "ddp/wrong/planted.py")
    assert not launches.faults(snippet, 1, "", "[rank0]: ValueError: port 8 y\n", "cpu")


def test_a_declared_warning_is_looked_for_on_standard_error(plant):
    keys = ['warns = "FutureWarning"']
    snippet = plant("", "FutureWarning: old\n", keys, "ddp/wrong/planted.py")
    assert not launches.faults(snippet, 0, "", "/x/y.py:3: FutureWarning: old\n  old()\n", "cpu")
    assert "not there" in launches.faults(snippet, 0, "", "", "cpu")[0]
