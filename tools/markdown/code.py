"""Blocks of code that show a snippet: a link to the program, its new lines, what kind it is.

    ```python
    --8<-- "amp/train.py:loop"
    ```

becomes

    <div class="listing">
      <div class="listing-title"><a href="snippets/amp/train.py">amp/train.py</a> …</div>
      <div class="highlight" data-snippet="amp/train.py" data-section="loop">…</div>
    </div>

and a `text` fence that includes a `.out` file gets `data-output="amp/train.out"` and a label. A
program from a `wrong` folder has the class `wrong` on both and a label that says so. The title also
holds the badge, a `<details class="listing-record">` that says from the records (tools/badge.py)
where the program was run; an output that stands beneath its program shares the program's.

A preprocessor that comes before pymdownx.snippets (priority 32), so that the include is still to
be seen, writes these attributes into the fence's header; a tree processor adds the title where the
block will stand, as a link that the site builder resolves and checks like every other link.
"""

import re
import xml.etree.ElementTree as etree
from pathlib import Path

from markdown import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

from tools import badge
from tools.languages import ROOT, words
from tools.markdown import PageFault
from tools.markdown.verification import row_id
from tools.record import FOLDER
from tools.snippets import SNIPPETS, Snippet, SnippetError, load, program_of

_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>.*?)[ \t]*$")
_INCLUDE = re.compile(r'^[ \t>]*-+8<-+[ \t]+"(?P<path>[^":]+)(?::(?P<section>[^"]*))?"[ \t]*$')
_BLOCK = re.compile(r"\s*<div\b(?P<attributes>[^>]*\bdata-(?:snippet|output)=[^>]*)>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_SAID = re.compile(
    r"^(?:\[rank\d+\]: )?(?:\w+\.)*[A-Z]\w*(?P<kind>Error|Exception|Warning): .*\n?", re.M
)
_PLACEHOLDER = re.compile("\x02wzxhzdk:(\\d+)\x03")


def _program(path: str, root: Path, near: str) -> Snippet:
    try:
        return load(path, root)
    except SnippetError as error:
        raise PageFault(str(error), near) from error


def _attributes(include: re.Match, root: Path) -> str:
    """Return what the header of a fence with this include says, as an attribute list."""
    near, path, name = include[0].strip(), include["path"], include["section"]
    if path.endswith(".out"):
        if name or not (root / path).is_file():
            raise PageFault(f"{near} finds no output; `make outputs` writes those there are", near)
        return f'data-output="{path}"'
    if not path.endswith(".py"):
        raise PageFault(f"{near} is neither a program (.py) nor its output (.out)", near)
    snippet = _program(path, root, near)
    said = f'data-snippet="{path}"'
    if snippet.wrong:
        said = f".wrong {said}"
    if name:
        section = snippet.sections.get(name)
        if section is None:
            have = ", ".join(snippet.sections) or "none"
            raise PageFault(f"{near}: snippets/{path} has no such section; it has: {have}", near)
        said += f' data-section="{name}"'
        if section.new:
            said += f' hl_lines="{" ".join(map(str, section.new))}"'
    return said


def _header(fence: re.Match, said: str) -> str:
    """Return the fence's opening line with the attribute list `said` added."""
    info = fence["info"].strip("{} \t")
    language, _, rest = info.partition(" ")
    inside = " ".join(filter(None, ["." + language.lstrip("."), rest, said]))
    return f"{fence['indent']}{fence['fence']}{{ {inside} }}"


def _marked(html: str) -> str:
    """Return an output with a mark on each line that is an error's or a warning's message."""

    def mark(line: re.Match) -> str:
        kind = "warning" if line["kind"] == "Warning" else "error"
        return f'<span class="said-{kind}">{line[0]}</span>'

    head, start, rest = html.partition("<code>")
    text, end, tail = rest.partition("</code>")
    return f"{head}{start}{_SAID.sub(mark, text)}{end}{tail}"


def add_badge(
    title: etree.Element,
    programs: list[Snippet],
    lang: str,
    records: Path,
    checked: str,
    output: str | None = None,
) -> None:
    """Add to a block's title what is on record of `programs`, of which the badges say the same.

    With `output`, where they print that one; `checked` is the page that has a row for each program.
    """
    word = words(lang)
    found = badge.records(records)
    said, verified = badge.summary(programs[0], found, word, output)
    kind = "listing-record" if verified else "listing-record unverified"
    fold = etree.SubElement(title, "details", {"class": kind})
    etree.SubElement(fold, "summary").text = said
    for program in programs:
        more = etree.SubElement(fold, "p")
        lines = badge.details(program, found, word, badge.required())
        if len(programs) > 1:
            lines.insert(0, program.path)
        more.text = lines[0] if lines else ""
        for line in lines[1:]:
            etree.SubElement(more, "br").tail = line
        if checked:
            if lines:
                etree.SubElement(more, "br")
            link = etree.SubElement(more, "a", {"href": f"{checked}#{row_id(program.path)}"})
            link.text = word["record_how"]


def checked_page(lang: str, checked: str) -> str:
    """Return the page that badges lead to, nothing if the language has none."""
    return checked if (ROOT / "docs" / lang / checked).is_file() else ""


