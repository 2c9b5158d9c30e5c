"""Run one program, of one rank or of several, in processes forked from a warm parent.

The parent (the standard library's fork server, one for each test process) has imported torch and
has run no tensor operation, so a child starts in milliseconds and in the state of a fresh
interpreter. The child runs the program as ``__main__``, with one thread, standard input closed,
warnings as errors, a hard time-out and a limit to what it may write, and leaves by ``os._exit``
after a flush; processes that it has started end with it. So nothing that a program leaves behind
can hang or spoil the next one.

A program of several ranks is a child for each, with the environment that torchrun gives and one
working folder for all. As under torchrun the ranks meet at a store that their starter holds, so its
port is taken before they know of it, and a rank that fails takes the others with it.
"""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import multiprocessing
import multiprocessing.connection
import os
import pickle
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from tools.snippets import Snippet, SnippetError

PRELOAD = [
    "numpy",
    "torch",
    "torch._dynamo",
    "torch._subclasses.fake_tensor",
    "torch.distributed",
    "torch.nn.parallel",
    "torch.utils.checkpoint",
    "torch.utils.data.distributed",
    "accelerate",
    "pytest",
]

#: Seconds a program may take beyond ten times its own limit before it is stopped: a machine
#: under load is slow, a program that hangs never ends.
PATIENCE = 30

#: Seconds that the other ranks have when one has failed. Under torchrun they have a moment.
GRACE = 5

#: The signal at which a process of a program writes the stacks of its threads to standard error.
STACKS = signal.SIGUSR1

#: Bytes that a program may write into a file, its output included.
MOST = 128 * 2**20

#: How gloo tells a rank that another has gone: a consequence. What that one says is the cause.
_GONE = re.compile(r"Connection (closed|reset) by peer|Broken pipe")


@dataclass(frozen=True)
class Result:
    """What a run of a program gave.

    ``text`` is what a reader sees: standard output, shown warnings in their place, and the last
    line of the traceback of an error that the program declares. ``exception`` is the name of
    the error's type (None without one), ``traceback`` all of it, ``line`` where in the program it
    arose. ``seconds`` is processor time, ``elapsed`` time on the clock. ``ran_on`` is the device
    class that torch found in the program's own process, ``device_bytes`` the most of an
    accelerator's memory that the program held. ``ended`` is False when the process was gone before
    the program was at its end; ``rank`` is the one of several that all this is about.

    Of several ranks, ``text`` has what rank 0 printed, then what rank 1 printed, and so on; each
    line of an error begins with ``[rank1]: ``, as under torchrun. The error is that of the first
    rank that has one other than that another rank has gone. ``seconds`` and ``elapsed`` are those
    of the slowest rank, ``device_bytes`` of all together. ``stopped`` are the ranks that were ended
    because another had failed.
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
    line: int | None = None
    rank: int | None = None
    stopped: tuple[int, ...] = ()


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


@dataclass(frozen=True)
class Probe:
    """What to do around a program in each of its processes, and what to bring back.

    ``names`` are global variables of the program. ``before`` is called without an argument,
    ``after`` with the program's namespace. Both must be functions that another process can import.
    """

    names: Sequence[str] = ()
    before: Callable[[], object] | None = None
    after: Callable[[dict], object] | None = None


@dataclass(frozen=True)
class _Place:
    """Where a child runs: on which device, in which folders, for how long, as which rank."""

    device: str
    limit: float
    log: Path
    work: Path
    environment: dict[str, str]


def _child(snippet: Snippet, place: _Place, probe: Probe | None) -> None:
    """Run `snippet` with its output in files of the log folder, and the rest of its answer too."""
    os.setsid()  # a group of its own, which `run` ends
    os.chdir(place.work)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    for number, (name, flags) in enumerate(
        [(os.devnull, os.O_RDONLY), ("stdout", os.O_RDWR), ("stderr", os.O_RDWR)]
    ):
        opened = os.open(place.log / name, flags | os.O_CREAT if number else flags)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1, closefd=False)
    # What it forks inherits this. The time-out is for when the one who waits is gone itself.
    faulthandler.register(STACKS, file=2)
    faulthandler.dump_traceback_later(place.limit + 10, exit=True, file=2)
    for key in _torchrun(0, 1, 0):
        os.environ.pop(key, None)
    os.environ.update(place.environment, OMP_NUM_THREADS="1")  # as torchrun sets it
    # No rank may be through with a short program while another still connects to it.
    os.environ["TORCH_DIST_INIT_BARRIER"] = "1"
    import torch

    torch.set_num_threads(1)
    use_device(place.device)
    if probe and probe.before:
        probe.before()
    started, began = time.process_time(), time.perf_counter()
    outcome = execute(snippet)
    seconds, elapsed = time.process_time() - started, time.perf_counter() - began
    error = outcome.exception
    sys.stdout.flush()
    sys.stderr.flush()
    answer = {
        "exception": None if error is None else type(error).__name__,
        "traceback": "" if error is None else "".join(_frames(error, snippet)),
        "line": None if error is None else _line(error, snippet),
        "warned": outcome.warned,
        "seconds": seconds,
        "elapsed": elapsed,
        "message": None if error is None else last_line(error),
    }
    answer |= evidence()
    if probe:
        answer |= _keep(probe, outcome)
    part = place.log / "answer.part"
    part.write_bytes(pickle.dumps(answer))
    os.replace(part, place.log / "answer")
    os._exit(0 if error is None else 1)


def _keep(probe: Probe, outcome: Outcome) -> dict:
    """What `probe` asks for of a program that has run, in a form that can be sent."""
    try:
        absent = [name for name in probe.names if name not in outcome.namespace]
        if absent and outcome.exception is None:
            raise NameError(f"the program has no global variable {', '.join(absent)}")
        kept = {n: _plain(outcome.namespace[n]) for n in probe.names if n not in absent}
        if probe.after:
            kept["__after__"] = _plain(probe.after(outcome.namespace))
        return {"kept": pickle.dumps(kept)}
    except BaseException:
        return {"fault": traceback.format_exc()}


def _plain(value):
    """`value` on the CPU, with the state of what has one (modules, optimizers) in its place."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if hasattr(value, "state_dict") and not isinstance(value, type):
        return _plain(value.state_dict())
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_plain(item) for item in value)
    return value


