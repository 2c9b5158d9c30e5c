"""The picture that is shown where a page is shared: 1200 × 630, in the site's look."""

import hashlib
import io
import re
import tempfile
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SIZE = (1200, 630)
_ROOT = Path(__file__).resolve().parents[1]
_ASSETS = _ROOT / "theme" / "assets"
_PAPER, _INK, _MUTED, _ACCENT, _SECOND = "#fbfaf6", "#20242a", "#575c60", "#0d6b64", "#c2571a"
_MARGIN = 80
_TEXT = 640  # the width of the title; the spirals stand right of it
_SELF = Path(__file__).read_text("utf-8")
_POINT = re.compile(r"M(\d+) (\d+)h0")


@cache
def _font(size: int, weight: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(str(_ASSETS / "fonts" / "source-serif-4.woff2"), size)
    font.set_variation_by_axes([weight])
    return font


def _dots(name: str, side: int) -> Image.Image:
    """Return a mask of the points in an image of theme/: drawn large, made small, so soft-edged."""
    mask = Image.new("L", (side * 2, side * 2))
    draw = ImageDraw.Draw(mask)
    for x, y in _POINT.findall((_ASSETS / "images" / name).read_text("utf-8")):
        draw.circle([int(x) * side / 100, int(y) * side / 100], 6.8, fill=255)
    return mask.resize((side, side), Image.Resampling.BOX)


@cache
def _ground() -> Image.Image:
    """Return what all pictures share: the paper, the mark and the two spirals of the course."""
    image = Image.new("RGB", SIZE, _PAPER)
    side = 400
    for name, color in (("spiral-0.svg", _ACCENT), ("spiral-1.svg", _SECOND)):
        image.paste(color, (750, 115), _dots(name, side))
    draw = ImageDraw.Draw(image)
    # the mark, as in theme/partials/mark.html
    bars = ((0, 4, _INK), (12, 9, _INK), (24, 18, _INK), (36, 38, _ACCENT))
    for x, height, color in bars:
        draw.rectangle([_MARGIN + x, 118 - height, _MARGIN + x + 7, 117], fill=color)
    return image


def _lines(text: str, font: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """Return `text` broken between words, each line at most `width` wide if it can be."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def card(title: str, subtitle: str, lang: str, cache_dir: Path | None = None) -> bytes:
    """Return the PNG for a page: its title, the course's name or promise, the language.

    The same words give the same bytes; with `cache_dir` they are drawn once and kept there, under
    a hash of the words and of this file.
    """
    if cache_dir is None:
        return _draw(title, subtitle, lang)
    key = hashlib.sha256("\0".join((_SELF, title, subtitle, lang)).encode()).hexdigest()
    kept = cache_dir / f"{key[:32]}.png"
    try:
        return kept.read_bytes()
    except FileNotFoundError:
        picture = _draw(title, subtitle, lang)
        cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache_dir, delete=False) as file:
            file.write(picture)
        Path(file.name).replace(kept)  # another language's build may be doing the same
        return picture


def _draw(title: str, subtitle: str, lang: str) -> bytes:
    """Draw the picture. A long title is set smaller, until it fits."""
    image = _ground().copy()
    draw = ImageDraw.Draw(image)
    draw.text((_MARGIN + 58, 118), "Scale by Example", _INK, _font(34, 600), anchor="ls")
    for size in (84, 72, 62, 54, 46, 40, 34):
        font = _font(size, 620)
        lines = _lines(title, font, _TEXT)
        fits = max(map(font.getlength, lines)) <= _TEXT
        if fits and len(lines) * size * 1.12 <= 310:
            break
    top = 330 - len(lines) * size * 1.12 / 2
    for number, line in enumerate(lines):
        draw.text((_MARGIN, top + (number + 0.82) * size * 1.12), line, _INK, font, anchor="ls")
    small = _font(28, 400)
    for number, line in enumerate(_lines(subtitle, small, _TEXT + 200)[:2]):
        draw.text((_MARGIN, 540 + number * 38), line, _MUTED, small, anchor="ls")
    draw.text((SIZE[0] - _MARGIN, 578), lang.upper(), _MUTED, _font(24, 600), anchor="rs")
    out = io.BytesIO()
    # 64 colors are enough for flat tones and soft edges, and make the file a fifth.
    image.quantize(64, Image.Quantize.FASTOCTREE).save(out, "PNG", compress_level=6)
    return out.getvalue()


def write(config, pages) -> None:
    """Draw the pictures of `pages` into the built site of `config` (both as MkDocs has them).

    theme/base.html links to them by the same names.
    """
    folder = Path(config.site_dir, "assets", "social")
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        home = page.is_homepage
        name = "index" if home else page.url.strip("/").replace("/", "-")
        title = str(page.meta.get("title", page.title))
        promise = config.site_description
        picture = card(title, promise, config.theme["language"], _ROOT / "build" / "social")
        (folder / f"{name}.png").write_bytes(picture)
