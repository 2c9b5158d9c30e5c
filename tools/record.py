"""The record of what ran: ``build/verification/<name>.json``, one file for a device class.

``make verify`` writes it, the site's badges read it, the gate holds the pages against it. FIELDS
and PROGRAM below are its schema, in version SCHEMA; CONTRIBUTING.md explains it to people. A record
that is not exactly so is refused, and never half understood. Nothing here imports torch or any
package of the site, because records are written on machines that have none.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tools.snippets import Snippet

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "verification"

#: Raised by one with every change of FIELDS, PROGRAM or what a field means.
SCHEMA = 1

#: What came of a program. `excluded`: its own metadata says that it is not for this device class.
#: `skipped`: it could have run, and did not. Only `passed` is a pass.
OUTCOMES = ("passed", "failed", "skipped", "excluded")

_TEXT, _HASH, _COMMIT = r"(?s).+", r"[0-9a-f]{64}", r"[0-9a-f]{40}|[0-9a-f]{64}"
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"

#: The fields of a record: the type, the form of a text (a list's: of each item), null allowed.
FIELDS = {
    "schema": (int, None, False),
    "device": (str, r"[a-z]+", False),  # what was asked for: cpu, cuda, mps, xpu
    "found": (str, r"[a-z]+", True),  # what torch found; null: no such device
    "device_name": (str, _TEXT, True),
    "device_count": (int, None, False),
    "driver": (str, _TEXT, True),
    "torch": (str, r"\d+\.\d+\.\S+", False),
    "backend": (str, _TEXT, True),  # what torch was built for: "CUDA 13.0"
    "accelerate": (str, _TEXT, True),  # null: not installed
    "numpy": (str, _TEXT, True),
    "python": (str, r"\d+\.\d+\.\S+", False),
    "system": (str, _TEXT, False),
    "commit": (str, _COMMIT, True),  # null: not a checkout, nobody can tell what ran
    "dirty": (list, _TEXT, False),  # the files that differed from the commit before or after
    "started": (str, _TIME, False),
    "finished": (str, _TIME, False),
    "programs": (dict, None, False),
    "digest": (str, _HASH, False),  # of all the others: shows an edit by hand
}
PROGRAM = {
    "sha256": (str, _HASH, False),  # of the program's file
    "out": (str, _TEXT, False),  # the file that holds what it is to print on this device
    "out_sha256": (str, _HASH, True),  # of that file; null: there is none
    "printed_sha256": (str, _HASH, True),  # of what it printed; null: it did not run
    "ranks": (int, None, False),
    "outcome": (str, "|".join(OUTCOMES), False),
    "reason": (str, _TEXT, True),  # of any other outcome than passed
    "ran_on": (str, r"[a-z]+", True),  # the device class that the program's own process found
    "device_bytes": (int, None, True),  # the most of the accelerator's memory that it held
    "seconds": ((int, float), None, True),  # from its first statement to its last
}
#: The form of a record's file name: `cuda.json` is the device class's own, `cpu-2.11.json` another
#: run, on other versions.
NAME = re.compile(r"(?P<device>[a-z]+)(?:-[a-z0-9][a-z0-9._-]*)?\.json\Z")


class RecordError(Exception):
    """A record that can't be used. Its text reads ``file: what is wrong; what to do``."""


@dataclass(frozen=True)
class Record:
    """A record that has been read and found whole. `fields` are those of FIELDS."""

    file: str
    fields: dict

    def __getattr__(self, name: str):
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def name(self) -> str:
        """The name of the file without ``.json``."""
        return Path(self.file).name.removesuffix(".json")

    @property
    def series(self) -> str:
        """The torch series: "2.13"."""
        return ".".join(self.torch.split(".")[:2])

    @property
    def torch_release(self) -> str:
        """The torch release without what its build adds: "2.13.0" of "2.13.0+cu130"."""
        return self.torch.partition("+")[0]


def digest(fields: dict) -> str:
    """Return the hash of a record's fields, `digest` itself left out."""
    rest = {key: value for key, value in fields.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def sha256(file: Path) -> str | None:
    """Return the hash of a file's bytes; None if there is none."""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def now() -> str:
    """Return the time as records write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def when(text: str) -> datetime:
    """Return a time that a record wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


# --- reading and writing -----------------------------------------------------------------------


def _single(pairs: list[tuple[str, object]]) -> dict:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"{twice!r} stands there twice")
    return found


