"""How much of the GPUs' work is left when the gradients go over a link, from a model's output."""

from __future__ import annotations

import math
from pathlib import Path

from .data import Output
from .svg import BITS16, BITS32, FRACTION, TROUBLE, WIDTH, Canvas, num
from .words import Words

LEFT, RIGHT, TOP, HIGH = 54, WIDTH - 22, 34, 170
#: For each link: its color, its dashes, and the mark of its points.
LINES = (
    (BITS32, None, "m-5-5h10v10h-10z"),
    (BITS16, "7 3", "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0"),
    (FRACTION, "2 3", "m0-6l6 10h-12z"),
    (TROUBLE, None, "m0-6l6 6l-6 6l-6-6z"),
)


def table(snippets: Path) -> tuple[list[str], dict[int, list[float]]]:
    """The links and, for each number of GPUs, the efficiency over each of them."""
    output = Output("expect/efficiency.out", snippets)
    if not output.lines or "efficiency" not in output.lines[0]:
        raise output.fault(1, "the heading of the table of efficiencies")
    names = output.lines[1].split("   ")[1:] if len(output.lines) > 1 else []
    if len(names) != len(LINES):
        raise output.fault(2, f"GPUs and {len(LINES)} links, three spaces between them")
    rows = {}
    for line, text in enumerate(output.lines[2:], 3):
        if not text:
            break
        try:
            gpus, *values = text.split()
            rows[int(gpus)] = [float(value) for value in values]
        except ValueError as error:
            raise output.fault(line, "a number of GPUs and efficiencies") from error
        if len(values) != len(LINES):
            raise output.fault(line, f"{len(LINES)} efficiencies")
    if len(rows) < 2:
        raise output.fault(3, "at least two rows")
    return names, rows


def draw(words: Words, snippets: Path) -> str:
    """Draw the first table of ``expect/efficiency.out``."""
    names, rows = table(snippets)
    canvas = Canvas("efficiency")
    most = math.log2(max(rows))

    def place(gpus: int, value: float) -> tuple[float, float]:
        return LEFT + math.log2(gpus) / most * (RIGHT - LEFT), TOP + (1 - value) * HIGH

    grid = "".join(f"M{LEFT} {num(TOP + part * HIGH / 4)}H{RIGHT}" for part in range(5))
    canvas.path(grid, stroke="currentColor", stroke_opacity=0.2)
    canvas.text(4, TOP - 20, words("axis"))
    for part in range(5):
        label = words.percent(100 - 25 * part, 0)
        canvas.text(LEFT - 10, TOP + part * HIGH / 4 + 4, label, anchor="end")
    bottom = TOP + HIGH
    canvas.text(4, bottom + 24, words("gpus"))
    for gpus in rows:
        canvas.text(place(gpus, 0)[0], bottom + 24, str(gpus), anchor="middle")
    for index, (name, (color, dashes, mark)) in enumerate(zip(names, LINES, strict=True)):
        points = [place(gpus, values[index]) for gpus, values in rows.items()]
        path = "L".join(f"{num(x)} {num(y)}" for x, y in points)
        canvas.path(f"M{path}", stroke=color, stroke_width=1.5, stroke_dasharray=dashes)
        canvas.path("".join(f"M{num(x)} {num(y)}{mark}" for x, y in points), fill=color)
        x, y = 10 + index % 2 * 170, bottom + 54 + index // 2 * 22
        canvas.path(f"M{x} {y - 4}{mark}", fill=color)
        canvas.text(x + 14, y, name)
    last = max(rows)
    told = ", ".join(
        words("one", link=name, last=words.percent(100 * rows[last][index], 0))
        for index, name in enumerate(names)
    )
    return canvas.svg(bottom + 90, words("title"), words("desc", gpus=str(last), links=told))
