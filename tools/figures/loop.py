"""One iteration of mixed-precision training: what runs in 16 bits, and what in 32."""

from __future__ import annotations

from pathlib import Path

from .svg import BITS16, BITS32, TROUBLE, WIDTH, Canvas, num, wrap
from .words import Words

#: Boxes of the two lanes: 16 bits at the left and round, 32 bits at the right and square.
LANES = {16: (10, BITS16, 17), 32: (186, BITS32, 0)}
BOX, HIGH = 156, 34
BACK = WIDTH - 7


def draw(words: Words, snippets: Path) -> str:
    """Draw the loop. It shows the order of things and has no numbers to read."""
    canvas = Canvas("loop")
    for lane, end in ((16, 292), (32, 432)):
        x, color, _ = LANES[lane]
        canvas.rect(x - 6, 0, BOX + 12, end, fill=color, fill_opacity=0.1)
        canvas.text(x + BOX / 2, 18, words(f"bits{lane}"), anchor="middle", size=13, bold=True)
    calls = (
        (28, 128, "with torch.autocast(…):"),
        (170, 118, "scaler.scale(loss).backward()"),
        (302, 126, "scaler.step(optimizer)"),
        (442, 68, "scaler.update()"),
    )
    canvas.open(stroke="currentColor", stroke_opacity=0.6, stroke_dasharray="4 3", fill="none")
    for y, height, _ in calls:
        canvas.rect(1, y, WIDTH - 2, height, rx=4)
    canvas.close()
    for y, _, code in calls:
        canvas.text(10, y + 18, code, code=True)

    def box(lane: int, y: float, key: str, kind: str = "") -> None:
        x, color, radius = LANES[lane]
        look = {"fill": color, "stroke": color, "rx": radius or None}
        if kind == "skip":
            look = {"fill": TROUBLE, "stroke": TROUBLE, "stroke_dasharray": "5 3"}
        elif kind == "number":
            look = {"fill": "currentColor", "fill_opacity": 0.06, "stroke": "currentColor"}
        canvas.rect(x, y, BOX, HIGH, **({"fill_opacity": 0.2} | look))
        lines = wrap(words(key), BOX - 8)
        first = y + HIGH / 2 + 4 - 7 * (len(lines) - 1)
        canvas.lines(x + BOX / 2, first, lines, step=14, anchor="middle")

    left, right = LANES[16][0] + BOX / 2, LANES[32][0] + BOX / 2
    inner, outer, edge = LANES[16][0] + BOX, LANES[32][0] + BOX, LANES[32][0]
    box(32, 54, "weights")
    box(16, 54, "forward")
    box(32, 112, "loss")
    box(32, 196, "scaled_loss")
    box(16, 196, "backward")
    box(32, 246, "gradients")
    box(32, 328, "unscale")
    box(16, 384, "skip", "skip")
    box(32, 384, "step")
    box(16, 468, "halve", "number")
    box(32, 468, "double", "number")

    canvas.arrow(f"M{edge} 71H{inner + 6}", inner, 71, "left")
    canvas.arrow(f"M{num(left)} 88V129H{edge - 6}", edge, 129, "right")
    canvas.arrow(f"M{num(right)} 146V190", right, 196, "down")
    canvas.arrow(f"M{edge} 213H{inner + 6}", inner, 213, "left")
    canvas.arrow(f"M{num(left)} 230V263H{edge - 6}", edge, 263, "right")
    canvas.arrow(f"M{num(right)} 280V322", right, 328, "down")
    canvas.arrow(f"M{edge} 345H{num(left)}V378", left, 384, "down")
    canvas.text(edge - 12, 340, words("infinite"), anchor="end")
    canvas.arrow(f"M{num(right)} 362V378", right, 384, "down")
    canvas.text(right + 10, 377, words("finite"))
    canvas.arrow(f"M{inner - 20} 418V462", inner - 20, 468, "down")
    canvas.arrow(f"M{num(right)} 418V462", right, 468, "down")
    canvas.arrow(f"M{outer} 401H{BACK}V71H{outer + 6}", outer, 71, "left")
    return canvas.svg(512, words("title"), words("desc"))
