"""The ranges of the formats on one line of powers of two, and the gradients upon it."""

from __future__ import annotations

from pathlib import Path

from . import data
from .svg import BITS16, BITS32, TROUBLE, WIDTH, Canvas, num
from .words import Words, power

LEFT, RIGHT = 4, WIDTH - 6
ORDER = ("fp32", "tf32", "bf16", "fp16")
#: Heights: of the large histogram, of the room above it for labels, of the small histogram.
HIGH, ROOM, SMALL = 62, 54, 26
BARS, AREAS = "figure-ranges-bars", "figure-ranges-areas"


class Axis:
    """Maps powers of two to places between the margins of the figure."""

    def __init__(self, first: int, last: int):
        self.first, self.last = first, last
        self.unit = (RIGHT - LEFT) / (last - first)

    def __call__(self, exponent: float) -> float:
        """Return the place of two to the power of `exponent`."""
        return LEFT + (exponent - self.first) * self.unit

    def draw(self, canvas: Canvas, y: float, step: int) -> None:
        """Draw the line at height `y`, with a label at each power that `step` divides."""
        ticks = [p for p in range(self.first + 2, self.last) if p % step == 0]
        marks = "".join(f"M{num(self(tick))} {num(y)}v4" for tick in ticks)
        canvas.path(f"M{LEFT} {num(y)}H{RIGHT}{marks}", stroke="currentColor")
        canvas.open(text_anchor="middle")
        for tick in ticks:
            canvas.text(self(tick), y + 17, power(2, tick), anchor="middle")
        canvas.close()


def draw(words: Words, snippets: Path) -> str:
    """Draw ``amp/formats.out`` with ``amp/gradients.out`` over it."""
    formats, found = data.formats(snippets, ORDER), data.gradients(snippets)
    fp16 = formats[ORDER.index("fp16")]
    low = min(found.counts)
    full = Axis(min(f.powers[0] for f in formats), max(f.powers[2] for f in formats))
    zoom = Axis(low - 2, fp16.powers[2] + 1)
    canvas = Canvas("ranges")
    _define(canvas, found, fp16, zoom)
    y = _all_formats(canvas, words, formats, full, zoom, low)
    scale = max(found.zero)
    shift = scale.bit_length() - 1
    below = found.share(fp16.powers[1] - shift)
    canvas.text(LEFT, y, words("plain"), size=13, bold=True)
    _gradients(canvas, words, zoom, y + 10, fp16, 0, found.zero[1], found.below)
    y += 172
    heading = words("scaled", scale=words.number(scale), power=power(2, shift))
    canvas.text(LEFT, y, heading, size=13, bold=True)
    peak = max(found.counts, key=found.counts.get) + 0.5
    tip = zoom(peak + shift) - 3
    canvas.arrow(f"M{num(zoom(peak))} {y + 60}H{num(tip)}", tip, y + 60, "right")
    _gradients(canvas, words, zoom, y + 10, fp16, shift, found.zero[scale], below)
    description = words(
        "desc",
        total=words.number(found.total),
        low=power(2, low),
        high=power(2, max(found.counts) + 1),
        smallest=power(2, fp16.powers[0]),
        normal=power(2, fp16.powers[1]),
        largest=words.printed(fp16.largest),
        below=words.percent(found.below),
        zero=words.percent(found.zero[1]),
        scale=words.number(scale),
        zero_scaled=words.percent(found.zero[scale]),
        below_scaled=words.percent(below),
    )
    return canvas.svg(y + 150, words("title"), description)


