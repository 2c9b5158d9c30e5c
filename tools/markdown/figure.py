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

from markdown.util import STX, AtomicString
from pymdownx.blocks import BlocksExtension
from pymdownx.blocks.block import Block

from tools.figures import FigureError, render
from tools.markdown import OPEN, PageFault, Unclosed


class Figure(Block):
    """The block: its argument is the name of the figure, its content the caption."""

    NAME = "figure"
    ARGUMENT = True

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Draw the figure. Raises PageFault if it can't be drawn, or is on the page already."""
        name = self.argument.strip()
        if name in self.tracker.setdefault("figures", set()):
            self._fault("it stands on this page already, and ids are unique; remove one of them")
        self.tracker["figures"].add(name)
        try:
            svg = render(name, self.config["lang"])
        except FigureError as error:
            raise PageFault(str(error), self._near()) from error
        figure = etree.SubElement(parent, "figure", {"class": "figure", "id": f"figure-{name}"})
        figure.set(OPEN, self._near())
        figure.text = AtomicString(self.md.htmlStash.store(svg))
        self.caption = etree.SubElement(figure, "figcaption")
        return figure

    def on_add(self, block: etree.Element) -> etree.Element:
        """Put what the block holds into the caption."""
        return self.caption

    def on_end(self, block: etree.Element) -> None:
        """Raise PageFault for a figure whose caption is not one paragraph.

        Without its closing `///` a figure takes all that follows for its caption.
        """
        del block.attrib[OPEN]
        if not len(self.caption):
            self._fault("it has no caption; say beneath it, before `///`, what one sees")
        first, *more = self.caption
        # A block of code is a placeholder by now, alone in its paragraph.
        if more or first.tag != "p" or STX in (first.text or ""):
            self._fault("its caption is more than one paragraph; is its closing `///` missing?")

    def _near(self) -> str:
        return f"/// figure | {self.argument}"

    def _fault(self, message: str) -> None:
        raise PageFault(f"figure {self.argument!r}: {message}", self._near())


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
