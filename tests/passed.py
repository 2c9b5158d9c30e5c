"""Costly tests that `make test` need not repeat: they passed, and what they look at is as it was.

A test counts as passed only if nothing has changed since that it can look at: no file of the
repository, the versions and the browser among them, but for what `COSTLY` says of its file. (What
lies in build/ is made from these.) A test that fails is forgotten. Those that are not repeated are
counted apart, never as passed. Only ``pytest --kept`` reads and writes this (build/cache/passed); a
new checkout, as CI has, runs every test, and so does one without git.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from tools import sealed
from tools.browser import find
from tools.languages import ROOT
from tools.sealed import digest

FILE = ROOT / "build" / "cache" / "passed"
#: They build a house with pages and programs of its own.
_HOUSE = ("docs", "snippets")
#: They run programs of their own.
_PROGRAMS = (*_HOUSE, "theme", "locales")
#: The costly tests, and the folders that none of them looks into. conftest.py sees to it in the
#: process of the test; what a test starts, whoever adds a line here has to look at.
COSTLY = {
    "tests/notebooks": (),
    "tests/pages/test_commands.py": (),
    "tests/publish": _HOUSE,
    "tests/site": (),
    "tests/snippets/test_harness.py": _PROGRAMS,
    "tests/snippets/test_mutants.py": _PROGRAMS,
    "tests/snippets/test_ranks.py": _PROGRAMS,
    "tests/snippets/test_verify.py": _PROGRAMS,
    "tests/tools/test_build.py": _HOUSE,
    "tests/tools/test_course.py": _HOUSE,
    "tests/tools/test_differences.py": _HOUSE,
    "tests/tools/test_kept.py": _HOUSE,
    "tests/tools/test_kept_runs.py": _HOUSE,
    "tests/tools/test_serve.py": _HOUSE,
    "tests/workflows/test_changes.py": _HOUSE,
}


def apart(file: str) -> tuple[str, ...] | None:
    """Return the folders that the tests of a file don't look into; None if they are not costly."""
    return COSTLY.get(file, COSTLY.get(os.path.dirname(file)))


@cache
def _files(root: Path) -> tuple[str, ...]:
    """Return the files of the repository, those among them that are not committed yet, too."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return tuple(sorted(filter(None, set(done.stdout.split("\0")))))


@cache
def _content(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b"(none)"


@cache
def _versions() -> str:
    """Return the hash of what is not in the repository: Python, the system, the browser."""
    browser = Path(find() or "none").resolve()
    changed = browser.stat().st_mtime_ns if browser.is_file() else None
    return digest([sys.version, platform.platform(), browser, changed])


@cache
def looked_at(test: str, root: Path = ROOT) -> str:
    """Return the hash of all that the tests of the file `test` can look at.

    That is all of the repository but what stands `apart`, and the tests of other folders.
    """
    not_seen = apart(test) or ()
    here = os.path.dirname(test)

    def counts(file: str) -> bool:
        top, folder = file.partition("/")[0], os.path.dirname(file)
        other = top == "tests" and folder != here and os.path.basename(file).startswith("test_")
        return top not in not_seen and not other

    files = [file for file in _files(root) if counts(file)]
    return digest([_versions(), *(part for f in files for part in (f, _content(root / f)))])


def forget() -> None:
    """Look at the files anew."""
    for each in (_files, _content, looked_at):
        each.cache_clear()


class Passed:
    """The tests that have passed: of each file, what it looked at and their names."""

    def __init__(self, file: Path = FILE, root: Path = ROOT):
        self.file, self.root, self.on = file, root, False
        self.before: dict[str, dict] = {}
        self._began: dict[str, str] = {}
        self._outcomes: dict[tuple[str, str], list[str]] = defaultdict(list)

    def start(self) -> None:
        """Use them from now on."""
        forget()
        self.on = (self.root / ".git").exists()  # it tells which files there are
        self.before = json.loads(sealed.read(self.file) or b"{}")

    def has(self, test: str, name: str) -> bool:
        """Say whether the test `name` of the file `test` need not be repeated."""
        if not self.on or apart(test) is None:
            return False
        kept = self.before.get(test, {})
        return name in kept.get("names", ()) and kept["looked_at"] == looked_at(test, self.root)

    def see(self, test: str, name: str, when: str, outcome: str) -> None:
        """Take notice of how the `when` (setup, call, teardown) of a test ended."""
        if self.on and apart(test) is not None:
            self._began.setdefault(test, looked_at(test, self.root))
            self._outcomes[test, name].append(f"{when} {outcome}")

    def end(self) -> None:
        """Keep which tests have passed, if what they look at did not change while they ran."""
        forget()
        for test, began in self._began.items():
            now = looked_at(test, self.root)
            kept = self.before.get(test, {"looked_at": None, "names": []})
            names = set(kept["names"] if kept["looked_at"] == now else ())
            for (of, name), outcomes in self._outcomes.items():
                if of == test:
                    names.discard(name)
                    if outcomes == ["setup passed", "call passed", "teardown passed"]:
                        names.add(name)
            if began != now:
                names = set()
            self.before[test] = {"looked_at": now, "names": sorted(names)}
        if self._began:
            sealed.write(self.file, json.dumps(self.before).encode())


PASSED = Passed()
