"""pymdownx.highlight, but each block of code is colored once, and plain words stay plain.

Coloring takes most of the time of a page, and the same block stands on its page in every language
and stays the same through most edits. So the processes that build keep what they have colored.

Names, operators, punctuation and spaces have no color of their own in theme/assets/site.css. An
element for each of them is most of what a long lesson is made of, and what a phone lays out.
"""

import re

from pymdownx import highlight

_PLAIN = re.compile(r'<span class="(?:n|o|p|w)">([^<]*)</span>')
_KEPT: dict[str, str] = {}
_MOST = 5000  # blocks; an edit adds a few, so a server that runs for weeks forgets now and then


def plain(html: str) -> str:
    """Return colored code without the elements of words that have no color."""
    return _PLAIN.sub(r"\1", html)


class Highlight(highlight.Highlight):
    """Colors a block, or gives what it gave for the same block and the same options."""

    def highlight(self, *args, code_block_count: int = 0, inline: bool = False, **options) -> str:
        """Return the HTML of a block; the arguments are those of pymdownx."""
        if inline or self.line_anchors or self.line_spans:  # these number the blocks of a page
            counted = {"code_block_count": code_block_count, "inline": inline}
            return plain(super().highlight(*args, **counted, **options))
        own = {name: value for name, value in vars(self).items() if name != "md"}
        key = repr((own, args, options))
        if key not in _KEPT:
            if len(_KEPT) >= _MOST:
                _KEPT.clear()
            _KEPT[key] = plain(super().highlight(*args, **options))
        return _KEPT[key]


class HighlightExtension(highlight.HighlightExtension):
    """The same extension with the same options, and the class above."""

    def get_pymdownx_highlighter(self) -> type[Highlight]:
        """Return the class that pymdownx's extensions color with."""
        return Highlight


def makeExtension(**options) -> HighlightExtension:  # noqa: N802 (Markdown's name)
    """Return the extension: Markdown calls this."""
    return HighlightExtension(**options)
