"""A small canvas: SVG text with rounded numbers, and a check that every label has its place.

The canvas is 360 units wide, which is the width of a phone's text column, so that a label of 12
units is never smaller than 11 pixels. Colors and fonts are the theme's (``--fig-1`` …), with
fallbacks that can be told from a light and from a dark ground; text has the color of the text
around the figure.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

WIDTH = 360
SIZE = 12
#: How wide a figure gets where there is room: its text is then nearly as large as the page's.
SHOWN = 500

#: What the colors mean; a shape or a label says the same. The theme has them for light and dark.
BITS16 = "var(--fig-1,#2f8f83)"
BITS32 = "var(--fig-3,#5a86cc)"
TROUBLE = "var(--fig-bad,#c4584a)"
SIGN = "var(--fig-6,#85898d)"
EXPONENT = "var(--fig-4,#b565a0)"
FRACTION = "var(--fig-5,#ad8a1c)"
SANS, MONO = "var(--sans,sans-serif)", "var(--mono,monospace)"

# Widths in thousandths of the font size, of the common sans-serif fonts, on the generous side.
_WIDTHS = dict.fromkeys("ijl.,:;'|!·’", 300) | dict.fromkeys("frtI()[]- \u00a0\u202f/", 370)
_WIDTHS |= dict.fromkeys("mwMW%—→←", 930) | dict.fromkeys("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", 430)
_WIDTHS |= dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZÄÖÜÉÈÀ+=×÷≤≥<>½", 730)


class FigureError(Exception):
    """A figure that can't be drawn. Its text says where the fault is and what to do."""


def text_width(text: str, size: float = SIZE, *, bold: bool = False, code: bool = False) -> float:
    """Return about how wide `text` is, in units of the canvas; never too little by much."""
    if code:
        return len(text) * 0.61 * size
    return sum(_WIDTHS.get(c, 590) for c in text) * size / 1000 * (1.06 if bold else 1)


def wrap(text: str, width: float, size: float = SIZE) -> list[str]:
    """Break `text` at its (breaking) spaces into as few lines of at most `width` as may be.

    The lines are of about the same length. A word that is wider than `width` keeps its line.
    """

    def fill(width: float) -> list[str]:
        lines: list[str] = []
        for word in text.split(" "):
            if lines and text_width(f"{lines[-1]} {word}", size) <= width:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        return lines

    lines = fill(width)
    while len(narrower := fill(width - size)) == len(lines) and width > size:
        lines, width = narrower, width - size
    return lines


def num(value: float) -> str:
    """Return a coordinate with at most one decimal: ``12``, ``12.5``, never ``-0``."""
    return f"{round(value, 1) + 0:.1f}".removesuffix(".0")


def _attributes(values: dict) -> str:
    return "".join(
        f" {key.rstrip('_').replace('_', '-')}="
        + quoteattr(num(value) if isinstance(value, int | float) else value)
        for key, value in values.items()
        if value is not None
    )


@dataclass(frozen=True)
class Label:
    """The estimated box of a text on the canvas."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Label) -> bool:
        """Say whether the two boxes overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


class Canvas:
    """Collects shapes and texts, top to bottom, and writes them as one SVG element."""

    def __init__(self, name: str):
        self.name = name
        self.parts, self.unclosed, self.labels = [], [], []

    def add(self, tag: str, content: str | None = None, **attributes) -> None:
        """Add an element; ``fill_opacity`` becomes ``fill-opacity``; `content` is raw SVG."""
        end = "/>" if content is None else f">{content}</{tag}>"
        self.parts.append(f"<{tag}{_attributes(attributes)}{end}")

    def rect(self, x: float, y: float, width: float, height: float, **attributes) -> None:
        """Add a rectangle."""
        self.add("rect", x=x, y=y, width=width, height=height, **attributes)

    def path(self, d: str, **attributes) -> None:
        """Add a path. Without a fill of its own it is a line: nothing is filled."""
        self.add("path", d=d, **({"fill": "none"} | attributes))

    def open(self, tag: str = "g", **attributes) -> None:
        """Open a group, whose attributes hold until it is closed."""
        self.parts.append(f"<{tag}{_attributes(attributes)}>")
        self.unclosed.append((tag, attributes))

    def close(self) -> None:
        """Close the group opened last."""
        self.parts.append(f"</{self.unclosed.pop()[0]}>")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        size: float = SIZE,
        bold: bool = False,
        code: bool = False,
        **attributes,
    ) -> None:
        """Add one line of text whose baseline is at `y`; `anchor` is start, middle or end."""
        width = text_width(text, size, bold=bold, code=code)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        self.labels.append(Label(text, left, y - 0.8 * size, left + width, y + 0.2 * size))
        given = {"text_anchor": "start", "font_size": SIZE, "font_weight": 400, "font_family": SANS}
        for _, of_group in self.unclosed:
            given |= of_group
        own = {
            "text_anchor": anchor,
            "font_size": size,
            "font_weight": 700 if bold else 400,
            "font_family": MONO if code else SANS,
        }
        own = {key: value for key, value in own.items() if given[key] != value}
        self.add("text", escape(text), x=x, y=y, **own, **attributes)

    def lines(self, x: float, y: float, lines: list[str], *, step: float = 15, **how) -> None:
        """Add `lines` of text, the first with its baseline at `y`."""
        for line in lines:
            self.text(x, y, line, **how)
            y += step

    def arrow(self, d: str, x: float, y: float, towards: str, **attributes) -> None:
        """Add the line `d` and a head whose tip is at (x, y), pointing down, up, left or right."""
        tip = {"down": "l-4-7h8z", "up": "l-4 7h8z", "left": "l7-4v8z", "right": "l-7-4v8z"}
        self.path(d, stroke="currentColor", **attributes)
        self.path(f"M{num(x)} {num(y)}{tip[towards]}", fill="currentColor")

    def svg(self, height: float, title: str, description: str) -> str:
        """Return the whole figure.

        Raises FigureError if a label sticks out of the canvas or covers another one, which
        happens when a word or a number became longer than the place made for it.
        """
        for index, label in enumerate(self.labels):
            if label.left < 0 or label.right > WIDTH or label.top < 0 or label.bottom > height:
                raise FigureError(f"{label.text!r} sticks out of the figure; shorten it")
            for other in self.labels[:index]:
                if label.meets(other):
                    raise FigureError(f"{label.text!r} covers {other.text!r}; shorten one of them")
        key = f"figure-{self.name}"
        frame = {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {num(height)}",
            "width": SHOWN,
            "height": round(height * SHOWN / WIDTH),
            "role": "img",
            "data-search-exclude": "",
            "aria-labelledby": f"{key}-title",
            "aria-describedby": f"{key}-desc",
            "style": f"max-width:{SHOWN}px",
            "font-family": SANS,
            "font-size": SIZE,
            "fill": "currentColor",
        }
        words = textwrap.dedent(description).strip()
        return (
            f"<svg{_attributes(frame)}>"
            f'<title id="{key}-title">{escape(title)}</title>'
            f'<desc id="{key}-desc">{escape(words)}</desc>' + "".join(self.parts) + "</svg>"
        )
