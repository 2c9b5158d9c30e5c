"""Run one program in a process forked from a warm parent.

The parent (the standard library's fork server, one for each test process) has imported torch and
has run no tensor operation, so a child starts in milliseconds and in the state of a fresh
interpreter. The child runs the program as ``__main__``, with one thread, standard input closed,
warnings as errors, a hard time-out and a limit to what it may write, and leaves by ``os._exit``
after a flush; processes that it has started end with it. So nothing that a program leaves behind
can hang or spoil the next one.
"""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import types
import warnings
from dataclasses import dataclass
from pathlib import Path

from tools.snippets import Snippet, SnippetError

PRELOAD = [
    "numpy",
    "torch",
    "torch._dynamo",
    "torch._subclasses.fake_tensor",
    "torch.utils.checkpoint",
    "pytest",
]

#: Seconds a program may take beyond ten times its own limit before it is stopped: a machine
#: under load is slow, a program that hangs never ends.
PATIENCE = 30

#: Bytes that a program may write into a file, its output included.
MOST = 128 * 2**20


@dataclass(frozen=True)
class Result:
    """What a run of a program gave.

    ``text`` is what a reader sees: standard output, shown warnings in their place, and the last
    line of the traceback of an error that the program declares. ``exception`` is the name of
    the error's type (None without one), ``traceback`` all of it. ``seconds`` is processor time,
    ``elapsed`` time on the clock. ``ran_on`` is the device class that torch found in the program's
    own process, ``device_bytes`` the most of an accelerator's memory that the program held.
    ``ended`` is False when the process was gone before the program was at its end.
    """

    path: str
    device: str
    text: str
    stderr: str
    exception: str | None
    traceback: str
    warned: bool
    seconds: float
    timed_out: bool
    exit_code: int | None
    elapsed: float | None = None
    ran_on: str | None = None
    device_bytes: int | None = None
    ended: bool = True


def hide_accelerators() -> None:
    """Make this process and its children run on the CPU. Call it before anything uses a device."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ["HIP_VISIBLE_DEVICES"] = ""
    os.environ["ZE_AFFINITY_MASK"] = ""


def use_device(device: str) -> None:
    """Make ``torch.accelerator`` answer for `device`, which is ``cpu`` or the machine's own."""
    import torch

    if device == "cpu" and torch.accelerator.is_available():
        # An accelerator that no environment variable hides (Apple's, for one).
        torch.accelerator.current_accelerator = lambda check_available=False: None
        torch.accelerator.is_available = lambda: False


def evidence() -> dict:
    """Where this process's programs ran: ``ran_on`` and ``device_bytes`` of a Result."""
    import torch

    found = torch.accelerator.current_accelerator(check_available=True)
    if found is None:
        return {"ran_on": "cpu", "device_bytes": None}
    module = torch.get_device_module(found)
    # Apple's has no maximum, only what is held now.
    held = getattr(module, "max_memory_allocated", None) or module.current_allocated_memory
    return {"ran_on": found.type, "device_bytes": held()}


@dataclass(frozen=True)
class Outcome:
    """What a run in this process left: its globals, its error if any, a declared warning shown."""

    namespace: dict
    exception: BaseException | None
    warned: bool


def execute(snippet: Snippet, **names) -> Outcome:
    """Run `snippet` as ``__main__`` in this process. What it raises is caught and returned.

    `names` are global variables that it finds, in place of the built-in ones for instance.

    Warnings are errors, apart from the category that the program declares with ``warns``: it is
    printed where it occurs, as ``Category: message``.
    """
    main = types.ModuleType("__main__")
    main.__file__ = str(snippet.file)
    main.__dict__.update(names)
    code = compile(snippet.source, str(snippet.file), "exec", dont_inherit=True)
    warned = False
    exception = None

    def show(message, category, filename, lineno, file=None, line=None):
        nonlocal warned
        warned = True
        print(f"{category.__name__}: {message}")

    before = sys.modules["__main__"], sys.argv
    sys.modules["__main__"], sys.argv = main, [str(snippet.file)]
    try:
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.simplefilter("error")
            if snippet.lesson["warns"]:
                warnings.filterwarnings("always", category=category(snippet))
                warnings.showwarning = show
            exec(code, main.__dict__)
    except (Exception, SystemExit) as error:
        exception = error
    finally:
        sys.modules["__main__"], sys.argv = before
    return Outcome(main.__dict__, exception, warned)


