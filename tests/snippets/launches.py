"""Start each program of several ranks as its reader does, by torchrun (``make launches``).

    python -m pytest tests/snippets/launches.py [-k ddp/train]

The other tests fork the ranks from a warm parent, which takes a fiftieth of the time. This sees
that a real launch prints the same: the lines of the ``.out``, in whatever order the ranks come to
print them. It takes minutes, so it runs each night and not with ``make test``, which launches one
of them so (test_launches.py).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.kept import RUNS
from tests.snippets import compare
from tests.snippets.conftest import ROOT, skip_if_too_few
from tools import pages
from tools.snippets import Snippet, load_all

#: Seconds that a launch may take: torch is imported anew by torchrun and by each rank.
LIMIT = 180

#: Gloo's threads may abort a process at its very end, after all is done (pytorch#75097).
ABORTED = "-6"

#: How torchrun ends the other ranks when one has failed.
ENDED = "-15"


def pytest_generate_tests(metafunc):
    if "snippet" in metafunc.fixturenames:
        device = metafunc.config.getoption("--device", "cpu")
        able = [s for s in load_all(ROOT) if s.lesson["ranks"] > 1]
        able = [s for s in able if device in s.lesson["devices"]]
        metafunc.parametrize("snippet", able, ids=lambda snippet: snippet.path)


def test_launch_prints_the_out(snippet, device, tmp_path):
    skip_if_too_few(snippet, device)
    for name in ("first", "second"):  # time-outs of a second are missed on a busy machine
        folder = tmp_path / name
        folder.mkdir()
        found = faults(snippet, *launch(snippet, folder), device)
        if not found:
            break
        print(f"the {name} launch:", *found, sep="\n")
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_two_machines_train_as_one_when_both_lines_run_on_one_host():
    """What the page on Accelerate prints for two machines; MAIN is the first one's address."""
    fences = pages.load_all()["en"]["accelerate"].fences
    lines = [line for f in fences if f.lang == "bash" for line in f.body.splitlines()]
    machines = [line for line in lines if "two_machines.yaml" in line]
    assert len(machines) == 2
    files = [ROOT / "accelerate" / name for name in ("train.py", "two_machines.yaml")]
    ended, _ = as_printed(machines, files, MAIN="127.0.0.1", CUDA_VISIBLE_DEVICES="")
    for out, _ in ended:  # in bf16, so a little different; and once on each machine
        expected = (ROOT / "accelerate/train.out").read_text("utf-8")
        assert not compare.differences(expected, out, rtol=0.2), out


def command(snippet: Snippet) -> str:
    """What a reader types to start `snippet`."""
    return f"torchrun --nproc-per-node {snippet.lesson['ranks']} {snippet.file.name}"


def launch(snippet: Snippet, folder: Path, limit: float = LIMIT) -> tuple[int | None, str, str]:
    """Start `snippet` by its command in the empty `folder`.

    Return the exit code (None if it had to be stopped), standard output and standard error.
    """
    shutil.copy(snippet.file, folder)
    return _end(_start(command(snippet), folder, OMP_NUM_THREADS=None), limit)


def as_printed(
    commands: list[str], files: list[Path], **variables: str | None
) -> tuple[list[tuple[str, str]], dict[str, bytes]]:
    """Start the commands of a page, all at once, in a folder that holds these files alone.

    Return what each wrote to standard output and standard error, and the files that are there when
    all have ended, well. Of the variables of the environment those that are None are left out;
    PORT is a port that is free.
    """

    def start() -> tuple[list[tuple[str, str]], dict[str, bytes]]:
        with tempfile.TemporaryDirectory(prefix="launch-") as folder:
            for file in files:
                shutil.copy(file, folder)
            with socket.create_server(("localhost", 0)) as free:
                port = str(free.getsockname()[1])
            started = [_start(line, Path(folder), PORT=port, **variables) for line in commands]
            with ThreadPoolExecutor(len(started)) as pool:
                ended = list(pool.map(_end, started))
            for line, (code, out, err) in zip(commands, ended, strict=True):
                assert code == 0, f"{line}\n{out}{err}"
            left = {
                str(file.relative_to(folder)): file.read_bytes()
                for file in Path(folder).rglob("*")
                if file.is_file()
            }
            return [(out, err) for _, out, err in ended], left

    given = [(file.name, file.read_bytes()) for file in files]
    return RUNS.get([commands, given, sorted(variables.items())], start)


