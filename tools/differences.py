"""What changes from one program to another, as pages show it: `ddp/single.py -> ddp/train.py`.

Programs are compared as readers see them, without their metadata, markers and docstring. Nothing
here knows Markdown or MkDocs.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from tools import snippets
from tools.snippets import SNIPPETS, Snippet, SnippetError

#: How many unchanged lines are shown around what changes.
CONTEXT = 3

_SIDE = r"(?P<{0}>(?:[\w-]+/)+[\w-]+\.py)(?::(?P<{0}_section>\w+))?"
_ARGUMENT = re.compile(rf"\s*{_SIDE.format('old')}\s*->\s*{_SIDE.format('new')}\s*")


class DifferenceError(Exception):
    """A difference that can't be shown. Its text reads `what is wrong; what to do`."""


@dataclass(frozen=True)
class Side:
    """One of the two: a program (``ddp/train.py``), or a section of it."""

    path: str
    section: str | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.section}" if self.section else self.path


@dataclass(frozen=True)
class Row:
    """A line of a difference: `sign` is `-`, `+` or a space.

    Without a sign the row stands for `hidden` lines that are left out.

    `old` and `new` count from 0 which line it is of the one text and of the other.
    """

    sign: str
    old: int | None = None
    new: int | None = None
    hidden: int = 0


@dataclass(frozen=True)
class Difference:
    """Two programs, the text of each that is compared, and the rows of the difference."""

    old: Snippet
    new: Snippet
    before: list[str]
    after: list[str]
    rows: list[Row]

    def line(self, row: Row) -> str:
        """Return the code of a row."""
        return self.before[row.old] if row.new is None else self.after[row.new]


def sides(argument: str) -> tuple[Side, Side]:
    """Return the two sides that the argument of a block names. Raises DifferenceError."""
    found = _ARGUMENT.fullmatch(argument)
    if not found:
        raise DifferenceError(
            f"{argument.strip()!r} is no difference; write two programs, "
            "or a section of each: ddp/single.py -> ddp/train.py"
        )
    return (
        Side(found["old"], found["old_section"]),
        Side(found["new"], found["new_section"]),
    )


def shown(source: str, section: str | None, file: str) -> str:
    """Return what is compared of a program's `source`: a section, or all that a reader sees.

    `file` is how messages call it. Raises SnippetError, and DifferenceError without that section.
    """
    sections = snippets.parse_sections(source, file)
    if section:
        if section not in sections:
            have = ", ".join(sections) or "none"
            raise DifferenceError(f"{file} has no section {section!r}; it has: {have}")
        return sections[section].text
    lines = source.split("\n")
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise SnippetError(file, error.lineno or 1, "not Python", "mend the syntax") from error
    left_out = set()
    if ast.get_docstring(ast.Module(body, [])) is not None:
        left_out |= set(range(body[0].lineno, body[0].end_lineno + 1))
    if metadata := snippets.METADATA.search(source):
        first = source[: metadata.start()].count("\n") + 1
        left_out |= set(range(first, first + metadata[0].count("\n") + 1))
    return "\n".join(
        line
        for number, line in enumerate(lines, 1)
        if number not in left_out and not snippets.MARKER.match(line)
    ).strip("\n")


def rows(before: list[str], after: list[str]) -> list[Row]:
    """Return the rows of a unified difference, with a row for each run of lines left out."""
    # Empty lines are like one another everywhere: they must not decide what belongs together.
    matcher = SequenceMatcher(lambda line: not line.strip(), before, after, autojunk=False)
    codes, found = matcher.get_opcodes(), []
    for at, (kind, i, i_end, j, j_end) in enumerate(codes):
        if kind == "equal":
            same = [Row(" ", i + n, j + n) for n in range(i_end - i)]
            head = CONTEXT if at else 0
            tail = len(same) - (CONTEXT if at < len(codes) - 1 else 0)
            if tail - head > 1:
                same[head:tail] = [Row("", hidden=tail - head)]
            found += same
        else:
            found += [Row("-", old=n) for n in range(i, i_end)]
            found += [Row("+", new=n) for n in range(j, j_end)]
    return found


def between(old: Side, new: Side, root: Path = SNIPPETS) -> Difference:
    """Return the difference of two programs below `root`.

    Raises SnippetError for a program that can't be read, DifferenceError for a section that is not
    there and where nothing changes.
    """
    programs = [snippets.load(side.path, root) for side in (old, new)]
    before, after = (
        shown(program.source, side.section, f"snippets/{side.path}").rstrip("\n").split("\n")
        for program, side in zip(programs, (old, new), strict=True)
    )
    if before == after:
        raise DifferenceError(f"{old} and {new} do not differ; name two that do")
    return Difference(*programs, before, after, rows(before, after))


def lines(difference: Difference, word: dict[str, str], labels: bool = False) -> list[str]:
    """Return the text of the rows; `word` has the words of a language.

    With `labels` each line that came or went begins with the word for it, as it is read out.
    """
    said = {"-": word["difference_removed"], "+": word["difference_added"]}
    return [
        f"{said.get(row.sign, '') if labels else ''}{row.sign}{difference.line(row)}".rstrip()
        if row.sign
        else gap(row, word)
        for row in difference.rows
    ]


def gap(row: Row, word: dict[str, str]) -> str:
    """Return what stands for the lines that a row leaves out."""
    return "⋯ " + word["difference_hidden"].format(n=row.hidden)
