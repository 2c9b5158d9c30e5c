"""What is on record of every program: who ran them where, and a table of programs and records.

    /// verification
    ///

becomes a paragraph or a fold for each record (the machine, the versions, the commit, the date) and
a table with a row for each program, which the badges of the blocks lead to. A device class that
pyproject.toml requires and that has no record has a column all the same, which says so.
"""

import re
import xml.etree.ElementTree as etree
from pathlib import Path

from markdown.util import AtomicString
from pymdownx.blocks import BlocksExtension
from pymdownx.blocks.block import Block

from tools import badge
from tools.languages import words
from tools.record import FOLDER
from tools.snippets import SNIPPETS, load_all


def row_id(path: str) -> str:
    """Return the id of a program's row."""
    return "program-" + re.sub(r"[^a-z0-9]+", "-", path.removesuffix(".py").lower())


def _add(parent: etree.Element, tag: str, text: str = "", **attributes: str) -> etree.Element:
    """Append an element whose text is no Markdown."""
    element = etree.SubElement(parent, tag, attributes)
    element.text = AtomicString(text)
    return element


class Verification(Block):
    """The block; it takes no argument and holds nothing."""

    NAME = "verification"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Make the folds and the table."""
        word = words(self.config["lang"])
        records = badge.records(Path(self.config["records"]))
        programs = load_all(Path(self.config["root"]))
        # The site's search would find each program's name once more, and the words of every cell.
        whole = etree.SubElement(
            parent, "div", {"class": "verification", "data-search-exclude": ""}
        )
        if not records:
            _add(_add(whole, "p"), "strong", word["record_nothing"])
        for one in records:
            self._fold(whole, one, programs, word)
        missing = [d for d in badge.required() if d not in {one.device for one in records}]
        columns = [(one, one.device) for one in records] + [(None, kind) for kind in missing]
        table = etree.SubElement(whole, "table")
        head = etree.SubElement(etree.SubElement(table, "thead"), "tr")
        _add(head, "th", word["record_program"], scope="col")
        for one, kind in columns:
            title = _add(head, "th", badge.device(one) if one else kind.upper(), scope="col")
            if one:
                etree.SubElement(title, "br").tail = AtomicString(f"PyTorch {one.torch_release}")
        body = etree.SubElement(table, "tbody")
        for program in programs:
            row = etree.SubElement(body, "tr", {"id": row_id(program.path)})
            name = etree.SubElement(row, "th", {"scope": "row"})
            _add(name, "a", program.path, href=self.config["base"] + program.path)
            for one, _ in columns:
                state, said = badge.cell(one, program, word)
                _add(row, "td", said, **{"class": f"standing standing-{state}"})
        return whole

    def _fold(self, whole: etree.Element, one, programs, word) -> None:
        states = [badge.cell(one, program, word)[0] for program in programs]
        count = word["record_count"].format(n=states.count("passed"), all=len(programs))
        fold = etree.SubElement(whole, "details")
        said = [badge.device(one), f"PyTorch {one.torch_release}", one.finished[:10], count]
        _add(fold, "summary", " · ".join(said))
        facts = etree.SubElement(fold, "ul")
        for line in [*badge.versions(one, word), one.system, badge.revision(one, word)]:
            _add(facts, "li", line)

    def on_markdown(self) -> str:
        """The block's content would be text."""
        return "raw"


class VerificationExtension(BlocksExtension):
    """Options: `lang` of the words, `base` of the links to programs, `root`, `records`."""

    def __init__(self, **options):
        self.config = {
            "lang": ["en", "language of the words"],
            "base": ["snippets/", "where the site has the programs, as a page links to them"],
            "root": [str(SNIPPETS), "the folder of the programs"],
            "records": [str(FOLDER), "the folder of the records"],
        }
        super().__init__(**options)

    def extendMarkdownBlocks(self, md, block_mgr) -> None:  # noqa: N802 (pymdownx's name)
        """Register the block."""
        block_mgr.register(Verification, self.getConfigs())


def makeExtension(**options) -> VerificationExtension:  # noqa: N802 (Markdown's name)
    """Return the extension: Markdown calls this."""
    return VerificationExtension(**options)
