"""What the site says of a program's runs on record: the badge of a block, the cell of the matrix.

Words over plain data: a program, the records (tools/record.py), the words of a language. Nothing
here says more than a record does; without one a program is not verified.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tools import record
from tools.record import Record, RecordError
from tools.snippets import Snippet

_KEPT: dict[tuple, list[Record]] = {}


def records(folder: Path = record.FOLDER) -> list[Record]:
    """Return the records of `folder`. One that can't be used counts for nothing; the gate says why.

    Each block asks: what has been read is kept until a file changes.
    """
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    key = (folder, *((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files))
    if key not in _KEPT:
        _KEPT.clear()
        _KEPT[key], _ = record.read_all(folder)
    return _KEPT[key]


def required(root: Path = record.ROOT) -> list[str]:
    """Return the device classes that pyproject.toml requires; none if it is not to be read."""
    try:
        return _required(root, (root / "pyproject.toml").stat().st_mtime_ns)
    except (OSError, RecordError):
        return []


@cache  # each block asks; an edit gives a new time and so is read again
def _required(root: Path, _mtime: int) -> list[str]:
    return record.required_devices(root)


def device(one: Record) -> str:
    """Return the device of a record for a reader: CPU, or the accelerator's name."""
    return "CPU" if one.device == "cpu" else one.device_name or one.device.upper()


def _where(passed: list[Record]) -> tuple[str, str]:
    """Return the devices, and the torch release where it is one for all of them."""
    releases: dict[str, list[str]] = {}
    for one in passed:
        had = releases.setdefault(device(one), [])
        if one.torch_release not in had:
            had.append(one.torch_release)
    if len({tuple(found) for found in releases.values()}) == 1:
        return ", ".join(releases), ", ".join(releases[device(passed[0])])
    each = [f"{name} (PyTorch {', '.join(found)})" for name, found in releases.items()]
    return ", ".join(each), ""


def summary(
    snippet: Snippet, found: list[Record], word: dict[str, str], output: str | None = None
) -> tuple[str, bool]:
    """Return the words of a badge, and whether the program is verified on any device.

    With `output`, one of the program's, only those devices count on which it is to print that.
    """
    passed = [one for one in found if record.standing(one, snippet) == "passed"]
    if output:
        passed = [one for one in passed if one.programs[snippet.path]["out"] == output]
    if not passed:
        return word["record_none"], False
    devices, release = _where(passed)
    accelerators = [kind for kind in snippet.lesson["devices"] if kind != "cpu"]
    if accelerators and all(one.device == "cpu" for one in passed):
        devices += f", {word['record_no_gpu']}"
    fails = snippet.lesson["raises"] or snippet.lesson["warns"]
    key = ("record_fails" if fails else "record_wrong") if snippet.wrong else "record_passed"
    said = [word[key].format(devices=devices)]
    if release:
        said.append(f"PyTorch {release}")
    # Of several the oldest: a later run on one device says nothing of the others.
    said.append(min(one.finished for one in passed)[:10])
    return " · ".join(said), True


def versions(one: Record, word: dict[str, str]) -> list[str]:
    """Return what a record says of the machine and its software, for a reader."""
    said = [one.device_name or one.device.upper()]
    if one.driver:
        said.append(word["record_driver"].format(driver=one.driver))
    said.append(f"PyTorch {one.torch}" + (f" ({one.backend})" if one.backend else ""))
    if one.accelerate:
        said.append(f"accelerate {one.accelerate}")
    if one.numpy:
        said.append(f"NumPy {one.numpy}")
    return [*said, f"Python {one.python}"]


def revision(one: Record, word: dict[str, str]) -> str:
    """Return the commit of a record, for a reader."""
    if one.commit is None:
        return word["record_no_commit"]
    said = word["record_commit"].format(commit=one.commit[:7])
    return f"{said}, {word['standing_dirty']}" if one.dirty else said


def cell(one: Record | None, snippet: Snippet, word: dict[str, str]) -> tuple[str, str]:
    """Return how a program stands in a record (None: there is none), as a key and in words."""
    state = "absent" if one is None else record.standing(one, snippet)
    said = word[f"standing_{state}"]
    if state == "passed" and (seconds := one.programs[snippet.path]["seconds"]) is not None:
        digits = 1 if seconds >= 1 else 2
        said += ", " + f"{seconds:.{digits}f}".replace(".", word["decimal"]) + "\u00a0s"
    return state, said


def details(snippet: Snippet, found: list[Record], word: dict[str, str], needed=()) -> list[str]:
    """Return a line for each record, and for each device class `needed` that has none."""
    lines = []
    for one in found:
        state, said = cell(one, snippet, word)
        told = [f"{one.device.upper()}: {said}"]
        if state in ("passed", "failed", "elsewhere", "dirty", "doubtful"):
            told += [*versions(one, word), revision(one, word), one.finished[:10]]
        lines.append(" · ".join(told))
    for kind in needed:
        if kind not in {one.device for one in found}:
            lines.append(f"{kind.upper()}: {cell(None, snippet, word)[1]}")
    return lines
