"""One training step with DataParallel: what each GPU holds, and what crosses between them."""

from __future__ import annotations

from pathlib import Path

from .svg import BITS16, BITS32, TROUBLE, WIDTH, Canvas, wrap
from .words import Words

#: The lanes of the first GPU and of each other one: left edge, color, rounding of the boxes.
LANES = ((10, BITS32, 0), (194, BITS16, 15))
BOX, HIGH = 156, 32
#: Where a lane's arrow goes down, to the right of the calls' names.
DOWN = tuple(x + BOX - 20 for x, _, _ in LANES)


def draw(words: Words, snippets: Path) -> str:
    """Draw the step. It shows the order of things and has no numbers to read."""
    canvas = Canvas("data-parallel-step")
    for number, (x, color, _) in enumerate(LANES):
        canvas.rect(x - 6, 0, BOX + 12, 474, fill=color, fill_opacity=0.1)
        canvas.text(x + BOX / 2, 18, words(f"gpu{number}"), anchor="middle", size=13, bold=True)
    calls = (
        (74, "scatter"),
        (142, "replicate"),
        (210, "parallel_apply"),
        (278, "gather"),
        (346, "loss.backward()"),
        (414, "optimizer.step()"),
    )
    canvas.open(stroke="currentColor", stroke_opacity=0.6, stroke_dasharray="4 3", fill="none")
    for y, _ in calls:
        canvas.rect(1, y, WIDTH - 2, 60, rx=4)
    canvas.close()
    for y, code in calls:
        canvas.text(10, y + 17, code, code=True)

    columns = (
        (("batch", 28), ("chunk0", 98), ("weights", 166), ("forward", 234), ("outputs", 302),
         ("sum", 370), ("step", 438)),
        (("chunk1", 98), ("copy", 166), ("forward", 234), ("share", 370), ("gone", 438)),
    )  # fmt: skip
    for (x, color, radius), column in zip(LANES, columns, strict=True):
        canvas.open(fill=color, stroke=color, fill_opacity=0.2)
        for key, y in column:
            gone = {"fill": TROUBLE, "stroke": TROUBLE, "stroke_dasharray": "5 3"}
            look = gone if key == "gone" else {}
            canvas.rect(x, y, BOX, HIGH, rx=radius or None, **look)
        canvas.close()
        for key, y in column:
            lines = wrap(words(key), BOX - 8)
            first = y + HIGH / 2 + 4 - 6.5 * (len(lines) - 1)
            canvas.lines(x + BOX / 2, first, lines, step=13, anchor="middle")

    inner, edge = LANES[0][0] + BOX, LANES[1][0]
    first, other = DOWN
    canvas.arrow(f"M{first} 60V92", first, 98, "down")
    canvas.arrow(f"M{inner} 44H{other}V92", other, 98, "down")
    canvas.arrow(f"M{inner} 182H{edge - 6}", edge, 182, "right")
    for x in DOWN:
        canvas.arrow(f"M{x} 130V160", x, 166, "down")
        canvas.arrow(f"M{x} 198V228", x, 234, "down")
    canvas.arrow(f"M{first} 266V296", first, 302, "down")
    canvas.arrow(f"M{other} 266V318H{inner + 6}", inner, 318, "left")
    canvas.arrow(f"M{first} 334V364", first, 370, "down")
    canvas.arrow(f"M{inner} 326H{other}V364", other, 370, "down")
    canvas.arrow(f"M{edge} 386H{inner + 6}", inner, 386, "left")
    canvas.arrow(f"M{first} 402V432", first, 438, "down")
    return canvas.svg(476, words("title"), words("desc"))
