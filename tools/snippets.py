"""Snippets: whole programs in ``snippets/``, with metadata, named sections and a checked output.

This module reads them as data. It imports neither torch nor MkDocs, so that the site builds and
the checks run without either.
"""

from __future__ import annotations

import ast
import hashlib
import re
import textwrap
import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SNIPPETS = ROOT / "snippets"

#: The section whose lines are highlighted on the page; it may occur several times in a file.
NEW = "new"

#: Keys of ``[tool.lesson]`` and their defaults; ``seconds`` has none because it is required, and
#: ``gpus`` is as many as ``ranks``.
DEFAULTS = {
    "seconds": None,
    "ranks": 1,
    "gpus": None,
    "devices": ["cpu", "cuda"],
    "raises": None,
    "warns": None,
    "varies": [],
    "rtol": 0.0,
    "rtol_accelerator": None,
}
DEVICES = ("cpu", "cuda", "mps", "xpu")
#: The most processes of one program: a slip of a digit must not fill the machine.
MOST_RANKS = 16
_TYPES = {
    "seconds": int,
    "ranks": int,
    "gpus": int,
    "devices": list,
    "raises": str,
    "warns": str,
    "varies": list,
    "rtol": (int, float),
    "rtol_accelerator": (int, float),
}

METADATA = re.compile(r"(?m)^# /// script$\n(?P<toml>(?:^#(?:| .*)$\n)+)^# ///$")
MARKER = re.compile(r"^\s*# --8<-- \[(?P<edge>start|end):(?P<name>[^\]]*)\]\s*$")
_SILENT = {"simplefilter", "filterwarnings", "catch_warnings", "captureWarnings"}
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


class SnippetError(Exception):
    """A fault of a snippet file. Its text reads ``file:line: what is wrong; what to do``."""

    def __init__(self, file: str, line: int, message: str, cure: str):
        super().__init__(f"{file}:{line}: {message}; {cure}")
        self.file, self.line, self.message, self.cure = file, line, message, cure


