"""Markdown extensions of the pages. They know Markdown and this repository, and no site builder."""

import xml.etree.ElementTree as etree
from pathlib import Path

from markdown.treeprocessors import Treeprocessor

#: Until its closing `///` is read, an attribute of a block's element: the line that opens it.
OPEN = "data-open"

#: The file of the page that is being rendered, if whoever renders has said so.
rendering: Path | None = None


class PageFault(Exception):
    """A mistake of a page's author.

    `message` says what is wrong and what to do; `near` is a piece of the page's source by which
    whoever knows the page's file finds the line.
    """

    def __init__(self, message: str, near: str):
        super().__init__(message)
        self.near = near


class Unclosed(Treeprocessor):
    """Refuses a block that has no closing `///`: it would take in the rest of the page."""

    def run(self, tree: etree.Element) -> None:
        """Raise PageFault for the first one."""
        for element in tree.iter():
            if opened := element.get(OPEN):
                raise PageFault(f"{opened!r} is not closed; add `///` after its last line", opened)
