"""Programs of several ranks: each way in which one can go wrong is seen, and told.

Each test plants one bad program.
"""

import re
import socket
import time

import pytest

from tests.snippets import conftest, outputs, planted, runner
from tests.snippets.planted import faults
from tools.snippets import SnippetError, load

HEAD = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
# ranks = 2
{keys}# ///
"""A planted program."""

import os

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
'''
GROUP = "dist.init_process_group()\n"
SUM = GROUP + "total = torch.ones(1) * (rank + 1)\ndist.all_reduce(total)\n"


@pytest.fixture
def plant(tmp_path):
    """Write a program (and its .out) into an empty snippets folder and load it."""

    def write(body, out=None, keys=(), name="ddp/planted.py"):
        return planted.write(tmp_path, name, HEAD, body, out, keys)

    return write


def test_what_rank_0_prints_stands_before_what_rank_1_prints(plant):
    body = SUM + "if rank == 0:\n    dist.barrier()\nprint(f'rank {rank}: {total.item()}')\n"
    body += "if rank == 1:\n    dist.barrier()\n"
    assert faults(plant(body, "rank 0: 3.0\nrank 1: 3.0\n")) == ""


def test_a_difference_on_rank_1_is_a_fault(plant):
    found = faults(plant(SUM + "print(rank * total)\n", "tensor([0.])\ntensor([2.])\n"))
    assert "line 2: expected 'tensor([2.])', printed 'tensor([3.])'" in found


def test_a_hang_is_a_fault_with_the_stack_of_each_rank(plant):
    body = GROUP + "if rank == 0:\n    dist.barrier()\nelse:\n    while True:\n        pass\n"
    started = time.monotonic()
    found = faults(plant(body, ""), limit=2)
    assert time.monotonic() - started < 30
    assert "rank 0 was stopped, it did not end" in found
    assert 'planted.py", line 19 in <module>' in found, "rank 0"
    assert re.search(r"rank1\]:   File .*planted.py\", line 2[12] in <module>", found), "rank 1"


def test_a_hang_in_a_process_that_a_program_has_started_is_seen(plant):
    body = """import time


def work(rank):
    while True:
        time.sleep(1)


if rank == 1:
    torch.multiprocessing.start_processes(work, nprocs=1, start_method="fork")
"""
    found = faults(plant(body, ""), limit=3)
    assert "rank 1 was stopped, it did not end" in found
    assert re.search(r"rank1\]:   File .*planted.py\", line \d+ in work", found)


def test_the_death_of_one_rank_ends_the_others_and_is_told(plant, monkeypatch):
    monkeypatch.setattr(runner, "GRACE", 1)
    body = GROUP + "if rank == 1:\n    os._exit(3)\nwhile True:\n    pass\n"
    found = faults(plant(body, ""))
    assert "the process of rank 1 died with code 3, before the program's end" in found
    assert "rank 0 had not ended 1 s later and was stopped" in found
    body = GROUP + "if rank == 1:\n    os.kill(os.getpid(), 9)\ndist.barrier()\n"
    found = faults(plant(body, ""))
    assert "the process of rank 1 died with code -9" in found
    assert "[rank0]: " in found and "by peer" in found, "what the other saw of it"


def test_an_error_that_one_rank_does_not_declare_is_a_fault_with_its_line(plant):
    found = faults(plant(SUM + "total / (rank - 1) and 1 / (1 - rank)\ndist.barrier()\n", ""))
    assert "rank 1 ended with ZeroDivisionError; the program must run without" in found
    assert "[rank1]:   File" in found and "line 20" in found


def test_a_declared_error_is_told_as_torchrun_does(plant):
    body = SUM + "print('rank', rank)\nif rank == 1:\n    raise ValueError('one\\ntwo')\n"
    keys = ['raises = "ValueError"']
    out = "rank 0\nrank 1\n[rank1]: ValueError: one\n[rank1]: two\n"
    assert faults(plant(body, out, keys, "ddp/wrong/planted.py")) == ""
    body += "dist.barrier()\n"  # rank 0 fails too, for rank 1 has gone
    assert faults(plant(body, out, keys, "ddp/wrong/planted.py")) == ""


def test_another_error_beside_the_declared_one_is_a_fault(plant):
    body = SUM + "raise ValueError('x') if rank else KeyError('y')\n"
    found = faults(plant(body, "", ['raises = "ValueError"'], "ddp/wrong/planted.py"))
    assert "rank 0 ended with KeyError; it declares" in found


def test_a_rank_that_has_left_is_the_error_if_nothing_else_is(plant):
    body = GROUP + "dist.all_reduce(torch.ones(1))\nif rank == 0:\n    dist.barrier()\n"
    found = faults(plant(body, ""))
    assert "rank 0 ended with" in found and "by peer" in found


def test_a_port_that_is_taken_disturbs_nobody(plant):
    snippet = plant(SUM + "print(total.item(), os.environ['MASTER_PORT'])\n")
    with socket.create_server(("", 0)) as server:
        used = {str(server.getsockname()[1])}
        for _ in range(3):
            first, second = runner.run(snippet).text.splitlines()
            total, port = first.split()
            assert (first, total) == (second, "3.0")
            assert port not in used


def test_several_programs_at_once_do_not_meet(plant):
    from concurrent.futures import ThreadPoolExecutor

    snippets = [
        plant(SUM + f"print({n} * total.item())\n", f"{3 * n}.0\n" * 2, name=f"ddp/p{n}.py")
        for n in range(6)
    ]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(faults, snippets)) == [""] * 6


def test_the_ranks_share_one_working_folder(plant, tmp_path):
    body = "from pathlib import Path\nsaved = Path('saved')\n" + GROUP
    body += "if rank == 0:\n    saved.write_text('7')\ndist.barrier()\n"
    body += "print(saved.read_text(), os.listdir())\n"
    assert faults(plant(body, "7 ['saved']\n7 ['saved']\n")) == ""
    runner.run(plant(body), folder=tmp_path / "kept")
    assert (tmp_path / "kept/saved").read_text() == "7"


def test_one_rank_sees_nothing_of_torchrun(tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    (tmp_path / "amp").mkdir()
    source = HEAD.replace("# ranks = 2\n", "").format(keys="").rsplit("rank =", 1)[0]
    body = "print({'RANK', 'WORLD_SIZE', 'MASTER_PORT', 'LOCAL_RANK'} & set(os.environ))\n"
    (tmp_path / "amp/planted.py").write_text(source + body)
    (tmp_path / "amp/planted.out").write_text("set()\n")
    assert faults(load("amp/planted.py", tmp_path)) == ""


def test_a_program_may_start_processes_itself(tmp_path):
    (tmp_path / "amp").mkdir()
    source = HEAD.replace("# ranks = 2\n", "").format(keys="").rsplit("rank =", 1)[0]
    body = """import torch.multiprocessing as mp


def work(rank):
    print(f"rank {rank}", flush=True)


if __name__ == "__main__":
    mp.start_processes(work, nprocs=1, start_method="fork")
    mp.spawn(work, nprocs=1)
"""
    (tmp_path / "amp/planted.py").write_text(source.replace("seconds = 2", "seconds = 20") + body)
    (tmp_path / "amp/planted.out").write_text("rank 0\nrank 0\n")
    assert faults(load("amp/planted.py", tmp_path)) == ""


def test_outputs_writes_what_the_ranks_print(plant, tmp_path, capsys):
    plant(SUM + "print('rank', rank, total.item())\n")
    assert outputs.main(["--root", str(tmp_path)]) == 0
    assert (tmp_path / "ddp/planted.out").read_text() == "rank 0 3.0\nrank 1 3.0\n"


def test_senseless_counts_are_errors(plant):
    with pytest.raises(SnippetError, match="gpus = 0 is less than 1"):
        plant("", keys=["gpus = 0"])


def test_too_few_devices_skip_a_program_which_is_no_pass(plant, monkeypatch):
    monkeypatch.setattr(conftest, "accelerators", lambda: ("cuda", 1))
    with pytest.raises(pytest.skip.Exception, match="needs 2 cuda devices, found 1"):
        conftest.skip_if_too_few(plant(""), "cuda")
    conftest.skip_if_too_few(plant("", keys=["gpus = 1"]), "cuda")
    conftest.skip_if_too_few(plant(""), "cpu")


# --- the fixture `ranks` -------------------------------------------------------------------------


def before():
    """Count the all-reduces."""
    import torch.distributed as dist

    real, dist.calls = dist.all_reduce, 0

    def counted(*arguments, **options):
        dist.calls += 1
        return real(*arguments, **options)

    dist.all_reduce = counted


def after(namespace):
    """What `before` has counted, and a sum over the ranks of the program's own group."""
    import torch
    import torch.distributed as dist

    calls = dist.calls
    return calls, dist.all_reduce(torch.ones(1), async_op=True).wait(), namespace["rank"]


CLAIM = SUM + (
    "model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))\n"
    "adam = torch.optim.Adam(model.parameters())\nprint('rank', rank)\n"
)


@pytest.fixture
def planted_ranks(plant, tmp_path, monkeypatch, request):
    """The fixture `ranks` on planted programs."""
    monkeypatch.setattr(conftest, "ROOT", tmp_path)
    run = request.getfixturevalue("ranks")

    def planted(body, keys=(), name="ddp/planted.py", **options):
        plant(body, keys=keys, name=name)
        return run(name, **options)

    return planted


def test_ranks_bring_back_what_is_asked_for(planted_ranks):
    names = ["total", "model", "adam", "rank"]
    found = planted_ranks(CLAIM, names=names, before=before, after=after)
    assert [one["rank"] for one in found] == [0, 1]
    assert [one["__stdout__"] for one in found] == ["rank 0\n", "rank 1\n"]
    assert [one["__exception__"] for one in found] == [None, None]
    assert [one["__after__"] for one in found] == [(1, True, 0), (1, True, 1)]
    assert all(one["total"].item() == 3 for one in found)
    assert list(found[1]["model"]) == ["module.weight", "module.bias"]
    assert found[1]["adam"]["param_groups"][0]["lr"] == 1e-3


def test_ranks_may_be_more_than_the_program_has(planted_ranks):
    found = planted_ranks(SUM, names=["total"], count=3)
    assert [one["total"].item() for one in found] == [6, 6, 6]


def test_a_declared_error_is_returned_by_the_rank_that_has_it(planted_ranks):
    found = planted_ranks(
        SUM + "if rank == 1:\n    raise ValueError('no')\nlate = 1\n",
        ['raises = "ValueError"'],
        "ddp/wrong/planted.py",
        names=["total", "late"],
    )
    assert [one["__exception__"] for one in found] == [None, "ValueError: no"]
    assert "late" in found[0] and "late" not in found[1] and "total" in found[1]


def failing(namespace):
    """Fail on rank 1."""
    assert namespace["rank"] == 0, "not here"


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        ("1 / 0\n", {}, "ended with ZeroDivisionError"),
        ("", {"names": ["none"]}, r"\[rank0\]: [\s\S]*no global variable none"),
        ("it = lambda: 1\n", {"names": ["it"]}, r"\[rank0\]: [\s\S]*pickle"),
        ("", {"after": failing}, r"\[rank1\]: [\s\S]*AssertionError: not here"),
    ],
)
def test_ranks_fail_the_test_where_a_program_or_a_question_fails(
    planted_ranks, body, options, message
):
    with pytest.raises(pytest.fail.Exception, match=message):
        planted_ranks(body, **options)


def test_program_refuses_several_ranks(plant, tmp_path, monkeypatch, request):
    monkeypatch.setattr(conftest, "ROOT", tmp_path)
    plant("")
    with pytest.raises(pytest.fail.Exception, match="has 2 ranks: use the fixture 'ranks'"):
        request.getfixturevalue("program")("ddp/planted.py")