@dataclass(frozen=True)
class Section:
    """A named part of a snippet, as a page shows it.

    ``first`` and ``last`` are 1-based lines of the file (markers of the section excluded);
    ``text`` is dedented and has no marker lines; ``new`` holds the 1-based lines of ``text``
    that a nested ``new`` section marks; ``lines`` maps each line of ``text`` to its file line.
    """

    name: str
    first: int
    last: int
    text: str
    new: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Snippet:
    """A whole program: ``path`` is relative to the snippets folder (``amp/train.py``)."""

    path: str
    source: str
    lesson: dict
    sections: dict[str, Section]
    root: Path = field(default=SNIPPETS, compare=False)

    @property
    def file(self) -> Path:
        """The program's file."""
        return self.root / self.path

    @property
    def sha256(self) -> str:
        """The hash of the source: what a record of a run refers to."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def wrong(self) -> bool:
        """True for the programs that show a mistake (those in a ``wrong`` folder)."""
        return "wrong" in Path(self.path).parts[:-1]

    def out_path(self, device: str = "cpu") -> Path:
        """The file with the expected output on `device`: the override if there is one."""
        override = self.file.with_suffix(f".{device}.out")
        return override if override.exists() else self.file.with_suffix(".out")


def _senseless(key: str, value) -> str | None:
    """Say what makes a value of the right type one by which nothing would be tested."""
    if key == "devices" and not (value and all(device in DEVICES for device in value)):
        return f"are not devices; there are {', '.join(DEVICES)}"
    if key in ("raises", "warns") and not value.isidentifier():
        return "is no name of an error or a warning"
    if key in ("seconds", "ranks", "gpus") and value < 1:
        return "is less than 1"
    if key == "ranks" and value > MOST_RANKS:
        return f"is more than {MOST_RANKS}, the most that the tests start"
    if key in ("rtol", "rtol_accelerator") and not 0 <= value < 1:
        return "is not between 0 and 1"
    return None


def _lesson(source: str, file: str) -> dict:
    """Return the ``[tool.lesson]`` table of `source`, defaults filled in, every key checked."""
    found = list(METADATA.finditer(source))
    if len(found) != 1:
        raise SnippetError(
            file,
            1,
            f"{len(found)} PEP 723 blocks instead of one",
            "start the file with '# /// script' … '# ///' as the other snippets do",
        )
    block = found[0]
    first = source[: block.start()].count("\n") + 1
    toml = "\n".join(line[2:] for line in block["toml"].splitlines())
    try:
        data = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        line = first + (int(at[1]) if at else 0)
        raise SnippetError(
            file, line, f"the PEP 723 block is no TOML ({error})", "mend it"
        ) from error

    def at(key: str) -> int:
        for number, line in enumerate(toml.splitlines(), first + 1):
            if re.match(rf"{re.escape(key)}\s*=", line):
                return number
        return first

    for key in ("requires-python", "dependencies"):
        if key not in data:
            raise SnippetError(file, first, f"the PEP 723 block has no {key}", "add it")
    lesson = data.get("tool", {}).get("lesson")
    if lesson is None:
        raise SnippetError(
            file, first, "no [tool.lesson] table", "add it, with 'seconds = …' at least"
        )
    for key, value in lesson.items():
        if key not in DEFAULTS:
            raise SnippetError(
                file, at(key), f"unknown key {key!r}", f"the keys are {', '.join(DEFAULTS)}"
            )
        if not isinstance(value, _TYPES[key]) or isinstance(value, bool):
            raise SnippetError(
                file,
                at(key),
                f"{key} = {value!r} has the wrong type",
                "see the table of keys in CONTRIBUTING.md",
            )
        if why := _senseless(key, value):
            raise SnippetError(
                file,
                at(key),
                f"{key} = {value!r} {why}",
                "see the table of keys in CONTRIBUTING.md",
            )
    if "seconds" not in lesson:
        raise SnippetError(
            file, first, "[tool.lesson] has no 'seconds'", "state how long it may run on a CPU"
        )
    for pattern in lesson.get("varies", []):
        try:
            re.compile(pattern)
        except (re.error, TypeError) as error:
            raise SnippetError(
                file, at("varies"), f"{pattern!r} is no regular expression ({error})", "mend it"
            ) from error
        if re.match(pattern, ""):
            raise SnippetError(
                file,
                at("varies"),
                f"{pattern!r} matches nothing at all, and so every line would be right",
                "let it match the part of the line that stays",
            )
    for key in ("raises", "warns"):
        if key in lesson and "wrong" not in Path(file).parts[:-1]:
            raise SnippetError(
                file,
                at(key),
                f"{key!r} is for programs that show a mistake",
                "move the program into wrong/, or mend it and remove the key",
            )
    lesson = DEFAULTS | lesson
    if lesson["gpus"] is None:
        lesson["gpus"] = lesson["ranks"]
    return lesson


def parse_sections(source: str, file: str) -> dict[str, Section]:
    """Return the named sections of `source`; `file` is how messages call it.

    A section inside another one is a section too. Raises SnippetError for markers that don't match.
    """
    lines = source.split("\n")
    spans: list[tuple[str, int, int]] = []  # name, line of the start marker, line of the end
    unfinished: list[tuple[str, int]] = []
    markers: set[int] = set()
    for number, line in enumerate(lines, 1):
        found = MARKER.match(line)
        if not found:
            if "--8<--" in line:
                raise SnippetError(
                    file,
                    number,
                    f"a section marker that can't be read: {line.strip()!r}",
                    "write '# --8<-- [start:name]' or '# --8<-- [end:name]' on a line of its own",
                )
            continue
        name = found["name"]
        markers.add(number)
        if not _NAME.match(name):
            raise SnippetError(
                file,
                number,
                f"the section name {name!r} is not allowed",
                "use lower-case ASCII letters, digits and _",
            )
        if found["edge"] == "start":
            if name != NEW and name in [s[0] for s in spans] + [u[0] for u in unfinished]:
                raise SnippetError(
                    file, number, f"a second section {name!r}", "give it another name"
                )
            if name == NEW and (not unfinished or unfinished[-1][0] == NEW):
                raise SnippetError(
                    file, number, "'new' stands in no section", "put it inside a named section"
                )
            unfinished.append((name, number))
        else:
            if not unfinished:
                raise SnippetError(
                    file, number, f"section {name!r} ends but never starts", "add its start marker"
                )
            if unfinished[-1][0] != name:
                raise SnippetError(
                    file,
                    number,
                    f"section {name!r} ends inside {unfinished[-1][0]!r}",
                    f"end {unfinished[-1][0]!r} (line {unfinished[-1][1]}) first",
                )
            spans.append((name, unfinished.pop()[1], number))
    if unfinished:
        name, number = unfinished[-1]
        raise SnippetError(
            file, number, f"section {name!r} has no end marker", f"add '# --8<-- [end:{name}]'"
        )

    new = {n for name, start, end in spans if name == NEW for n in range(start + 1, end)}
    sections = {}
    for name, start, end in sorted(spans, key=lambda span: span[1]):
        if name == NEW:
            continue
        shown = [n for n in range(start + 1, end) if n not in markers]
        text = textwrap.dedent("\n".join(lines[n - 1] for n in shown))
        if not text.strip():
            raise SnippetError(file, start, f"section {name!r} is empty", "fill it or remove it")
        sections[name] = Section(
            name,
            start + 1,
            end - 1,
            text,
            tuple(i for i, n in enumerate(shown, 1) if n in new),
            tuple(shown),
        )
    return sections


def _hides_warnings(source: str, tree: ast.Module) -> int | None:
    """Return the line where a program changes the filter of warnings or catches one."""
    for node in ast.walk(tree) if "arning" in source else ():
        if isinstance(node, ast.ExceptHandler) and node.type:
            hides = re.search(r"Warning\b", ast.unparse(node.type))
        else:
            hides = _SILENT & {getattr(node, key, None) for key in ("attr", "id", "name")}
        if hides:
            return node.lineno
    return None


def load(path: str, root: Path = SNIPPETS) -> Snippet:
    """Read the snippet `path` (``amp/train.py``, relative to `root`).

    Raises SnippetError, with file and line, for a file that is missing or malformed.
    """
    file = Path(root) / path
    shown = f"{Path(root).name}/{path}"
    try:
        source = file.read_text("utf-8")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise SnippetError(
            shown, 1, "no such snippet", f"the programs are those in {Path(root).name}/*/"
        ) from error
    except UnicodeDecodeError as error:
        raise SnippetError(shown, 1, f"not UTF-8 ({error.reason})", "save it as UTF-8") from error
    return _read(path, source, Path(root))


@lru_cache(1000)  # each block of a page asks for its program
def _read(path: str, source: str, root: Path) -> Snippet:
    shown = f"{root.name}/{path}"
    if "\r" in source:
        raise SnippetError(shown, 1, "Windows line ends", "save it with Unix line ends")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise SnippetError(
            shown, error.lineno or 1, f"not Python ({error.msg})", "mend the syntax"
        ) from error
    lesson = _lesson(source, shown)
    if line := _hides_warnings(source, tree):
        raise SnippetError(
            shown,
            line,
            "hides a warning that readers may need",
            "mend what warns, or declare it with 'warns' in a program of wrong/",
        )
    if not ast.get_docstring(tree):
        raise SnippetError(shown, 1, "no docstring", "say in one sentence what the program shows")
    return Snippet(path, source, lesson, parse_sections(source, shown), root)


def program_of(out: str) -> str:
    """Return the path of the program that prints `out` (``amp/train.cuda.out``: of that device)."""
    stem = Path(out).with_suffix("")
    return stem.with_name(f"{stem.name.partition('.')[0]}.py").as_posix()


def load_all(root: Path = SNIPPETS) -> list[Snippet]:
    """Read every program of `root`, in the order of their paths. Raises as `load` does."""
    root = Path(root)
    return [load(p.relative_to(root).as_posix(), root) for p in sorted(root.rglob("*.py"))]
