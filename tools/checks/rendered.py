"""The built pages, as a reader gets them: each block, each link, each mark that is left over."""

from __future__ import annotations

import re
import urllib.parse
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from tools import differences
from tools import snippets as snippets_module
from tools.checks.fault import Fault, listed
from tools.checks.page import SPELLING, shell_commands, sides
from tools.differences import DifferenceError
from tools.languages import words
from tools.pages import Page
from tools.snippets import SnippetError


@dataclass(frozen=True)
class Block:
    """A preformatted block of a rendered page, and what it says of itself."""

    tag: str
    text: str
    snippet: str | None
    section: str | None
    output: str | None
    difference: str | None = None

    @property
    def compared(self) -> list[str]:
        """The programs that the block shows the difference of."""
        return [side.path for side in sides(self.difference or "")]


_STYLED = re.compile(r"url\(\s*['\"]?([^'\")]+)")
_FETCHED = {"icon", "apple-touch-icon", "stylesheet", "preload", "modulepreload", "prefetch"}


class _Reader(HTMLParser):
    """Collects blocks, ids, headings, addresses and the text outside code of a page."""

    VOID = frozenset(
        ["area", "base", "br", "col", "embed", "hr", "img", "input"]
        + ["link", "meta", "source", "track", "wbr"]
    )
    INLINE = frozenset(["code", "kbd", "samp", "tt"])  # a block only with lines of its own
    CODE = INLINE | {"listing", "plaintext", "pre", "textarea", "xmp"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack: list[tuple[str, dict]] = []
        self.blocks: list[Block] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.loaded: list[str] = []  # addresses that a browser asks for without being told to
        self.headings: list[str | None] = []  # their ids
        self.prose: list[str] = []
        self._text: list[str] | None = None
        self._depth = 0
        self._above: str | None = None  # the code within a line that ended last
        self._broken = False  # and after it came nothing but <br>

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if attributes.get("id"):
            self.ids.append(attributes["id"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(attributes.get("id"))
        loaded = [attributes.get(name) for name in ("src", "data", "poster", "background")]
        loaded += [c.split()[0] for c in (attributes.get("srcset") or "").split(",") if c.strip()]
        if tag in ("use", "image", "feimage"):  # of SVG
            loaded += [attributes.get("href"), attributes.get("xlink:href")]
        loaded += _STYLED.findall(attributes.get("style") or "")
        self.loaded += filter(None, loaded)
        self.addresses += filter(None, [attributes.get("href"), *loaded])
        if tag == "link" and set((attributes.get("rel") or "").lower().split()) & _FETCHED:
            self.loaded.append(attributes.get("href") or "")
        if tag in self.VOID:
            if tag == "br" and self._text is not None:
                self._text.append("\n")
            self._broken = tag == "br" and self._above is not None
            return
        self.stack.append((tag, attributes))
        if not (self._broken and tag in self.INLINE):
            self._above, self._broken = None, False
        formatted = tag in self.CODE or "white-space" in (attributes.get("style") or "")
        if self._text is None and formatted:
            self._text, self._depth = [], len(self.stack)

    def handle_endtag(self, tag):
        if tag not in [name for name, _ in self.stack]:
            return
        while self.stack:
            if self._text is not None and len(self.stack) == self._depth:
                self._close()
            name, _ = self.stack.pop()
            if name == tag:
                return

    def _close(self):
        said = {}
        if self.stack[-1][0] in self.INLINE:
            if self._broken:
                self._text.insert(0, f"{self._above}\n")
            self._above, self._broken = "".join(self._text), False
            if "\n" not in self._above.strip():
                self._text = None
                return
        for _, attributes in self.stack:
            for key in ("data-snippet", "data-section", "data-output", "data-difference"):
                if key in attributes:
                    said[key] = attributes[key]
        self.blocks.append(
            Block(
                self.stack[-1][0],
                "".join(self._text),
                said.get("data-snippet"),
                said.get("data-section"),
                said.get("data-output"),
                said.get("data-difference"),
            )
        )
        self._text = None

    def handle_data(self, data):
        if self._text is not None:
            self._text.append(data)
            return
        if data.strip():
            self._above, self._broken = None, False
        if not self.stack or self.stack[-1][0] not in ("script", "style"):
            self.prose.append(data)


def read_html(text: str) -> _Reader:
    """Parse a rendered page: its ``blocks``, ``ids``, ``headings``, ``addresses``, ``prose``."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader


def _same(a: str, b: str) -> bool:
    """Equal but for empty lines around, spaces at the ends of lines, and tabs."""

    def plain(text):
        return [line.rstrip().expandtabs(4) for line in text.strip("\n").split("\n")]

    return plain(a) == plain(b)


def check_rendered(html: str, page: Page, root: Path, commands: set[str]) -> list[Fault]:
    """Each block of the rendered page is a section, an output or commands, all of them tested.

    However the block was spelled in Markdown: what counts is what the reader sees. The sections
    must also be those that the paste-through runs, in its order.
    """
    found = []
    run = [
        (f.include.path, f.include.section) for f in page.fences if f.lang == "python" and f.include
    ]
    seen, compared = [], []
    reader = read_html(html)
    for block in reader.blocks:
        first = next((line.strip() for line in block.text.split("\n") if line.strip()), "")

        def fault(message, cure, first=first, near=block.snippet or block.output):
            found.append(Fault(page.file, _line_of(page, first, near), message, cure))

        if block.snippet and not block.output:
            seen.append((block.snippet, block.section))
            try:
                program = snippets_module.load(block.snippet, root)
            except SnippetError as error:
                fault(str(error), "mend the program")
                continue
            section = program.sections.get(block.section or "")
            if section is None:
                fault(
                    f"a block says it is {block.snippet}:{block.section}, which does not exist",
                    SPELLING["python"],
                )
            elif not _same(block.text, section.text):
                fault(
                    f"a block is not what {block.snippet}:{block.section} holds "
                    f"(it begins {first!r})",
                    "embed the section and nothing else",
                )
        elif block.output and not block.snippet:
            out = (root / block.output).resolve()
            inside = out.is_relative_to(root.resolve()) and out.suffix == ".out" and out.is_file()
            if not inside or not _same(block.text, out.read_text("utf-8")):
                fault(
                    f"a block is not what {block.output} holds (it begins {first!r})",
                    "embed the output and nothing else",
                )
        elif block.difference and not (block.snippet or block.output):
            compared.append(f"difference {block.difference}")
            try:
                one = differences.between(*differences.sides(block.difference), root)
            except (DifferenceError, SnippetError) as error:
                fault(str(error), "name two programs that differ", near=block.difference)
                continue
            lines = differences.lines(one, words(page.lang), labels=True)
            if not _same(block.text, "\n".join(lines)):
                fault(
                    f"a block is not the difference {block.difference} (it begins {first!r})",
                    "let tools/markdown/difference.py make it",
                    near=block.difference,
                )
        elif block.tag in _Reader.INLINE:
            fault(
                f"code within a line that has two lines: {block.text!r}",
                "keep it on one line; a block of code is embedded",
                first,
                block.text.split("\n")[-1],
            )
        else:
            typed = shell_commands(block.text)
            unknown = [c for c in typed if c.removeprefix("$ ") not in commands]
            if unknown or not typed:
                fault(
                    f"a block that nothing tests: {(unknown or [first])[0]!r}",
                    "embed a section or an output; list a command in tests/pages/commands.yml",
                )
    if seen != run:
        only_seen = list((Counter(seen) - Counter(run)).elements())
        only_run = list((Counter(run) - Counter(seen)).elements())
        message = (
            f"shown but not run: {only_seen}"
            if only_seen
            else f"in the page's source but not shown: {only_run}"
            if only_run
            else "the blocks are shown in another order than they are run"
        )
        found.append(Fault(page.file, 1, message, SPELLING["python"]))
    wanted = [str(one) for one in page.differences]
    if compared != wanted:
        message = f"shows {listed(compared)}, its source has {listed(wanted)}"
        found.append(Fault(page.file, 1, message, "write: /// difference | a/old.py -> a/new.py"))
    return found + _unread(reader, page)


#: Markdown that was not understood and stands on the page: a link, an include, a fence, emphasis.
_MARKUP = re.compile(
    r"\]\(|\] \((?:#|https?:|[\w./-]+\.md)|\]\[|\[\^|--8<--|```|~~~|\*\*|\{:? ?[#.][\w-]"
)


def _unread(reader: _Reader, page: Page) -> list[Fault]:
    """What the reader sees and the checks of the Markdown don't: headings, ids, broken markup."""
    found = []
    stated = [heading.id for heading in page.headings]
    for id, count in (Counter(reader.headings) - Counter(stated)).items():
        shown = f"a heading does not state its id {id!r}" if id else "a heading has no id"
        titles = [line for line in page.text.split("\n") if re.search(r"\w", line)]
        title = next((t for t in titles if "-".join(re.findall(r"[\w-]+", t.lower())) == id), None)
        found.append(
            Fault(
                page.file,
                _line_of(page, f"#{id} ", f'id="{id}"', title, "<h"),
                shown + f" ({count} times)" * (count > 1),
                "write ## Title { #id } at the start of a line",
            )
        )
    for id in [id for id, count in Counter(reader.ids).items() if count > 1]:
        line = _line_of(page, f'id="{id}"', f"#{id} ", f"#{id}}}", id)
        found.append(Fault(page.file, line, f"the id {id!r} is on the page twice", "use another"))
    for address in dict.fromkeys(reader.loaded):
        if urllib.parse.urlsplit(address.strip()).netloc:
            found.append(
                Fault(
                    page.file,
                    _line_of(page, address),
                    f"{address!r} is loaded from another host",
                    "keep a copy in docs/ and show that, or link to it",
                )
            )
    for text in "".join(reader.prose).split("\n"):
        if markup := _MARKUP.search(text):
            near = text[max(0, markup.start() - 20) : markup.end() + 10].strip()
            found.append(
                Fault(
                    page.file,
                    _line_of(page, near, markup[0]),
                    f"Markdown that was not understood: {near!r}",
                    "is it closed, does a link have its address, is there no space too many?",
                )
            )
    return found


def _line_of(page: Page, *wanted: str | None) -> int:
    """The line of the page's source where one of `wanted` stands, for a message."""
    for text in wanted:
        for number, line in enumerate(page.text.split("\n"), 1):
            if text and text in line:
                return number
    return 1


def check_notes(html: str, page: Page, stale: set[str]) -> list[Fault]:
    """The rendered page of a translation says at each of its `stale` sections that it is stale."""
    said = re.findall(r'<div class="admonition stale".*?href="([^"]*)"', html, re.S)
    noted = {urllib.parse.urlsplit(address).fragment or "top" for address in said}
    first = next((heading.id for heading in page.headings), None)
    if first in noted:
        noted.add("top")  # one note for both
    return [
        Fault(
            page.file,
            section.line,
            f"#{section.id} is stale and does not say so",
            "is tools.markdown.stale among the markdown_extensions, with the page's lang?",
        )
        for section in page.sections
        if section.id in stale - noted
    ]


def check_links(site: Path, root: str = "https://site.invalid/") -> list[Fault]:
    """Each address within the built `site` leads to a file of it, and to an id of that page.

    `root` is the address that the site will have. Those of other hosts are not followed.
    """
    home = urllib.parse.urlsplit(root)
    found = []
    read: dict[Path, _Reader] = {
        file: read_html(file.read_text("utf-8")) for file in sorted(site.rglob("*.html"))
    }
    for file, reader in read.items():
        shown = file.relative_to(site).as_posix()
        for address in dict.fromkeys(reader.addresses):
            url = urllib.parse.urlsplit(urllib.parse.urljoin(root + shown, address))
            if (url.scheme, url.netloc) != (home.scheme, home.netloc):
                continue
            path = urllib.parse.unquote(url.path)
            if not path.startswith(home.path):
                found.append(
                    Fault(shown, 1, f"the link {address!r} leaves the site", "link relatively")
                )
                continue
            target = site / path.removeprefix(home.path)
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append(
                    Fault(shown, 1, f"the link {address!r} leads nowhere", "mend it on the page")
                )
                continue
            anchor = urllib.parse.unquote(url.fragment)
            if anchor and target in read and anchor not in read[target].ids:
                found.append(
                    Fault(
                        shown,
                        1,
                        f"the link {address!r}: {target.relative_to(site)} has no id {anchor!r}",
                        "mend it on the page",
                    )
                )
    return found
