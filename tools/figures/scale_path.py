"""The scale of the gradient scaler, step by step."""

from __future__ import annotations

from pathlib import Path

from . import data
from .svg import BITS16, TROUBLE, WIDTH, Canvas, num, text_width
from .words import Words, power

LEFT, RIGHT = 38, WIDTH - 6
TOP, LEVEL = 58, 44
DOT = "a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0"
CROSS = "m-4.5-4.5 9 9m0-9-9 9"


def draw(words: Words, snippets: Path) -> str:
    """Draw ``amp/scale_path.out``."""
    steps = data.scale_path(snippets)
    canvas = Canvas("scale-path")
    powers = [step.power for step in steps]
    top, bottom = max(powers), min(powers)
    unit = (RIGHT - LEFT) / len(steps)

    def x(index: float) -> float:
        return LEFT + index * unit

    def y(exponent: float) -> float:
        return TOP + (top - exponent) * LEVEL

    # Key: the mark of a step says by its shape what became of it.
    canvas.path(f"M4 10{DOT}", fill=BITS16)
    canvas.text(19, 14, words("stepped"))
    canvas.path(f"M8.5 29{CROSS}", stroke=TROUBLE, stroke_width=2.5)
    canvas.text(19, 33, words("skipped"))

    end = y(bottom) + 22
    grid = "".join(f"M{LEFT} {num(y(p))}H{RIGHT}" for p in range(bottom, top + 1))
    canvas.path(grid, stroke="currentColor", stroke_opacity=0.2)
    for exponent in range(bottom, top + 1):
        canvas.text(LEFT - 8, y(exponent) + 4, power(2, exponent), anchor="end")
    line = f"M{LEFT} {num(y(powers[0]))}"
    for index, exponent in enumerate(powers[1:], 1):
        if exponent != powers[index - 1]:
            line += f"H{num(x(index))}V{num(y(exponent))}"
    canvas.path(f"{line}H{RIGHT}", stroke="currentColor", stroke_width=1.5)
    places = [(x(i + 0.5), y(step.power), step.skipped) for i, step in enumerate(steps)]
    dots = "".join(
        f"M{num(at - 4.5)} {num(high)}{DOT}" for at, high, skipped in places if not skipped
    )
    crosses = "".join(f"M{num(at)} {num(high)}{CROSS}" for at, high, skipped in places if skipped)
    canvas.path(dots, fill=BITS16)
    canvas.path(crosses, stroke=TROUBLE, stroke_width=2.5)

    # The factor at each change, and in words what happens at the first change of each kind.
    changes = [i for i in range(1, len(powers)) if powers[i] != powers[i - 1]]
    for index in changes:
        middle = (y(powers[index]) + y(powers[index - 1])) / 2 + 4
        if powers[index] > powers[index - 1]:
            canvas.text(x(index) - 4, middle, "×2", anchor="end")
        else:
            canvas.text(x(index) + 4, middle, "÷2")
    clean, runs = 0, []
    for index, step in enumerate(steps):
        clean = 0 if step.skipped else clean + 1
        if index + 1 in changes and powers[index + 1] > step.power:
            runs.append(clean)
            clean = 0
    values = {
        "skips": str(sum(step.skipped for step in steps)),
        "steps": str(len(steps)),
        "first": power(2, powers[0]),
        "last": power(2, powers[-1]),
        "lowest": power(2, bottom),
        "clean": str(runs[0]) if runs else "0",
        "growths": str(len(runs)),
    }
    for key, sign in (("backoff", -1), ("growth", 1)):
        first = next((i for i in changes if (powers[i] - powers[i - 1]) * sign > 0), None)
        if first is not None:
            note = words(key, **values)
            at = min(x(first) + 12, RIGHT - text_width(note))
            canvas.text(at, y(powers[first - 1]) - 6, note)

    canvas.path(f"M{LEFT} {num(end)}H{RIGHT}", stroke="currentColor")
    for step in range(steps[0].number, steps[-1].number + 1):
        if step in (steps[0].number, steps[-1].number) or step % 5 == 0:
            canvas.text(x(step - steps[0].number + 0.5), end + 16, str(step), anchor="middle")
    canvas.text((LEFT + RIGHT) / 2, end + 32, words("axis"), anchor="middle")
    return canvas.svg(end + 38, words("title"), words("desc", **values))
