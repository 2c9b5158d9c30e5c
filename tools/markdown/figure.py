"""A figure, drawn from what the programs printed, with its caption.

    /// figure | formats
    The four formats, drawn to scale.
    ///

becomes the drawing itself, in the page's language, so that it takes the page's colors:

    <figure class="figure" id="figure-formats">
      <svg role="img" …>…</svg>
      <figcaption><p>The four formats, drawn to scale.</p></figcaption>
    </figure>

tools/figures draws; a figure that can't be drawn stops the build and says why.
"""

import xml.etree.ElementTree as etree

from markdown.util import AtomicString
from pymdownx.blocks import BlocksExtension

from tools.figures import FigureError, render
from tools.markdown import PageFault, Unclosed
from tools.markdown.caption import Captioned


class Figure(Captioned):
    """The block: its argument is the name of the figure, its content the caption."""

    NAME = "figure"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Draw the figure. Raises PageFault if it can't be drawn, or is on the page already."""
        name = self.argument.strip()
        if name in self.tracker.setdefault("figures", set()):
            self.fault("it stands on this page already, and ids are unique; remove one of them")
        self.tracker["figures"].add(name)
        try:
            svg = render(name, self.config["lang"])
        except FigureError as error:
            raise PageFault(str(error), self.near()) from error
        figure = self.open(parent, **{"class": "figure", "id": f"figure-{name}"})
        figure.text = AtomicString(self.md.htmlStash.store(svg))
        return figure


class FigureExtension(BlocksExtension):
    """Option: `lang`, the language of the words in the figures."""

    def __init__(self, **options):
        self.config = {"lang": ["en", "language of the words in the figures"]}
        super().__init__(**options)

    def extendMarkdownBlocks(self, md, block_mgr) -> None:  # noqa: N802 (pymdownx's name)
        """Register the block."""
        md.treeprocessors.register(Unclosed(md), "unclosed_blocks", 100)
        block_mgr.register(Figure, self.getConfigs())


def makeExtension(**options) -> FigureExtension:  # noqa: N802 (Markdown's name)
    """Return the extension: Markdown calls this."""
    return FigureExtension(**options)
