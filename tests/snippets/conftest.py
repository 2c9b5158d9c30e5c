"""Where the programs run (``--device``), and their variables for a claim.

``program`` runs one in the test's own process, ``ranks`` one of several processes; ``lesson`` does
so with a program that begins and ends as the lesson on DDP teaches.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import pickle
import random
from pathlib import Path

import pytest

from tests import kept
from tests.snippets import compare, runner
from tools.snippets import SNIPPETS, Snippet, load

#: A folder to take the programs from instead of ``snippets/`` (the mutants run the claims so).
ROOT = Path(os.environ.get("SNIPPETS_ROOT", SNIPPETS))


def pytest_addoption(parser):
    parser.addoption(
        "--device",
        default="cpu",
        help="the device the programs run on: cpu (the default), cuda, mps, xpu; "
        "a device that is not there fails the session",
    )


def _probe(answer) -> None:
    """Send the class of this machine's accelerator, and how many there are (runs in a child)."""
    import torch

    accelerator = torch.accelerator.current_accelerator(check_available=True)
    count = torch.accelerator.device_count()
    answer.send((accelerator.type, count) if accelerator else ("cpu", 0))


@functools.cache
def accelerators() -> tuple[str, int]:
    """The class of this machine's accelerator, and how many there are.

    Found in a process that may touch it.
    """
    warm = runner.context()
    receiver, sender = warm.Pipe(duplex=False)
    child = warm.Process(target=_probe, args=(sender,))
    child.start()
    sender.close()
    with contextlib.closing(receiver):
        found = receiver.recv()
    child.join()
    return found


def pytest_configure(config):
    wanted = config.getoption("--device", "cpu")
    if wanted == "cpu":
        runner.hide_accelerators()
    elif not hasattr(config, "workerinput"):  # once, in the process that starts the workers
        found, _ = accelerators()
        if found != wanted:
            raise pytest.UsageError(
                f"--device {wanted}: torch finds no {wanted} on this machine (it finds {found}); "
                f"run without the option for the CPU, or on a machine with {wanted}"
            )


@pytest.fixture(scope="session")
def device(request) -> str:
    """The class of the device that the programs run on."""
    return request.config.getoption("--device", "cpu")


def skip_if_too_few(snippet: Snippet, device: str) -> None:
    """Skip the test of a program that needs more accelerators than this machine has."""
    if device != "cpu" and (why := runner.too_few(snippet, device, accelerators()[1])):
        pytest.skip(why)


@contextlib.contextmanager
def _state_restored():
    """Leave torch's global state, and the generators of random numbers, as they were."""
    import torch

    rng, python_rng = torch.get_rng_state(), random.getstate()
    default, threads, grad = (
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
    )
    precision = torch.backends.cuda.matmul.fp32_precision
    kinds = ("cpu", "cuda")
    autocast = [(k, torch.is_autocast_enabled(k), torch.get_autocast_dtype(k)) for k in kinds]
    cache = torch.is_autocast_cache_enabled()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        for kind, enabled, dtype in autocast:
            torch.set_autocast_enabled(kind, enabled)
            torch.set_autocast_dtype(kind, dtype)
        torch.set_autocast_cache_enabled(cache)
        torch.clear_autocast_cache()
        torch.backends.cuda.matmul.fp32_precision = precision
        torch.set_grad_enabled(grad)
        torch.set_num_threads(threads)
        torch.set_default_dtype(default)
        torch.set_rng_state(rng)
        random.setstate(python_rng)


@pytest.fixture
def program(device):
    """Run a program in this process and return its global variables.

    ``program("amp/clipping.py")`` returns a dict. Beside the program's own names it holds
    ``__stdout__`` (what it printed) and ``__exception__`` (the error that it declares with
    ``raises``, or None). An error that is not declared is raised.
    """
    runner.use_device(device)

    def run(path: str) -> dict:
        snippet = load(path, ROOT)
        skip_if_too_few(snippet, device)
        if snippet.lesson["ranks"] > 1:
            pytest.fail(f"{path} has {snippet.lesson['ranks']} ranks: use the fixture 'ranks'")
        printed = io.StringIO()
        with _state_restored(), contextlib.redirect_stdout(printed):
            outcome = runner.execute(snippet)
        error = outcome.exception
        if error is not None and type(error).__name__ != snippet.lesson["raises"]:
            raise error
        return outcome.namespace | {"__stdout__": printed.getvalue(), "__exception__": error}

    return run