def _frames(error: BaseException, snippet: Snippet) -> list[str]:
    """The traceback of `error` from the program's own first line on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != str(snippet.file):
        trace = trace.tb_next
    return traceback.format_exception(type(error), error, trace)


def _line(error: BaseException, snippet: Snippet) -> int | None:
    """The last line of the program itself in the traceback of `error`."""
    lines = [
        f.lineno
        for f in traceback.extract_tb(error.__traceback__)
        if f.filename == str(snippet.file)
    ]
    return lines[-1] if lines else getattr(error, "lineno", None)


def context():
    """The multiprocessing context whose fork server is warm."""
    warm = multiprocessing.get_context("forkserver")
    warm.set_forkserver_preload(PRELOAD)
    return warm


def too_few(snippet: Snippet, device: str, there: int) -> str | None:
    """Why `snippet` can't run on `device`, if it needs more of them than the machine has."""
    needed = snippet.lesson["gpus"]
    if device == "cpu" or needed <= there:
        return None
    return f"needs {needed} {device} devices, found {there}"


def _torchrun(rank: int, count: int, port: int) -> dict[str, str]:
    """The environment that torchrun gives to a rank on one machine."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "GROUP_RANK": "0",
        "ROLE_RANK": str(rank),
        "ROLE_NAME": "default",
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "GROUP_WORLD_SIZE": "1",
        "ROLE_WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
        "TORCHELASTIC_RUN_ID": "none",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }


def run(
    snippet: Snippet,
    device: str = "cpu",
    limit: float | None = None,
    **options,
) -> Result:
    """Run `snippet` on `device` in a process for each of its ranks, stopped after `limit` seconds.

    An error of the program is part of the result; nothing is raised for it. The options are those
    of `run_ranks`.
    """
    return run_ranks(snippet, device, limit, **options)[0]


def run_ranks(
    snippet: Snippet,
    device: str = "cpu",
    limit: float | None = None,
    *,
    probe: Probe | None = None,
    count: int | None = None,
    folder: Path | None = None,
) -> tuple[Result, list[dict]]:
    """As `run`; return also what each rank's process answered.

    `probe` is what to bring back, `count` the number of ranks in place of the program's own (under
    torchrun's environment even if it is 1), `folder` a working folder that is there afterwards.
    """
    if limit is None:
        limit = 10 * snippet.lesson["seconds"] + PATIENCE
    if snippet.lesson["warns"]:
        category(snippet)
    several = snippet.lesson["ranks"] > 1 or count is not None
    count = count or snippet.lesson["ranks"]
    warm = context()
    with tempfile.TemporaryDirectory(prefix="snippet-") as aside, contextlib.ExitStack() as stack:
        store = None
        if several:
            import torch.distributed as dist

            # Port 0: the system picks a free one, and the store holds it from then on.
            store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        work = folder or Path(aside, "work")
        work.mkdir(exist_ok=True)
        logs, children = [Path(aside, str(rank)) for rank in range(count)], []
        for rank, log in enumerate(logs):
            log.mkdir()
            environment = _torchrun(rank, count, store.port) if several else {}
            place = _Place(device, limit, log, work, environment)
            child = warm.Process(target=_child, args=(snippet, place, probe))
            stack.callback(_end, child)
            child.start()
            children.append(child)
        left = _wait(children, limit)
        codes = [child.exitcode for child in children]  # None of those that are left
        if left == "overdue":
            for child, code in zip(children, codes, strict=True):
                if code is None:
                    _ask_for_stacks(child)
        for child in children:
            _end(child)
        answers, texts, errors = [], [], []
        for log in logs:
            answer = log / "answer"
            answers.append(pickle.loads(answer.read_bytes()) if answer.exists() else {})
            texts.append(_read(log / "stdout"))
            errors.append(_read(log / "stderr"))
        del store
    for answer, text in zip(answers, texts, strict=True):
        if answer:
            answer["stdout"] = text
    ranks = [
        _Rank(rank, text, stderr, code, left if code is None else "", answer)
        for rank, (text, stderr, code, answer) in enumerate(
            zip(texts, errors, codes, answers, strict=True)
        )
    ]
    return _together(snippet, device, ranks, limit, several), answers


def _wait(children: list, limit: float) -> str:
    """Wait until all have ended. If some are left, say whether they are `stopped` or `overdue`.

    `stopped` are those that did not end within GRACE seconds after one of them had failed.
    """
    deadline, why = time.monotonic() + limit, "overdue"
    while alive := [child for child in children if child.exitcode is None]:
        if why == "overdue" and any(child.exitcode for child in children):
            deadline, why = min(deadline, time.monotonic() + GRACE), "stopped"
        rest = deadline - time.monotonic()
        if rest <= 0:
            return why
        multiprocessing.connection.wait([child.sentinel for child in alive], rest)
    return ""


def _end(child) -> None:
    """End a child, and what it has started."""
    if child.pid is None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):  # none left
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.join()


def _ask_for_stacks(child) -> None:
    """Have a child and what it has started write their stacks, one after the other.

    At once, they would write between each other's words.
    """
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) == child.pid:
                os.kill(pid, STACKS)
                time.sleep(0.5)


def _read(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace") if file.exists() else ""


@dataclass(frozen=True)
class _Rank:
    """What one process of a program left. `left` says why it had to be ended, if it had to be."""

    number: int
    text: str
    stderr: str
    code: int | None
    left: str
    answer: dict

    @property
    def died(self) -> bool:
        return not self.answer and not self.left

    @property
    def failed(self) -> str | None:
        return self.answer.get("exception")

    @property
    def bereft(self) -> bool:
        """Whether it failed because another rank had gone."""
        return bool(self.failed and _GONE.search(self.answer["message"]))


def _together(
    snippet: Snippet, device: str, ranks: list[_Rank], limit: float, several: bool
) -> Result:
    """Make one Result of what the processes of a program left."""
    declared = snippet.lesson["raises"]
    timed_out = [r for r in ranks if r.left == "overdue"]
    died = [r for r in ranks if r.died]
    causes = [r for r in ranks if r.failed and not r.bereft]
    if not causes and not died:
        causes = [r for r in ranks if r.failed]
    undeclared = [r for r in causes if r.failed != declared]
    chosen = (timed_out or died or undeclared or causes or ranks)[0]
    of = (undeclared or causes or ranks)[0].answer

    def marked(text: str, rank: _Rank) -> str:
        lead = f"[rank{rank.number}]: " if several else ""
        return "".join(f"{lead}{line}" for line in text.splitlines(keepends=True))

    def shown(rank: _Rank) -> str:
        last = f"{rank.answer['message']}\n" if rank in causes and rank.failed == declared else ""
        return rank.text + marked(last, rank)

    tracebacks = "".join(marked(r.answer["traceback"], r) for r in ranks if r.failed)
    stderr = "".join(marked(r.stderr, r) for r in ranks)
    if several and (timed_out or died):
        stderr += tracebacks
    answered = [r.answer for r in ranks if r.answer]
    slowest = {key: max((a[key] for a in answered), default=None) for key in ("seconds", "elapsed")}
    ran_on = sorted({a["ran_on"] for a in answered}, key=lambda found: found == device)
    held = [a["device_bytes"] for a in answered if a["device_bytes"] is not None]
    return Result(
        snippet.path,
        device,
        "".join(map(shown, ranks)),
        stderr,
        exception=of.get("exception"),
        traceback=tracebacks,
        warned=any(a["warned"] for a in answered),
        seconds=limit if slowest["seconds"] is None else slowest["seconds"],
        timed_out=bool(timed_out),
        exit_code=died[0].code if died else -9 if timed_out else 0,
        elapsed=slowest["elapsed"],
        ran_on=ran_on[0] if ran_on else None,
        device_bytes=sum(held) if held else None,
        ended=not (timed_out or died),
        line=of.get("line"),
        rank=chosen.number if several else None,
        stopped=tuple(r.number for r in ranks if r.left == "stopped"),
    )