def category(snippet: Snippet) -> type[Warning]:
    """The class of the warning that `snippet` declares; SnippetError if there is none."""
    found = getattr(builtins, snippet.lesson["warns"], None)
    if not (isinstance(found, type) and issubclass(found, Warning)):
        raise SnippetError(
            snippet.path,
            1,
            f"warns = {snippet.lesson['warns']!r} is no built-in warning",
            "mend it",
        )
    return found


def last_line(error: BaseException) -> str:
    """What Python prints at the end of the traceback of `error`."""
    return "".join(traceback.format_exception_only(error)).rstrip("\n")


def _child(snippet: Snippet, device: str, folder: str, limit: float, answer) -> None:
    """Run `snippet` with its output in files of `folder`; send the rest through `answer`."""
    os.setsid()  # a group of its own, which `run` ends
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    for number, (name, flags) in enumerate(
        [(os.devnull, os.O_RDONLY), ("stdout", os.O_RDWR), ("stderr", os.O_RDWR)]
    ):
        opened = os.open(name, flags | os.O_CREAT if number else flags)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1, closefd=False)
    faulthandler.dump_traceback_later(limit, exit=True, file=2)
    import torch

    torch.set_num_threads(1)
    use_device(device)
    started, began = time.process_time(), time.perf_counter()
    outcome = execute(snippet)
    seconds, elapsed = time.process_time() - started, time.perf_counter() - began
    error = outcome.exception
    if error is not None and type(error).__name__ == snippet.lesson["raises"]:
        print(last_line(error))
    sys.stdout.flush()
    sys.stderr.flush()
    name = None if error is None else type(error).__name__
    trace = "" if error is None else "".join(_frames(error, snippet))
    ran = {"exception": name, "traceback": trace, "warned": outcome.warned}
    answer.send(ran | {"seconds": seconds, "elapsed": elapsed} | evidence())
    answer.close()
    os._exit(0)


def _frames(error: BaseException, snippet: Snippet) -> list[str]:
    """The traceback of `error` from the program's own first line on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != str(snippet.file):
        trace = trace.tb_next
    return traceback.format_exception(type(error), error, trace)


def context():
    """The multiprocessing context whose fork server is warm."""
    warm = multiprocessing.get_context("forkserver")
    warm.set_forkserver_preload(PRELOAD)
    return warm


def run(snippet: Snippet, device: str = "cpu", limit: float | None = None) -> Result:
    """Run `snippet` on `device` in a process of its own, stopped after `limit` seconds.

    An error of the program is part of the result; nothing is raised for it. A program of several
    ranks raises NotImplementedError: run as one process it would pass for what it is not.
    """
    if snippet.lesson["ranks"] != 1:
        raise NotImplementedError(
            f"{snippet.path}: ranks = {snippet.lesson['ranks']}, but this runner starts one "
            "process; remove the key, or teach tests/snippets/runner.py to start several"
        )
    if limit is None:
        limit = 10 * snippet.lesson["seconds"] + PATIENCE
    if snippet.lesson["warns"]:
        category(snippet)
    warm = context()
    with tempfile.TemporaryDirectory(prefix="snippet-") as folder:
        receiver, sender = warm.Pipe(duplex=False)
        child = warm.Process(target=_child, args=(snippet, device, folder, limit, sender))
        child.start()
        sender.close()
        try:
            child.join(limit + 5)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # none left
                os.killpg(child.pid, signal.SIGKILL)
            child.kill()
            child.join()
        try:
            answer = receiver.recv() if receiver.poll() else None
        except EOFError:
            answer = None
        receiver.close()
        text, stderr = (
            path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
            for path in (Path(folder, "stdout"), Path(folder, "stderr"))
        )
        code = child.exitcode
        child.close()
    ended = answer is not None
    answer = answer or {"exception": None, "traceback": "", "warned": False, "seconds": limit}
    stopped = code != 0 and (code == -9 or "Timeout (" in stderr)
    return Result(
        snippet.path, device, text, stderr, timed_out=stopped, exit_code=code, ended=ended, **answer
    )
