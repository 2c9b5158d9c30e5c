"""Markdown extensions of the pages. They know Markdown and this repository, and no site builder."""


class PageFault(Exception):
    """A mistake of a page's author.

    `message` says what is wrong and what to do; `near` is a piece of the page's source by which
    whoever knows the page's file finds the line.
    """

    def __init__(self, message: str, near: str):
        super().__init__(message)
        self.near = near
