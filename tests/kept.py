"""Runs of programs in the tests, kept in build/cache/runs/, so that `make test` repeats none.

A run counts only if all that it was made from is as it was: its program and whatever else its test
hands over, the code of the tests and of tools/, the versions. What a run printed is still compared,
each time, with what it must be. A run is kept once the test that asked for it has passed; one that
was taken from here is thrown away when its test fails. Only ``pytest --kept`` reads and writes it,
for programs on the CPU. A new checkout, as CI has, runs everything.
"""

from __future__ import annotations

import ast
import dataclasses
import pickle
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path

from tests.snippets import compare, runner
from tools import sealed
from tools.sealed import digest
from tools.snippets import ROOT, Snippet

FOLDER = ROOT / "build" / "cache" / "runs"
CODE = ("tests/*.py", "tests/pages/*.py", "tests/snippets/*.py")
_PACKAGES = ("accelerate", "numpy", "torch")
_SEES_ITSELF = re.compile(r"traceback|faulthandler|inspect|frame|lineno|__(file|doc|main)__|argv")


def base(root: Path = ROOT, packages: Iterable[str] = _PACKAGES) -> str:
    """Return the hash of what every run depends on: code and versions."""
    code = sorted(file for each in (*CODE, "tools/**/*.py") for file in root.glob(each))
    files = [root / "constraints.txt", *code]
    return digest(
        [sys.version, platform.platform()]
        + [metadata.version(name) for name in packages]
        + [part for file in files for part in (str(file.relative_to(root)), file.read_bytes())]
    )


class Runs:
    """The kept runs. `on` says whether to use them, `taken` counts those that were not repeated."""

    def __init__(self, folder: Path = FOLDER, code: str | None = None):
        self.on, self.taken = False, 0
        self.folder, self.code = folder, code
        self._asked: dict[str, int] = {}
        self._used: dict[Path, bytes | None] = {}  # None: it was there

    def start(self) -> None:
        """Use them from now on. What other code or other versions have left is removed."""
        self.on, self.code = True, self.code or base()
        for other in self.folder.glob("*"):
            if other.name != self.code:
                shutil.rmtree(other, ignore_errors=True)  # another worker may be doing the same

    def get(self, parts: Iterable[object], make: Callable, good: Callable = lambda made: True):
        """Return what `make` returns, or what it did return for the same `parts`.

        What is not `good` is not kept. A test that asks twice for the same gets two runs.
        """
        if not self.on:
            return make()
        key = digest(parts)
        number = self._asked[key] = self._asked.get(key, 0) + 1
        file = self.folder / self.code / f"{key}-{number}"
        if (content := sealed.read(file)) is not None:
            self.taken += 1
            self._used[file] = None
            return pickle.loads(content)
        made = make()
        if good(made):
            self._used[file] = pickle.dumps(made)
        return made

    def end(self, passed: bool) -> None:
        """Keep what a test has run, if it has passed; else throw away what it took from here."""
        for file, content in self._used.items():
            if not passed:
                file.unlink(missing_ok=True)
            elif content is not None:
                sealed.write(file, content)
        self._used.clear()
        self._asked.clear()


RUNS = Runs()


def run_ranks(
    snippet: Snippet,
    device: str = "cpu",
    limit: float | None = None,
    *,
    probe: runner.Probe | None = None,
    count: int | None = None,
    folder: Path | None = None,
) -> tuple[runner.Result, list[dict]]:
    """As `runner.run_ranks`, unless such a run is kept. One in a given folder never is."""

    def run() -> tuple[runner.Result, list[dict]]:
        return runner.run_ranks(snippet, device, limit, probe=probe, count=count, folder=folder)

    if folder:
        return run()
    functions = (probe.before, probe.after) if probe else ()
    asked = [f and (f.__module__, f.__qualname__) for f in functions]  # their code is the tests'
    names = tuple(probe.names) if probe else ()
    return RUNS.get(
        [snippet.path, _code(snippet.source), snippet.lesson, device, limit, count, names, asked],
        run,
        lambda made: _sound(snippet, *made),
    )


def _code(source: str) -> str:
    """Return what of a program decides what it does: not its comments, and not its docstring.

    So a program and its sections, pasted into a file, are one. Of one that may see its own lines
    it is all of it.
    """
    if _SEES_ITSELF.search(source):
        return source
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    return ast.dump(tree)


def _sound(snippet: Snippet, result: runner.Result, answers: list[dict]) -> bool:
    faults = compare.run_faults(snippet, dataclasses.replace(result, seconds=0))
    return not faults and not any("fault" in answer for answer in answers)