def _start(line: str, folder: Path, **variables: str | None) -> subprocess.Popen:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"} | variables
    return subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=folder,
        env={name: value for name, value in environment.items() if value is not None},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _end(process: subprocess.Popen, limit: float = LIMIT) -> tuple[int | None, str, str]:
    try:
        out, err = process.communicate(timeout=limit)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # torchrun ends the ranks, which have other groups
        return None, *process.communicate()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)


def missing(expected: list[str], printed: list[str], varies: list[str], rtol: float) -> list[str]:
    """Take the lines `expected` from `printed`, whatever their order; return those not in it.

    What is left of `printed` are lines that nobody expected.
    """
    lost = []
    for line in expected:
        for other in printed:
            if not compare.differences(line, other, varies, rtol):
                printed.remove(other)
                break
        else:
            lost.append(line)
    return lost


def faults(snippet: Snippet, code: int | None, out: str, err: str, device: str) -> list[str]:
    """What a launch of `snippet` did otherwise than its ``.out`` and its metadata say."""
    where = f"{snippet.path}: {command(snippet)}"
    tail = "\n".join(err.splitlines()[-40:])
    if code is None:
        return [f"{where}: did not end; what it wrote last:\n{tail}"]
    codes = dict(re.findall(r"rank *: (\d+) \(local_rank: \d+\)\s+exitcode *: (-?\d+)", err))
    expected = snippet.out_path(device).read_text("utf-8").splitlines()
    told = [line for line in expected if _on_standard_error(snippet, line)]
    printed, said = out.splitlines(), err.splitlines()
    varies, rtol = snippet.lesson["varies"], compare.tolerance(snippet, device)
    lost = missing([line for line in expected if line not in told], printed, varies, rtol)
    if lost:
        # Torchrun's Python writes the end of a line apart, so another rank may come between.
        printed = [part for line in printed for part in re.split(r"(?=rank \d+: )", line) if part]
        lost = missing(lost, printed, varies, rtol)
    untold = [t for t in told if missing([t], [_as_shown(o, t) for o in said], varies, rtol)]
    if snippet.lesson["raises"] and len(untold) < len(told):
        # One rank has said it. Those that torchrun then ended had no time to.
        ended = tuple(f"rank{gap}{n}" for n, c in codes.items() if c == ENDED for gap in ("", " "))
        lost = [line for line in lost if not line.startswith(ended)]
        untold = [line for line in untold if not line.lstrip("[").startswith(ended)]
    lost += untold
    found = [f"  expected, and not there: {line!r}" for line in lost]
    found += [f"  printed, and not expected: {line!r}" for line in printed]
    if snippet.lesson["raises"] and code == 0:
        found.append(f"  ended well, but declares {snippet.lesson['raises']}")
    if not snippet.lesson["raises"] and code != 0:
        # All was printed, and then only gloo's end failed: said, and no fault.
        if found or ABORTED not in codes.values() or set(codes.values()) - {ABORTED, ENDED}:
            found.append(f"  ended with code {code}")
        else:
            print(f"{where}: gloo aborted a rank after all was printed")
    if not found:
        return []
    return ["\n".join([f"{where}: is not {snippet.out_path(device).name}:", *found, tail])]


def _on_standard_error(snippet: Snippet, line: str) -> bool:
    """Whether a line of an ``.out`` is an error or a warning, which Python prints elsewhere."""
    warns = snippet.lesson["warns"]
    return bool(re.match(r"\[rank\d+\]: ", line) or (warns and line.startswith(f"{warns}: ")))


def _as_shown(line: str, told: str) -> str:
    """A line of standard error as the line `told` of an ``.out`` would show it."""
    line = re.sub(r"^\S+\.py:\d+: (?=\w+Warning: )", "", line)
    rank = re.match(r"\[rank\d+\]: ", told)
    return line if not rank or line.startswith("[rank") else f"{rank[0]}{line}"
