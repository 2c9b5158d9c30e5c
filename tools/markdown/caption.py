"""A block that shows something with a caption of one paragraph beneath: figures, differences."""

import xml.etree.ElementTree as etree

from markdown.util import STX
from pymdownx.blocks.block import Block

from tools.markdown import OPEN, PageFault


class Captioned(Block):
    """The block: its argument says what is shown, its content is the caption."""

    ARGUMENT = True

    def open(self, parent: etree.Element, **attributes: str) -> etree.Element:
        """Return the element of the block; what is shown goes before its caption."""
        figure = etree.SubElement(parent, "figure", attributes)
        figure.set(OPEN, self.near())
        self.caption = etree.SubElement(figure, "figcaption")
        return figure

    def on_add(self, block: etree.Element) -> etree.Element:
        """Put what the block holds into the caption."""
        return self.caption

    def on_end(self, block: etree.Element) -> None:
        """Raise PageFault for a block whose caption is not one paragraph.

        Without its closing `///` it takes all that follows for its caption.
        """
        del block.attrib[OPEN]
        if not len(self.caption):
            self.fault("it has no caption; say beneath it, before `///`, what one sees")
        first, *more = self.caption
        # A block of code is a placeholder by now, alone in its paragraph.
        if more or first.tag != "p" or STX in (first.text or ""):
            self.fault("its caption is more than one paragraph; is its closing `///` missing?")

    def near(self) -> str:
        """Return a piece of the page's source by which its line is found."""
        return f"/// {self.NAME} | {self.argument}"

    def fault(self, message: str) -> None:
        """Raise PageFault with the name of the block before the message."""
        raise PageFault(f"{self.NAME} {self.argument!r}: {message}", self.near())
