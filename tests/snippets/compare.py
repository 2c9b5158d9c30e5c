"""Compare what a program printed with its ``.out``: text exactly, numbers within a tolerance.

A number is equal to another within one unit of its last printed digit (of the more precise of
the two), or within the program's ``rtol``. A whole number, which torch prints as ``3.`` in a tensor
of floats, has no rounding to forgive: without ``rtol`` it must be the same.
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from decimal import Decimal

from tests.snippets import runner
from tests.snippets.runner import Result
from tools.snippets import Snippet

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?!\w|\.\d)")


@dataclass(frozen=True)
class Difference:
    """One line (1-based) that is not as expected; None stands for a line that is not there."""

    line: int
    expected: str | None
    actual: str | None

    def __str__(self) -> str:
        def shown(text):
            if text is None:
                return "(no such line)"
            return repr(text) if len(text) <= 300 else f"{text[:300]!r} and so on"

        return f"line {self.line}: expected {shown(self.expected)}, printed {shown(self.actual)}"


def _unit(number: str) -> Decimal:
    """The value of one unit in the last printed digit of `number`."""
    return Decimal(1).scaleb(Decimal(number).as_tuple().exponent)


def numbers_equal(expected: str, actual: str, rtol: float = 0.0) -> bool:
    """True when two printed numbers are equal within the tolerance described above."""
    a, b = Decimal(expected), Decimal(actual)
    distance = abs(a - b)
    if rtol and distance <= Decimal(repr(rtol)) * max(abs(a), abs(b)):
        return True
    whole = [re.fullmatch(r"[-+]?\d+(\.?)", number) for number in (expected, actual)]
    if any(whole):
        return distance == 0 and all(whole) and whole[0][1] == whole[1][1]
    if (a == 0) != (b == 0) and ("e" in (expected + actual).lower()):
        # Whether a tiny number is exactly zero is a fact of its own in these lessons.
        return False
    return distance <= min(_unit(expected), _unit(actual))


def lines_equal(expected: str, actual: str, rtol: float = 0.0) -> bool:
    """True when two lines have the same text around equal numbers (padding may make room)."""
    a, b = list(NUMBER.finditer(expected)), list(NUMBER.finditer(actual))
    if len(a) != len(b):
        return False
    end_a = end_b = 0
    for x, y in zip(a, b, strict=True):
        before_a, before_b = expected[end_a : x.start()], actual[end_b : y.start()]
        grown = len(x[0]) - len(y[0])
        if before_a.rstrip(" ") != before_b.rstrip(" "):
            return False
        if before_a != before_b and len(before_a) + grown != len(before_b):
            return False
        if not numbers_equal(x[0], y[0], rtol):
            return False
        end_a, end_b = x.end(), y.end()
    return expected[end_a:] == actual[end_b:]


def differences(
    expected: str, actual: str, varies: list[str] = (), rtol: float = 0.0
) -> list[Difference]:
    """Return the lines of `actual` that are not those of `expected`.

    A line that a pattern of `varies` matches in both is equal when the matched parts are.
    """
    found = []
    left, right = expected.split("\n"), actual.split("\n")
    for number in range(1, max(len(left), len(right)) + 1):
        a = left[number - 1] if number <= len(left) else None
        b = right[number - 1] if number <= len(right) else None
        if a is not None and b is not None:
            matches = [(re.match(p, a), re.match(p, b)) for p in varies]
            if any(x and y and x[0] and x[0] == y[0] for x, y in matches):
                continue
            if lines_equal(a, b, rtol):
                continue
        found.append(Difference(number, a, b))
    return found


def tolerance(snippet: Snippet, device: str) -> float:
    """The relative tolerance of the numbers that `snippet` prints on `device`."""
    if device != "cpu" and snippet.lesson["rtol_accelerator"] is not None:
        return snippet.lesson["rtol_accelerator"]
    return snippet.lesson["rtol"]


def run_faults(snippet: Snippet, result: Result) -> list[str]:
    """What went otherwise than `snippet` declares, apart from the text it printed."""
    path, lesson, found = snippet.path, snippet.lesson, []
    where = "" if result.rank is None else f"rank {result.rank} "
    also = "".join(
        f"; rank {rank} had not ended {runner.GRACE} s later and was stopped"
        for rank in result.stopped
    )
    if result.timed_out:
        return [
            f"{path}: {where}was stopped, it did not end; mend the program, or raise 'seconds' "
            f"(now {lesson['seconds']}). All stacks:\n{result.stderr}"
        ]
    if result.exit_code != 0 or not result.ended:
        cure = "mend the program"
        if os.strerror(errno.EFBIG) in result.stderr:
            cure = f"it may print, or write to a file, {runner.MOST >> 20} MiB at most"
        return [
            f"{path}: the process {where and f'of {where}'}died with code {result.exit_code}, "
            f"before the program's end{also}; {cure}:\n{result.stderr}"
        ]
    declared = lesson["raises"]
    if result.exception is None and declared:
        found.append(
            f'{path}: declares raises = "{declared}" but ended without an error; '
            "torch may behave otherwise now: check the claim, then the page"
        )
    elif result.exception is not None and result.exception != declared:
        cure = "the program must run without warnings and errors"
        if declared:
            cure = f'it declares raises = "{declared}"'
        found.append(
            f"{path}: {where}ended with {result.exception}{also}; {cure}:\n{result.traceback}"
        )
    if lesson["warns"] and not result.warned and not found:
        found.append(
            f'{path}: declares warns = "{lesson["warns"]}" but nothing warned; '
            "torch may behave otherwise now: check the claim, then the page"
        )
    if result.stderr.strip():
        found.append(f"{path}: wrote to standard error; print facts only:\n{result.stderr}")
    odd = {
        c for c in set(result.text) if c not in "\n\t" and (c == "\ufffd" or not c.isprintable())
    }
    if odd:
        shown = ", ".join(sorted(map(ascii, odd)))
        found.append(f"{path}: printed {shown}; a page can't show that, print plain UTF-8 text")
    if result.device == "cpu" and result.seconds > lesson["seconds"]:
        found.append(
            f"{path}: took {result.seconds:.1f} s of processor time; "
            f"make it faster or raise 'seconds' (now {lesson['seconds']})"
        )
    return found


def faults(snippet: Snippet, result: Result) -> list[str]:
    """Everything about `result` that is not as `snippet` and its ``.out`` say; empty when right."""
    found = run_faults(snippet, result)
    if found:
        return found
    out = snippet.out_path(result.device)
    if not out.exists():
        return [f"{snippet.path}: has no {out.name}; run 'make outputs' and read what it wrote"]
    try:
        expected = out.read_text("utf-8")
    except (UnicodeDecodeError, OSError) as error:
        return [
            f"{snippet.path}: {out.name} can't be read ({error}); remove it, run 'make outputs'"
        ]
    wrong = differences(
        expected,
        result.text,
        snippet.lesson["varies"],
        tolerance(snippet, result.device),
    )
    if wrong:
        lines = "\n".join(f"  {difference}" for difference in wrong[:20])
        if wrong[20:]:
            lines += f"\n  … and {len(wrong) - 20} more lines"
        return [
            f"{snippet.path}: does not print {out.name} on {result.device}:\n{lines}\n"
            "  if the new output is right, run 'make outputs' and change the pages that speak of it"
        ]
    return []
