"""The figures of the lessons: SVG drawn from what the programs printed, worded in each language.

``render("formats", "fr")`` reads ``snippets/amp/*.out`` and ``locales/fr/figures.yml`` and returns
an ``<svg>`` element to be placed in a page. The same input gives the same text, byte by byte.
"""

from __future__ import annotations

from pathlib import Path

from tools.languages import note

from . import (
    choose,
    data_parallel_step,
    ddp_step,
    efficiency,
    formats,
    loop,
    loss,
    memory,
    ranges,
    scale_path,
)
from .svg import FigureError
from .words import Words, of_figure

ROOT = Path(__file__).resolve().parents[2]
SNIPPETS = ROOT / "snippets"
LOCALES = ROOT / "locales"

#: Every figure, by the name that a page gives it.
FIGURES = {
    "choose": choose.draw,
    "data_parallel_step": data_parallel_step.draw,
    "formats": formats.draw,
    "ranges": ranges.draw,
    "loop": loop.draw,
    "scale-path": scale_path.draw,
    "loss": loss.draw,
    "ddp-step": ddp_step.draw,
    "loss-accelerate": loss.draw_accelerate,
    "loss-data-parallel": loss.draw_data_parallel,
    "loss-ddp": loss.draw_ddp,
    "memory": memory.draw,
    "efficiency": efficiency.draw,
}

__all__ = ["FIGURES", "FigureError", "render"]


def render(name: str, lang: str, *, snippets: Path = SNIPPETS, locales: Path = LOCALES) -> str:
    """Return the figure `name` in the language `lang` as SVG.

    Raises FigureError for a name that is unknown, a word that is missing or too long for its
    place, and an output that is missing or no longer reads as expected.
    """
    if name not in FIGURES:
        raise FigureError(f"no figure is called {name!r}; there are {', '.join(sorted(FIGURES))}")
    words = Words(name, lang, locales)
    note(lang, f"figure {name}", of_figure(name, lang, locales))
    try:
        return FIGURES[name](words, snippets)
    except FigureError as error:
        raise FigureError(f"figure {name!r}, {lang}: {error}") from error