def _define(canvas: Canvas, found: data.Gradients, fp16: data.Format, zoom: Axis) -> None:
    """Define what is drawn several times: the histogram, and the colors behind it."""
    start = min(found.counts)
    bars, at = f"M{num(zoom(start))} 0", start
    for exponent, count in sorted(found.counts.items()):
        gap = "" if exponent == at else f"V0H{num(zoom(exponent))}"
        top = max(0.5, HIGH * count / max(found.counts.values()))
        bars, at = f"{bars}{gap}V{num(-top)}H{num(zoom(exponent + 1))}", exponent + 1
    smallest, normal, end = fp16.powers
    canvas.open("defs")
    canvas.path(bars + "V0z", id=BARS, fill=None)
    canvas.open(id=AREAS)
    for first, last, color, opacity in (
        (zoom.first, smallest, TROUBLE, 1),
        (smallest, normal, TROUBLE, 0.55),
        (normal, end, BITS16, 1),
    ):
        width = zoom(last) - zoom(first)
        canvas.rect(zoom(first), -HIGH, width, HIGH, fill=color, fill_opacity=opacity)
    canvas.close()
    canvas.close()


def _all_formats(canvas, words, formats, full, zoom, low) -> float:
    """Draw all formats on one line with a small histogram; return the height of what follows."""
    canvas.text(LEFT, 14, words("all"), size=13, bold=True)
    ratio = full.unit / zoom.unit
    move = f"translate({num(full(0) - zoom(0) * ratio)} 56) scale({ratio:.4f} {SMALL / HIGH:.3f})"
    canvas.add("use", href=f"#{BARS}", transform=move, fill_opacity=0.7)
    canvas.text(full(low) - 6, 52, words("gradients"), anchor="end")
    rows = [(one, 62 + 22 * row, [full(p) for p in one.powers]) for row, one in enumerate(formats)]
    for is16, color in ((False, BITS32), (True, BITS16)):
        mine = [row for row in rows if (row[0].bits == 16) == is16]
        canvas.open(fill=color, fill_opacity=0.3, stroke=color)
        for _, y, (_, normal, end) in mine:
            canvas.rect(normal, y, end - normal, 18)
        canvas.close()
        outline = "".join(f"M{num(x[1])} {y}H{num(x[0])}v18H{num(x[1])}" for _, y, x in mine)
        canvas.path(outline, stroke=color, stroke_dasharray="2 2")  # numbers with fewer digits
    canvas.open(text_anchor="middle", font_weight=700)
    for one, y, _ in rows:
        canvas.text(full(0), y + 13.5, one.name.upper(), anchor="middle", bold=True)
    canvas.close()
    y = 62 + 22 * len(rows)
    full.draw(canvas, y, 40)
    canvas.path(  # the part of the line that is enlarged below
        f"M{num(full(zoom.first))} {y + 24}H{num(full(zoom.last))}L{RIGHT} {y + 42}H{LEFT}z",
        fill="currentColor",
        fill_opacity=0.1,
    )
    return y + 66


def _gradients(canvas, words, zoom, top, fp16, shift, zero, below) -> None:
    """Draw the histogram, `shift` powers to the right, over the range of fp16."""
    smallest, normal, end = fp16.powers
    base = top + ROOM + HIGH
    canvas.open(fill=BITS16)
    for first, opacity in ((smallest, 0.1), (normal, 0.12)):
        width = zoom(end) - zoom(first)
        canvas.rect(zoom(first), top, width, base - top, fill_opacity=opacity)
    canvas.close()
    clip = f"figure-ranges-clip{shift}"
    place = f"translate({num(shift * zoom.unit)})" if shift else None
    canvas.open("clipPath", id=clip)
    canvas.add("use", href=f"#{BARS}", transform=place)
    canvas.close()
    canvas.open(transform=f"translate(0 {num(base)})")
    if shift:  # where the gradients were
        dashes = {"stroke_opacity": 0.6, "stroke_dasharray": "2 2"}
        canvas.add("use", href=f"#{BARS}", fill="none", stroke="currentColor", **dashes)
    canvas.add("use", href=f"#{AREAS}", clip_path=f"url(#{clip})")
    canvas.close()
    for x, anchor, key, share in (
        (LEFT, "start", "zero", zero),
        (zoom(normal) - 4, "end", "subnormal", below - zero),
        (zoom(normal) + 6, "start", "normal", 100 - below),
    ):
        canvas.text(x, top + 16, words(key), anchor=anchor)
        canvas.text(x, top + 31, words.percent(share), anchor=anchor, bold=True)
    zoom.draw(canvas, base, 8)
