"""Which tool to take: four questions, each with a way out to the right."""

from __future__ import annotations

from pathlib import Path

from .svg import BITS16, BITS32, WIDTH, Canvas, num, wrap
from .words import Words

#: The questions in order, and at which answer (``yes`` or ``no``) one goes to the right.
QUESTIONS = (("state", "no"), ("activations", "no"), ("fast", "yes"), ("anywhere", "yes"))
LEFT, RIGHT = (1, 192), (241, WIDTH - 242)
HIGH, STEP = 66, 100


def draw(words: Words, snippets: Path) -> str:
    """Draw the questions downwards, the answers beside them. It has no numbers to read."""
    canvas = Canvas("choose")

    def box(place: tuple[float, float], y: float, key: str, **look) -> None:
        x, width = place
        canvas.rect(x, y, width, HIGH, stroke_width=1.2, **look)
        lines = wrap(words(key), width - 14)
        first = y + HIGH / 2 + 4 - 7.5 * (len(lines) - 1)
        canvas.lines(x + width / 2, first, lines, anchor="middle")

    answer = {"rx": 17, "fill": BITS16, "fill_opacity": 0.18, "stroke": BITS16}
    question = {"fill": BITS32, "fill_opacity": 0.12, "stroke": BITS32}
    middle, edge = LEFT[0] + LEFT[1] / 2, LEFT[0] + LEFT[1]
    for number, (key, out) in enumerate(QUESTIONS):
        y = 1 + STEP * number
        box(LEFT, y, key, **question)
        box(RIGHT, y, f"{key}_{out}", **answer)
        canvas.arrow(f"M{edge} {num(y + HIGH / 2)}H{RIGHT[0] - 6}", RIGHT[0], y + HIGH / 2, "right")
        canvas.text((edge + RIGHT[0]) / 2, y + HIGH / 2 - 6, words(out), anchor="middle", bold=True)
        canvas.arrow(f"M{num(middle)} {y + HIGH}V{y + STEP - 6}", middle, y + STEP, "down")
        other = "yes" if out == "no" else "no"
        canvas.text(middle + 10, y + HIGH + 20, words(other), bold=True)
    box(LEFT, 1 + STEP * len(QUESTIONS), "else", **answer)
    return canvas.svg(STEP * len(QUESTIONS) + HIGH + 2, words("title"), words("desc"))
