"""What changes from one program to another, generated from the two, with a caption.

    /// difference | ddp/single.py -> ddp/train.py
    The whole way to two processes.
    ///

becomes a block that looks like the others, with a link to each program:

    <figure class="difference">
      <div class="listing">
        <div class="listing-title"><a href="snippets/ddp/single.py">ddp/single.py</a> → …</div>
        <div class="highlight" data-difference="ddp/single.py -> ddp/train.py"><pre><code>…
    <del><span class="visually-hidden">removed: </span>-<span …>loader</span> = …</del>
    …</code></pre></div>
      </div>
      <figcaption><p>The whole way to two processes.</p></figcaption>
    </figure>

A section of a program is named as in an include, `ddp/train.py:loop`. The code is that of
tools/differences.py. A line that came or went has its sign, a ground, and for whoever has the page
read out, a word.
"""

import html
import xml.etree.ElementTree as etree
from functools import lru_cache
from pathlib import Path

from markdown.util import AtomicString
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pymdownx.blocks import BlocksExtension

from tools import badge, differences
from tools.differences import Difference, DifferenceError
from tools.languages import words
from tools.markdown import PageFault, Unclosed
from tools.markdown.caption import Captioned
from tools.markdown.code import add_badge, checked_page
from tools.markdown.highlight import plain
from tools.record import FOLDER
from tools.snippets import SNIPPETS, SnippetError

_ELEMENTS = {"-": "del", "+": "ins"}


@lru_cache(1000)
def _colored(text: str) -> list[str]:
    """Return the HTML of each line of a Python text; no element goes over lines."""
    lexer = PythonLexer(stripnl=False)
    return plain(highlight(text, lexer, HtmlFormatter(nowrap=True))).split("\n")


def code(difference: Difference, word: dict[str, str]) -> str:
    """Return the HTML of the rows; `word` has the words of a language."""
    before, after = (_colored("\n".join(side)) for side in (difference.before, difference.after))
    said = {"-": word["difference_removed"], "+": word["difference_added"]}
    lines = []
    for row in difference.rows:
        if not row.sign:
            gap = html.escape(differences.gap(row, word))
            lines.append(f'<span class="gap">{gap}\n</span>')
            continue
        line = before[row.old] if row.new is None else after[row.new]
        if element := _ELEMENTS.get(row.sign):
            label = f'<span class="visually-hidden">{html.escape(said[row.sign])}</span>'
            lines.append(f"<{element}>{label}{row.sign}{line}\n</{element}>")
        else:
            lines.append(f" {line}\n" if line else "\n")
    return "".join(lines)


class DifferenceBlock(Captioned):
    """The block: its argument names two programs, its content is the caption."""

    NAME = "difference"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Make the block of code. Raises PageFault for what can't be compared."""
        try:
            old, new = differences.sides(self.argument)
            difference = differences.between(old, new, Path(self.config["root"]))
        except DifferenceError as error:
            self.fault(str(error))
        except SnippetError as error:
            raise PageFault(str(error), self.near()) from error
        word = words(self.config["lang"])
        figure = self.open(parent, **{"class": "difference"})
        listing = etree.Element("div", {"class": "listing"})
        listing.set("style", f"--lines:{len(difference.rows)}")
        # The site's search finds the code where the programs are explained.
        listing.set("data-search-exclude", "")
        figure.insert(0, listing)
        self._title(etree.SubElement(listing, "div", {"class": "listing-title"}), difference, word)
        block = etree.SubElement(
            listing, "div", {"class": "highlight", "data-difference": f"{old} -> {new}"}
        )
        made = f"<pre><code>{code(difference, word)}</code></pre>"
        block.text = AtomicString(self.md.htmlStash.store(made))
        return figure

    def _title(self, title: etree.Element, difference: Difference, word: dict[str, str]) -> None:
        programs = [difference.old, difference.new]
        for number, program in enumerate(programs):
            if number:
                to = etree.SubElement(title, "span", {"class": "visually-hidden"})
                to.text = word["difference_to"]
            link = etree.SubElement(title, "a", {"href": self.config["base"] + program.path})
            link.set("title", word["whole_program"])
            link.text = AtomicString(program.path)
            if program.wrong:
                label = etree.SubElement(title, "span", {"class": "listing-label"})
                label.text = word["wrong"]
        records = Path(self.config["records"])
        found = badge.records(records)
        alike = {}  # programs of which the badges say the same share one
        for program in dict.fromkeys(p.path for p in programs):
            snippet = next(p for p in programs if p.path == program)
            alike.setdefault(badge.summary(snippet, found, word), []).append(snippet)
        checked = checked_page(self.config["lang"], self.config["checked"])
        for some in alike.values():
            add_badge(title, some, self.config["lang"], records, checked)


class DifferenceExtension(BlocksExtension):
    """Options: as those of tools/markdown/code.py."""

    def __init__(self, **options):
        self.config = {
            "lang": ["en", "language of the words"],
            "base": ["snippets/", "where the site has the programs, as a page links to them"],
            "root": [str(SNIPPETS), "the folder of the programs"],
            "records": [str(FOLDER), "the folder of the records"],
            "checked": ["checked.md", "the page that says how all was checked, if there is one"],
        }
        super().__init__(**options)

    def extendMarkdownBlocks(self, md, block_mgr) -> None:  # noqa: N802 (pymdownx's name)
        """Register the block."""
        md.treeprocessors.register(Unclosed(md), "unclosed_blocks", 100)
        block_mgr.register(DifferenceBlock, self.getConfigs())


def makeExtension(**options) -> DifferenceExtension:  # noqa: N802 (Markdown's name)
    """Return the extension: Markdown calls this."""
    return DifferenceExtension(**options)