def _misfit(value: object, kind, form: str | None, nullable: bool) -> bool:
    """Tell whether a value is not of its kind and form."""
    if value is None:
        return not nullable
    if not isinstance(value, kind) or isinstance(value, bool):
        return True
    if isinstance(value, (int, float)):
        return not 0 <= value < 1e18
    items = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return form is not None and not all(
        isinstance(item, str) and re.fullmatch(form, item) for item in items
    )


def _fit(shown: str, where: str, given: object, fields: dict, again: str) -> None:
    """Raise RecordError unless `given` has exactly these fields, each of its kind."""
    if not isinstance(given, dict):
        raise RecordError(f"{shown}: {where or 'the record'} is no table of fields; {again}")
    for key in [*fields, *given]:
        at = f"{where}.{key}" if where else key
        if key not in given:
            raise RecordError(f"{shown}: {at} is missing; {again}")
        if key not in fields:
            raise RecordError(f"{shown}: {at} is no field of schema {SCHEMA}; {again}")
        if _misfit(given[key], *fields[key]):
            value = json.dumps(given[key])[:60]
            raise RecordError(f"{shown}: {at} can't be {value}; {again}")


def parse(text: str, shown: str) -> Record:
    """Read the text of a record; `shown` is how messages call its file.

    Raises RecordError for one that is empty, truncated, of another schema, edited or malformed.
    """
    named = NAME.match(Path(shown).name)
    if not named:
        raise RecordError(
            f"{shown}: no name of a record; call it after its device class: cpu.json, cuda.json"
        )
    again = f"run: make verify DEVICE={named['device']}"
    if not text.strip():
        raise RecordError(f"{shown}: empty; {again}")
    try:
        given = json.loads(text, object_pairs_hook=_single)
    except json.JSONDecodeError as error:
        raise RecordError(
            f"{shown}: truncated or no JSON (line {error.lineno}: {error.msg}); {again}"
        ) from error
    except ValueError as error:
        raise RecordError(f"{shown}: {error}; {again}") from error
    version = given.get("schema") if isinstance(given, dict) else None
    if version != SCHEMA or isinstance(version, bool):
        raise RecordError(f"{shown}: of schema {version!r}, this is schema {SCHEMA}; {again}")
    _fit(shown, "", given, FIELDS, again)
    if given["digest"] != digest(given):
        raise RecordError(f"{shown}: was changed after it was written; {again}")
    for path, program in given["programs"].items():
        _fit(shown, f"programs[{path!r}]", program, PROGRAM, again)
        if (program["outcome"] == "passed") != (program["reason"] is None):
            raise RecordError(
                f"{shown}: programs[{path!r}] needs a reason, or passed and has one; {again}"
            )
    if given["device"] != named["device"]:
        raise RecordError(
            f"{shown}: is the record of a run on {given['device']}; call it {given['device']}.json"
            f", and for {named['device']} {again}"
        )
    return Record(shown, given)


def read(file: Path, root: Path = ROOT) -> Record:
    """Read the record in `file`. Raises RecordError as `parse` does."""
    shown = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"{shown}: not UTF-8; write it again with make verify") from error
    except OSError as error:
        raise RecordError(f"{shown}: can't be read ({error.strerror}); mend that") from error
    return parse(text, shown)


def read_all(folder: Path = FOLDER, root: Path = ROOT) -> tuple[list[Record], list[str]]:
    """Read each file of `folder`; return the records, the CPU's first, and what is wrong."""
    records, faults = [], []
    for file in sorted(folder.glob("*")) if folder.is_dir() else []:
        try:
            records.append(read(file, root))
        except RecordError as error:
            faults.append(str(error))
    return sorted(records, key=lambda r: (r.device != "cpu", r.device, r.name)), faults