@pytest.fixture
def ranks(device):
    """Run a program of several ranks and return, for each, its global variables.

    ``ranks("ddp/train.py", names=["loss", "model"])`` returns a list with a dict for each rank. It
    holds the named variables (tensors on the CPU, of modules and optimizers their ``state_dict()``,
    and whatever else can be pickled), ``__stdout__``, and ``__exception__``: the last line of the
    traceback ("RuntimeError: …") of the error that the program declares, or None. A variable that
    such a program did not come to is left out. A program that does not run as it declares fails
    the test.

    ``before`` and ``after`` are functions of the test module. Each process calls ``before()`` ahead
    of the program, to count collectives for instance, and ``after(namespace)`` behind it, in the
    program's own state; what that returns is under ``__after__``. ``count`` is a number of ranks in
    place of the program's own, ``folder`` a working folder in place of a new one.
    """

    def run(path, names=(), before=None, after=None, *, count=None, folder=None) -> list[dict]:
        snippet = load(path, ROOT)
        skip_if_too_few(snippet, device)
        limit = os.environ.get("SNIPPETS_LIMIT")
        result, ran = kept.run_ranks(
            snippet,
            device,
            float(limit) if limit else None,
            probe=runner.Probe(tuple(names), before, after),
            count=count or snippet.lesson["ranks"],
            folder=folder,
        )
        faults = compare.run_faults(snippet, dataclasses.replace(result, seconds=0))
        faults += [
            f"{path}: [rank{n}]: {one['fault']}" for n, one in enumerate(ran) if "fault" in one
        ]
        if faults:
            pytest.fail("\n".join(faults), pytrace=False)
        return [
            (pickle.loads(one["kept"]) if "kept" in one else {})
            | {"__stdout__": one.get("stdout", ""), "__exception__": one.get("message")}
            for one in ran
        ]

    return run


class Chosen(Exception):
    """Raised in place of making the group."""


def device_chosen(path, monkeypatch):
    """The number of the GPU that a program chooses before it makes its group, on local rank 3."""
    import torch
    import torch.distributed as dist

    chosen = []

    def stop(*arguments, **options):
        raise Chosen

    with monkeypatch.context() as patch:
        patch.setenv("LOCAL_RANK", "3")
        for name in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"):
            patch.setenv(name, "0")
        fake = torch.device("cuda")
        patch.setattr(torch.accelerator, "current_accelerator", lambda check_available: fake)
        patch.setattr(torch.accelerator, "set_device_index", chosen.append)
        patch.setattr(dist, "init_process_group", stop)
        error = runner.execute(load(path, ROOT)).exception
    assert isinstance(error, Chosen), f"{path} makes no group: {error!r}"
    return chosen


def left(names):
    """What a program leaves: a group, a wrapper (runs in each rank, behind the program)."""
    import torch.distributed as dist

    return {"group": dist.is_initialized(), "ddp": "ddp" in names}


@pytest.fixture
def lesson(ranks, monkeypatch):
    """Run a program of the lesson as `ranks` does, and see that it begins and ends as it should.

    It chooses the GPU of its local rank before it makes the group; at its end it leaves no wrapper
    and no group behind.
    """

    def run(path, names=(), after=left, **options):
        assert device_chosen(path, monkeypatch) == [3]
        ran = ranks(path, names=list(names), after=after, **options)
        if after is left:
            assert [one["__after__"] for one in ran] == [{"group": False, "ddp": False}] * len(ran)
        return ran

    return run


def _run_changed(snippet, source, changes, then, lesson, device, **options) -> str:
    """Run `source`, of `snippet`, with `changes` made to it, and return what it prints.

    It must end, on each rank, without an error and without a warning.
    """
    for old, new in changes:
        count = source.count(old)
        assert count == 1, f"{snippet.path}: {old!r} occurs {count} times"
        source = source.replace(old, new)
    lesson = snippet.lesson | {"raises": None, "warns": None} | lesson
    changed = dataclasses.replace(snippet, source=source + then, lesson=lesson)
    result, _ = kept.run_ranks(changed, device, **options)
    assert result.exception is None, result.traceback
    assert result.exit_code == 0 and result.ended, result.stderr
    return result.text


@pytest.fixture
def cured(device):
    """Run a wrong program with its mistake mended, and return what it prints.

    ``cured("amp/wrong/….py", (old, new), …, then=code)`` replaces each `old` by `new`, which must
    occur exactly once in the section that the page shows, and adds `code` at the end. The
    program must end without an error and without a warning on each rank. Further options are those
    of ``runner.run``.
    """

    def run(path: str, *changes: tuple[str, str], then: str = "", **options) -> str:
        snippet = load(path, ROOT)
        source = snippet.sections["main"].text + "\n"
        return _run_changed(snippet, source, changes, then, {}, device, **options)

    return run


@pytest.fixture
def changed(device):
    """As `cured`, for the whole text of any program; further options are keys of its lesson."""

    def run(path: str, *changes: tuple[str, str], then: str = "", **lesson) -> str:
        snippet = load(path, ROOT)
        return _run_changed(snippet, snippet.source, changes, then, lesson, device)

    return run
