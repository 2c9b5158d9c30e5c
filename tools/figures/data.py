"""What the figures are drawn from: the checked outputs of the snippets, read line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .svg import FigureError


class Output:
    """The lines of one ``.out`` file. Raises FigureError where there is no such file."""

    def __init__(self, path: str, snippets: Path):
        self.shown = f"snippets/{path}"
        try:
            self.lines = (Path(snippets) / path).read_text("utf-8").splitlines()
        except FileNotFoundError as error:
            raise FigureError(f"{self.shown} is missing; write it with 'make outputs'") from error

    def fault(self, line: int, wanted: str) -> FigureError:
        """Return the error for a line (1-based) that is not as `wanted` says."""
        found = repr(self.lines[line - 1]) if line <= len(self.lines) else "the end of the file"
        return FigureError(
            f"{self.shown}:{line}: {found} where the figure reads {wanted}; "
            "bring the program's output and tools/figures/data.py back together"
        )

    def all(self, pattern: str, wanted: str, first: int = 1) -> list[re.Match]:
        """Match every line from `first` on with `pattern`; there must be at least one."""
        found = []
        for line, text in enumerate(self.lines[first - 1 :], first):
            match = re.fullmatch(pattern, text)
            if not match:
                raise self.fault(line, wanted)
            found.append(match)
        if not found:
            raise self.fault(first, wanted)
        return found

    def some(self, pattern: str, wanted: str) -> list[re.Match]:
        """Match the lines that `pattern` fits, wherever they stand; there must be one."""
        found = [match for text in self.lines if (match := re.fullmatch(pattern, text))]
        if not found:
            raise self.fault(1, f"{wanted}, here or further down")
        return found

    def one(self, pattern: str, wanted: str) -> re.Match:
        """Match exactly one line."""
        found = self.some(pattern, wanted)
        if len(found) > 1:
            line = max(i for i, text in enumerate(self.lines, 1) if text == found[1].string)
            raise self.fault(line, f"only one line {wanted}")
        return found[0]


@dataclass(frozen=True)
class Format:
    """A number format: bits of its parts, and numbers as they were printed (``3.40e+38``)."""

    name: str
    sign: int
    exponent: int
    fraction: int
    largest: str
    normal: str
    smallest: str
    step: str

    @property
    def bits(self) -> int:
        """All bits together."""
        return self.sign + self.exponent + self.fraction

    @property
    def powers(self) -> tuple[int, int, int]:
        """Powers of two: the smallest number, the smallest normal one, the end of the range."""
        bias = 2 ** (self.exponent - 1) - 1
        return 1 - bias - self.fraction, 1 - bias, bias + 1


def formats(snippets: Path, names: tuple[str, ...]) -> list[Format]:
    """Return the formats of ``amp/formats.out`` that are called `names`, in that order."""
    out = Output("amp/formats.out", snippets)
    columns = "format sign exponent fraction largest normal smallest step at 1"
    if not out.lines or not " ".join(out.lines[0].split()).startswith(columns):
        raise out.fault(1, f"the headings {columns!r}")
    number = r"\d[\d.]*(?:e[+-]\d+)?"
    rows = out.all(
        rf"(\w+) +(\d+) +(\d+) +(\d+) +({number}) +({number}) +({number}) +({number}) .*",
        "a format, three counts of bits and four numbers",
        first=2,
    )
    read = [Format(m[1], *(int(m[i]) for i in (2, 3, 4)), *m.group(5, 6, 7, 8)) for m in rows]
    found = {one.name: one for one in read}
    for name in names:
        if name not in found:
            raise out.fault(len(out.lines) + 1, f"a line for {name}")
    return [found[name] for name in names]


@dataclass(frozen=True)
class Gradients:
    """How many gradients lie in [2^p, 2^(p+1)), for each p, and shares in percent.

    The smallest power stands for all that is smaller as well. ``zero`` maps the number that the
    loss was multiplied by to the share of gradients that became 0.
    """

    total: int
    below: float
    zero: dict[int, float]
    counts: dict[int, int]

    def share(self, end: int) -> float:
        """Return the percentage of gradients that are smaller than 2^end."""
        return 100 * sum(n for p, n in self.counts.items() if p < end) / self.total


def gradients(snippets: Path) -> Gradients:
    """Return what ``amp/gradients.out`` counts."""
    out = Output("amp/gradients.out", snippets)
    total = out.one(r"gradients that are not 0 in fp32 +: +(\d+)", "the number of gradients")
    below = out.one(
        r"below the smallest normal of fp16 +: +([\d.]+)%", "the share below fp16's normals"
    )
    zero = out.some(r"0 under autocast, loss times +(\d+) +: +([\d.]+)%", "the share that became 0")
    rows = out.some(r"2\^(-?\d+) +(\d+)", "a power of two and a count")
    read = Gradients(
        int(total[1]),
        float(below[1]),
        {int(m[1]): float(m[2]) for m in zero},
        {int(m[1]): int(m[2]) for m in rows},
    )
    if 1 not in read.zero or len(read.zero) < 2:
        raise out.fault(1, "the share that became 0 for the loss times 1 and times a scale")
    if any(factor & (factor - 1) for factor in read.zero):
        raise out.fault(1, "scales that are powers of two, or the histogram can't be moved")
    if sum(read.counts.values()) != read.total:
        raise out.fault(1, f"the sum of all counts, {sum(read.counts.values())}")
    return read


@dataclass(frozen=True)
class Step:
    """One step of training: its number, the scale it used as a power of two, what became of it."""

    number: int
    power: int
    skipped: bool


def scale_path(snippets: Path) -> list[Step]:
    """Return the steps of ``amp/scale_path.out``; their numbers are consecutive."""
    out = Output("amp/scale_path.out", snippets)
    pattern = r"step +(\d+): scale 2\^(-?\d+) +(stepped|skipped)"
    rows = out.all(pattern, "'step 1: scale 2^16 stepped' or '… skipped'")
    steps = [Step(int(m[1]), int(m[2]), m[3] == "skipped") for m in rows]
    for line, (one, after) in enumerate(zip(steps, steps[1:], strict=False), 2):
        if after.number != one.number + 1:
            raise out.fault(line, f"step {one.number + 1}")
    return steps


def losses(path: str, snippets: Path, counted: str = "step") -> dict[int, str]:
    """Return the loss by step (or by what is `counted`), as printed, of a training program."""
    out = Output(path, snippets)
    rows = out.some(rf"{counted} +(\d+): loss (\d+\.\d+)", f"'{counted}  50: loss 0.143'")
    return {int(m[1]): m[2] for m in rows}


@dataclass(frozen=True)
class Bucket:
    """A bucket of gradients that was sent: its number and its bytes."""

    index: int
    size: int


def buckets(snippets: Path) -> list[int | Bucket]:
    """Return what ``ddp/buckets.out`` tells, in order: a layer's gradient is ready, or a bucket."""
    out = Output("ddp/buckets.out", snippets)
    rows = out.all(
        r"gradient of layer (\d+) is ready|bucket (\d+) is sent: (\d+) bytes",
        "'gradient of layer 3 is ready' or 'bucket 0 is sent: 32768 bytes'",
    )
    events = [int(m[1]) if m[1] else Bucket(int(m[2]), int(m[3])) for m in rows]
    if not isinstance(events[-1], Bucket) or isinstance(events[0], Bucket):
        raise out.fault(len(events), "a gradient first and a bucket last")
    return events


@dataclass(frozen=True)
class Memory:
    """What training keeps in memory, in MiB as printed: in FP32 and under autocast.

    ``saved`` maps the size of the batch to what the forward pass saves for the backward pass.
    """

    weights: tuple[str, str]
    gradients: tuple[str, str]
    adam: tuple[str, str]
    saved: dict[int, tuple[str, str]]


def memory(snippets: Path) -> Memory:
    """Return the table of ``amp/memory.out``, its batches from small to large."""
    out = Output("amp/memory.out", snippets)
    if not out.lines or out.lines[0].split() != ["MiB", "fp32", "autocast"]:
        raise out.fault(1, "the headings 'MiB fp32 autocast'")
    numbers = r" +(\d+\.\d+) +(\d+\.\d+)"
    kept = [
        out.one(re.escape(name) + numbers, f"'{name}' and two numbers").group(1, 2)
        for name in ("weights", "gradients", "Adam's two averages")
    ]
    rows = out.some(
        rf"for backward, batch +(\d+){numbers}", "'for backward, batch 8' and two numbers"
    )
    return Memory(*kept, {int(m[1]): m.group(2, 3) for m in sorted(rows, key=lambda m: int(m[1]))})