class _Headers(Preprocessor):
    def __init__(self, md, root: Path):
        super().__init__(md)
        self.root = root

    def run(self, lines: list[str]) -> list[str]:
        lines = list(lines)
        start = fence = None
        for number, line in enumerate(lines):
            found = _FENCE.match(line)
            if fence is None:
                start, fence = number, found
            elif (
                found
                and not found["info"]
                and found["fence"][0] == fence["fence"][0]
                and len(found["fence"]) >= len(fence["fence"])
            ):
                fence = None
            elif include := _INCLUDE.match(line):
                if "data-snippet=" in lines[start] or "data-output=" in lines[start]:
                    near = line.strip()
                    raise PageFault(f"{near} is the second include of one block; split it", near)
                lines[start] = _header(fence, _attributes(include, self.root))
        return lines


class _Titles(Treeprocessor):
    def __init__(self, md, root: Path, lang: str, base: str, records: Path, checked: str):
        super().__init__(md)
        self.root, self.lang, self.base = root, lang, base
        self.records, self.checked = records, checked

    def run(self, tree: etree.Element) -> None:
        blocks = {}  # the number of a stashed block of ours -> its attributes
        for number, html in enumerate(self.md.htmlStash.rawHtmlBlocks):
            if isinstance(html, str) and (found := _BLOCK.match(html)):
                blocks[number] = dict(_ATTRIBUTE.findall(found["attributes"]))
        for parent in list(tree.iter()):
            above = None  # the program of the block that stands directly above
            for at, child in enumerate(parent):
                place = _PLACEHOLDER.fullmatch((child.text or "").strip())
                if child.tag == "p" and place and int(place[1]) in blocks:
                    said = blocks.pop(number := int(place[1]))
                    if "data-output" in said:
                        stash = self.md.htmlStash.rawHtmlBlocks
                        stash[number] = _marked(stash[number])
                    program = said.get("data-snippet") or program_of(said["data-output"])
                    parent[at] = self._listing(child, said, program, program == above)
                    above = program
                else:
                    above = None
        for said in blocks.values():
            path = said.get("data-snippet") or said.get("data-output")
            message = (
                f"the block of {path} does not stand alone; leave an empty line before it and "
            )
            raise PageFault(f"{message}after it, and open HTML around it with `markdown`", path)

    def _listing(
        self, block: etree.Element, said: dict[str, str], program: str, told: bool
    ) -> etree.Element:
        word = words(self.lang)
        listing = etree.Element("div", {"class": "listing"})
        listing.tail = block.tail
        title = etree.SubElement(listing, "div", {"class": "listing-title"})
        # The site's search would find each of these words in every section.
        title.set("data-search-exclude", "")
        output = said.get("data-output")
        if not output:
            link = etree.SubElement(title, "a", {"href": self.base + program})
            link.set("title", word["whole_program"])
            link.text = program
            if load(program, self.root).wrong:
                listing.set("class", "listing wrong")
                label = etree.SubElement(title, "span", {"class": "listing-label"})
                label.text = word["wrong"]
        else:
            listing.set("class", "listing output")
            *_, device = Path(output).stem.rpartition(".")
            other = "." in Path(output).stem
            label = etree.SubElement(title, "span", {"class": "listing-label"})
            label.text = f"{word['output']} ({device.upper()})" if other else word["output"]
        if not (output and told):
            snippet = _program(program, self.root, output or program)
            add_badge(title, [snippet], self.lang, self.records, self.checked, output)
        # A browser leaves out the layout of what is off the screen, if it knows how high it is.
        listing.set("style", f"--lines:{self._lines(said)}")
        block.tail = None
        listing.append(block)
        return listing

    def _lines(self, said: dict[str, str]) -> int:
        """Return how many lines a block shows."""
        if output := said.get("data-output"):
            text = (self.root / output).read_text("utf-8")
        else:
            snippet = load(said["data-snippet"], self.root)
            name = said.get("data-section")
            text = snippet.sections[name].text if name else snippet.source
        return text.rstrip("\n").count("\n") + 1


class CodeExtension(Extension):
    """Options: `lang` of the labels, `base` of the links to programs, `root` of the snippets,
    `records`, and `checked`, the page with the row of each program that badges lead to.
    """

    def __init__(self, **options):
        self.config = {
            "lang": ["en", "language of the labels"],
            "base": ["snippets/", "where the site has the programs, as a page links to them"],
            "root": [str(SNIPPETS), "the folder that includes are relative to"],
            "records": [str(FOLDER), "the folder of the records"],
            "checked": ["checked.md", "the page that says how all was checked, if there is one"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md) -> None:  # noqa: N802 (Markdown's name)
        """Register both processors. The second comes after inline markup, before links resolve."""
        root = Path(self.getConfig("root"))
        md.preprocessors.register(_Headers(md, root), "snippet_headers", 33)
        lang = self.getConfig("lang")
        checked = checked_page(lang, self.getConfig("checked"))
        records = Path(self.getConfig("records"))
        titles = _Titles(md, root, lang, self.getConfig("base"), records, checked)
        md.treeprocessors.register(titles, "snippet_titles", 5)


def makeExtension(**options) -> CodeExtension:  # noqa: N802 (Markdown's name)
    """Return the extension: Markdown calls this."""
    return CodeExtension(**options)
