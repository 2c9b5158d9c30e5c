"""What training keeps in memory, in FP32 and under autocast, with a small and a large batch."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from . import data
from .svg import BITS32, WIDTH, Canvas, text_width
from .words import Words

LEFT, LONGEST, HIGH = 62, 206, 22
#: The parts of a bar and how strongly they are colored; the last one is hatched.
PARTS = {"weights": 0.42, "gradients": 0.26, "adam": 0.12, "saved": 1}
HATCH = "figure-memory-hatch"
SAVED = "var(--fig-2,#c7722f)"


def draw(words: Words, snippets: Path) -> str:
    """Draw ``amp/memory.out``."""
    found = data.memory(snippets)
    bars = [
        (batch, mode, (found.weights[at], found.gradients[at], found.adam[at], saved[at]))
        for batch, saved in found.saved.items()
        for at, mode in enumerate(("fp32", "autocast"))
    ]
    totals = [sum(map(Decimal, values)) for _, _, values in bars]
    canvas = Canvas("memory")
    canvas.open("defs")
    canvas.open("pattern", id=HATCH, width=5, height=5, patternUnits="userSpaceOnUse")
    canvas.path("M-1 6 6-1M-1 1 1-1M4 6 6 4", stroke=SAVED, stroke_width=1.5)
    canvas.close()
    canvas.close()

    boxes: dict[str, list[tuple[float, ...]]] = {key: [] for key in PARTS}
    start = len(canvas.parts)
    x, y = 4, 4
    for key in PARTS:
        wide = text_width(words(key)) + 34
        if x + wide > WIDTH + 12:
            x, y = 4, y + 20
        boxes[key].append((x, y, 12, 12))
        canvas.text(x + 18, y + 10.5, words(key))
        x += wide
    y += 34
    canvas.text(4, y, words("scale"))
    canvas.text(WIDTH - 4, y, words("total"), anchor="end")
    y += 26
    for at, ((batch, mode, values), total) in enumerate(zip(bars, totals, strict=True)):
        if mode == "fp32":  # both bars of a pair have one scale: the longer one fills the place
            unit = LONGEST / float(max(totals[at : at + 2]))
            change = float(100 * totals[at + 1] / total - 100)
            heading = words(
                "batch", batch=words.number(batch), change=words.percent(change, 0, sign=True)
            )
            canvas.text(4, y, heading, size=13, bold=True)
            y += 10
        canvas.text(4, y + 15.5, words(mode))
        x = LEFT
        for key, value in zip(PARTS, values, strict=True):
            width, label = float(value) * unit, words.printed(value)
            boxes[key].append((x, y, width, HIGH))
            if key == "saved":
                canvas.text(x + width + 5, y + 15.5, label, bold=True)
            elif text_width(label) + 4 < width:
                canvas.text(x + width / 2, y + 15.5, label, anchor="middle")
            x += width
        canvas.text(WIDTH - 4, y + 15.5, words.printed(str(total)), anchor="end")
        y += HIGH + (6 if mode == "fp32" else 30)
    labels = canvas.parts[start:]
    del canvas.parts[start:]  # they lie upon the bars
    for key, opacity in PARTS.items():
        look = {"fill": BITS32, "fill_opacity": opacity, "stroke": BITS32}
        if key == "saved":
            look = {"fill": f"url(#{HATCH})", "stroke": SAVED}
        canvas.open(**look)
        for box in boxes[key]:
            canvas.rect(*box)
        canvas.close()
    canvas.parts += labels
    small, large = min(found.saved), max(found.saved)
    told = {
        f"{mode}_{size}": words.printed(found.saved[batch][at])
        for size, batch in (("small", small), ("large", large))
        for at, mode in enumerate(("fp32", "autocast"))
    }
    description = words(
        "desc",
        small=words.number(small),
        large=words.number(large),
        weights=words.printed(found.weights[1]),
        gradients=words.printed(found.gradients[1]),
        adam=words.printed(found.adam[1]),
        **told,
    )
    return canvas.svg(y - 24, words("title"), description)
