"""The bit layouts of the number formats, to scale."""

from __future__ import annotations

from pathlib import Path

from . import data
from .svg import EXPONENT, FRACTION, SIGN, Canvas, num, text_width
from .words import Words

BIT = 11
LEFT = 4
ROW = 58
#: Formats with the same exponent stand together, so that one sees that BF16 is FP32 cut short.
ORDER = ("fp32", "tf32", "bf16", "fp16")
PARTS = {"sign": SIGN, "exponent": EXPONENT, "fraction": FRACTION}


def draw(words: Words, snippets: Path) -> str:
    """Draw the formats of ``amp/formats.out``."""
    formats = data.formats(snippets, ORDER)
    canvas = Canvas("formats")
    starts = [0] * len(formats)
    key, spare = LEFT, 32 * BIT - sum(17 + text_width(words(part)) for part in PARTS)
    for part, color in PARTS.items():
        canvas.open(fill=color, fill_opacity=0.3, stroke=color)
        canvas.rect(key, 4, 12, 12)
        for row, one in enumerate(formats):
            x, y, bits = LEFT + starts[row] * BIT, 59 + row * ROW, getattr(one, part)
            canvas.rect(x, y, bits * BIT, 24)
            if bits > 1:
                canvas.path(f"M{num(x)} {y}" + f"m{BIT} 0v4m0 16v4m0-24" * (bits - 1))
            starts[row] += bits
        canvas.close()
        canvas.text(key + 17, 14, words(part))
        key += 17 + text_width(words(part)) + min(spare / 2, 24)
    told = []
    for row, one in enumerate(formats):
        y = 52 + row * ROW
        name, x = one.name.upper(), LEFT
        largest, step = words.printed(one.largest), words.printed(one.step)
        canvas.text(x, y, name, size=13, bold=True)
        facts = words("facts", largest=largest, step=step)
        canvas.text(LEFT + 32 * BIT, y, facts, anchor="end")
        for part in PARTS:
            bits = getattr(one, part)
            canvas.text(x + bits * BIT / 2, y + 23, str(bits), anchor="middle", bold=True)
            x += bits * BIT
        if one.bits < 32:
            key = "unstored" if one.name == "tf32" else "stored"
            canvas.text(x + 8, y + 23, words(key, bits=str(one.bits)))
        told.append(
            words(
                "one",
                name=name,
                sign=str(one.sign),
                exponent=str(one.exponent),
                fraction=str(one.fraction),
                largest=largest,
                smallest=words.printed(one.normal),
                step=step,
            )
        )
    height = 43 + len(formats) * ROW
    return canvas.svg(height, words("title"), words("desc", formats=" ".join(told)))
