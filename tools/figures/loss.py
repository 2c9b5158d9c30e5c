"""The losses of programs that learn the spirals, as curves and in numbers."""

from __future__ import annotations

import math
from pathlib import Path

from . import data
from .svg import BITS16, BITS32, WIDTH, Canvas, FigureError, num
from .words import Words

LEFT, RIGHT, TOP, DECADE = 54, WIDTH - 22, 34, 44
SQUARE, DOT = "m-6-6h12v12h-12z", "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0"


def draw(words: Words, snippets: Path) -> str:
    """Draw ``amp/train_fp32.out`` and ``amp/train.out``, which print the same steps."""
    return _curves(
        words, "loss", ("fp32", "mixed"), ("amp/train_fp32.out", "amp/train.out"), snippets
    )


def draw_ddp(words: Words, snippets: Path) -> str:
    """Draw ``ddp/single.out`` and ``ddp/train.out``, which print the same epochs."""
    paths = ("ddp/single.out", "ddp/train.out")
    return _curves(words, "loss-ddp", ("single", "ranks"), paths, snippets, "epoch")


def draw_data_parallel(words: Words, snippets: Path) -> str:
    """Draw ``data-parallel/train.out``."""
    paths = ("data-parallel/train.out",)
    return _curves(words, "loss-data-parallel", ("parallel",), paths, snippets, "epoch")


def draw_accelerate(words: Words, snippets: Path) -> str:
    """Draw ``ddp/train.out`` and ``accelerate/train.out``, which print the same epochs."""
    paths = ("ddp/train.out", "accelerate/train.out")
    return _curves(words, "loss-accelerate", ("ddp", "accelerate"), paths, snippets, "epoch")


def _curves(
    words: Words,
    name: str,
    keys: tuple[str, ...],
    paths: tuple[str, ...],
    snippets: Path,
    counted: str = "step",
) -> str:
    """Draw the losses of one or two programs, called by `keys` in the words of the figure `name`.

    The first of two is a broad line, so that the second shows on it where they are the same.
    """
    series = {
        key: data.losses(path, snippets, counted) for key, path in zip(keys, paths, strict=True)
    }
    marks = dict(zip(keys, [(SQUARE, BITS32), (DOT, BITS16)][-len(keys) :], strict=True))
    broad = keys[0] if len(keys) > 1 else None
    steps = list(series[keys[0]])
    both = " and ".join([f"snippets/{paths[-1]}", *(Path(path).name for path in paths[:-1])])
    if list(series[keys[-1]]) != steps:
        raise FigureError(f"{both} print other {counted}s; let both print the same")
    values = [float(loss) for one in series.values() for loss in one.values()]
    if min(values) <= 0:
        raise FigureError(f"a loss of {both} is printed as 0; print more digits")
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    canvas = Canvas(name)

    def place(step: int, loss: str) -> str:
        x = LEFT + (step - steps[0]) / (steps[-1] - steps[0]) * (RIGHT - LEFT)
        return f"{num(x)} {num(TOP + (last - math.log10(float(loss))) * DECADE)}"

    bottom = TOP + (last - first) * DECADE
    grid = "".join(f"M{LEFT} {TOP + i * DECADE}H{RIGHT}" for i in range(last - first + 1))
    canvas.path(grid, stroke="currentColor", stroke_opacity=0.2)
    for exponent in range(first, last + 1):
        label = words.number(10.0**exponent, max(0, -exponent))
        canvas.text(LEFT - 12, TOP + (last - exponent) * DECADE + 4, label, anchor="end")
    canvas.text(4, TOP - 20, words("axis"))

    row = bottom + 48
    canvas.text(4, bottom + 22, words("step"))
    for step in steps:
        x = place(step, "1").split()[0]
        canvas.text(float(x), bottom + 22, str(step), anchor="middle")
    for number, (key, (mark, color)) in enumerate(marks.items()):
        y = row + 40 * number
        line = "L".join(place(*point) for point in series[key].items())
        points = "".join(f"M{place(*point)}{mark}" for point in series[key].items())
        if key == broad:
            canvas.path(f"M{line}", stroke=color, stroke_width=5, stroke_opacity=0.35)
            canvas.path(points, stroke=color, stroke_width=1.5)
        else:
            canvas.path(f"M{line}", stroke=color, stroke_width=1.5)
            canvas.path(points, fill=color)
        canvas.path(
            f"M10 {y - 4}{mark}",
            **({"stroke": color, "stroke_width": 1.5} if key == broad else {"fill": color}),
        )
        canvas.text(22, y, words(key), bold=True)
        for step, loss in series[key].items():
            x = float(place(step, loss).split()[0])
            canvas.text(x, y + 16, words.printed(loss), anchor="middle")
    told = {
        f"{key}_{end}": words.printed(series[key][step])
        for key in series
        for end, step in (("first", steps[0]), ("last", steps[-1]))
    }
    description = words("desc", first_step=str(steps[0]), last_step=str(steps[-1]), **told)
    return canvas.svg(row + 40 * len(keys) - 18, words("title"), description)