def write(fields: dict, file: Path) -> Record:
    """Write a record, all fields but `digest` given; whole or not at all.

    Raises RecordError for fields that `read` would refuse; then the file stays as it was.
    """
    fields = fields | {"digest": digest(fields)}
    text = json.dumps(fields, indent=1, ensure_ascii=False) + "\n"
    record = parse(text, file.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent.parent, prefix=f".{file.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        os.chmod(name, 0o644)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise
    return record


# --- what a record says ------------------------------------------------------------------------


def doubts(record: Record) -> list[str]:
    """Return why nothing that ran for this record counts, each ``what is wrong; what to do``."""
    again = f"make verify DEVICE={record.device}"
    found = []
    if record.found is None:
        found.append(
            f"there was no {record.device} on the machine; run on one that has it: {again}"
        )
    elif record.found != record.device:
        found.append(
            f"torch found {record.found} in place of {record.device}; "
            f"mend the driver or the build of torch, then: {again}"
        )
    elif record.device != "cpu":
        for what, name in [
            (record.device_name, "name of the device"),
            (record.driver, "driver"),
            (record.backend, "backend of torch's build"),
            (record.device_count, "count of devices"),
        ]:
            if not what:
                found.append(f"no {name} is recorded, so no accelerator worked; {again}")
        if not any(p["device_bytes"] for p in record.programs.values()):
            found.append(
                f"no program held any memory of the {record.device}, so all ran on the CPU; "
                f"mend the driver, then: {again}"
            )
    if record.commit is None:
        found.append(f"it names no commit; run in a clone that git can read: {again}")
    if record.dirty:
        some = ", ".join(record.dirty[:3]) + (" …" if len(record.dirty) > 3 else "")
        found.append(f"uncommitted changes when it ran ({some}); commit, then: {again}")
    if record.finished < record.started:
        found.append(f"it ended before it began; set the machine's clock, then: {again}")
    return found


def standing(record: Record, snippet: Snippet) -> str:
    """Return how a program as it is now stands in a record.

    One of OUTCOMES; `absent`, if there is no entry; `changed`, if the program or its output is not
    what ran; `elsewhere`, if it passed on another device than the record's; `dirty`, `missing` or
    `doubtful`, if nothing in the record counts.
    """
    entry = record.programs.get(snippet.path)
    if entry is None:
        return "absent"
    out = snippet.out_path(record.device)
    now_there = (snippet.sha256, out.relative_to(snippet.root).as_posix(), sha256(out))
    if (entry["sha256"], entry["out"], entry["out_sha256"]) != now_there:
        return "changed"
    if record.found is None and entry["outcome"] != "excluded":
        return "missing"
    if entry["outcome"] != "passed":
        return entry["outcome"]
    if entry["ran_on"] != record.device:
        return "elsewhere"
    if record.dirty or record.commit is None:
        return "dirty"
    return "doubtful" if doubts(record) else "passed"


# --- the repository ----------------------------------------------------------------------------


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git says; None if there is no git, or this is no checkout."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], env=own, capture_output=True, text=True
        )
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def commit(root: Path = ROOT) -> str | None:
    """Return the commit that is checked out; None if git can't tell."""
    found = _git(root, "rev-parse", "--verify", "HEAD")
    return found.strip() if found else None


def commit_time(root: Path = ROOT) -> datetime | None:
    """Return when the commit that is checked out was made; None if git can't tell."""
    found = _git(root, "show", "-s", "--format=%ct", "HEAD")
    return datetime.fromtimestamp(int(found), UTC) if found else None


def changes(root: Path = ROOT) -> list[str]:
    """Return the files that differ from the commit, new ones that git does not ignore included."""
    found = _git(root, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
    return sorted(line[3:] for line in found.split("\0") if line) if found else []


def required_devices(root: Path = ROOT) -> list[str]:
    """Return the device classes that pyproject.toml requires. Raises RecordError if it does not."""
    shown = "pyproject.toml"
    cure = f'{shown} must say, under [tool.verification]: required-devices = ["cpu", "cuda"]'
    try:
        table = tomllib.loads((root / shown).read_text("utf-8"))["tool"]["verification"]
        found = table["required-devices"]
    except (OSError, KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise RecordError(f"{shown}: no device classes are required; {cure}") from error
    if not (
        isinstance(found, list)
        and found
        and all(isinstance(d, str) and re.fullmatch("[a-z]+", d) for d in found)
    ):
        raise RecordError(f"{shown}: required-devices can't be {found!r}; {cure}")
    return list(dict.fromkeys(found))
