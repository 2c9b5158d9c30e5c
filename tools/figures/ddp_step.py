"""One training step with DDP on two ranks: gradients, and the buckets that carry their means."""

from __future__ import annotations

from pathlib import Path

from . import data
from .svg import BITS16, BITS32, EXPONENT, Canvas, FigureError, wrap
from .words import Words

#: Left edge, color and rounding of the boxes of each rank; between the two lies the network.
LANES = ((8, BITS32, 0), (240, BITS16, 15))
BOX, HIGH, STEP = 112, 32, 46
LEFT, RIGHT, LONG = 135, 225, 74


def draw(words: Words, snippets: Path) -> str:
    """Draw the order of ``ddp/buckets.out``: which gradient was ready when a bucket was sent."""
    events = data.buckets(snippets)
    canvas = Canvas("ddp-step")
    rows = [words("samples"), words("forward")]
    sent: list[tuple[int, data.Bucket]] = []
    for event in events:
        if isinstance(event, data.Bucket):
            sent.append((len(rows), event))
        else:
            rows.append(words("gradient", layer=str(event)))
    tops = [30 + STEP * number for number in range(len(rows))]
    # A bucket leaves when its last gradient is there; the mean arrives some time after.
    starts = [tops[after - 1] + HIGH - 8 for after, _ in sent]
    for one, other in zip(starts, starts[1:], strict=False):
        if other < one + LONG + 8:
            raise FigureError(
                "snippets/ddp/buckets.out: two buckets follow each other at once; give each of "
                "them two layers"
            )
    canvas.open(text_anchor="middle")
    last = max(starts[-1] + LONG, tops[-1] + HIGH) + 14
    for rank, (x, color, _) in enumerate(LANES):
        canvas.rect(x - 6, 0, BOX + 12, last + HIGH + 8, fill=color, fill_opacity=0.1)
        canvas.text(x + BOX / 2, 18, words("rank", rank=str(rank)), anchor="middle", bold=True)
    for x, color, radius in LANES:
        canvas.open(fill=color, stroke=color, fill_opacity=0.2)
        for top in (*tops, last):
            canvas.rect(x, top, BOX, HIGH, rx=radius or None)
        canvas.close()
        for top, text in zip((*tops, last), (*rows, words("step")), strict=True):
            lines = wrap(text, BOX - 8)
            first = top + HIGH / 2 + 4 - 6.5 * (len(lines) - 1)
            canvas.lines(x + BOX / 2, first, lines, step=13, anchor="middle")
        for top, below in zip(tops, (*tops[1:], last), strict=True):
            middle = x + BOX / 2
            canvas.arrow(f"M{middle} {top + HIGH}V{below - 7}", middle, below, "down")
    (left, _, _), (right, _, _) = LANES
    for start, (_, bucket) in zip(starts, sent, strict=True):
        look = {"stroke": EXPONENT, "stroke_dasharray": "4 3"}
        canvas.rect(LEFT, start, RIGHT - LEFT, LONG, fill=EXPONENT, fill_opacity=0.2, **look)
        middle = (LEFT + RIGHT) / 2
        canvas.text(
            middle,
            start + 22,
            words("bucket", bucket=str(bucket.index)),
            anchor="middle",
            bold=True,
        )
        canvas.text(middle, start + 40, "all-reduce", anchor="middle", code=True, size=11.6)
        size = words("bytes", bytes=words.number(bucket.size))
        canvas.text(middle, start + 58, size, anchor="middle")
        go, back = start + 3, start + LONG - 9
        canvas.arrow(f"M{left + BOX} {go}H{LEFT - 7}", LEFT, go, "right")
        canvas.arrow(f"M{right} {go}H{RIGHT + 7}", RIGHT, go, "left")
        canvas.arrow(f"M{LEFT} {back}H{left + BOX + 7}", left + BOX, back, "left")
        canvas.arrow(f"M{RIGHT} {back}H{right - 7}", right, back, "right")
    canvas.close()
    gradients = [event for event in events if not isinstance(event, data.Bucket)]
    first = sent[0][0] - 2  # gradients that were ready when the first bucket left
    told = {
        "sent": ", ".join(map(str, gradients[:first])),
        "missing": ", ".join(map(str, gradients[first:])),
        "bytes": words.number(sent[0][1].size),
    }
    return canvas.svg(last + HIGH + 8, words("title"), words("desc", **told))
