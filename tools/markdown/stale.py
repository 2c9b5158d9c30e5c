"""A translated section says to its reader that the English one has changed since.

Beneath the heading (of a page's title, beneath the paragraph after it) of each section that
tools/translations.py finds stale stands

    <div class="admonition stale" role="note"><p>… <a href="../../en/amp/#memory">…</a></p></div>

Not every program that renders Markdown tells an extension which page it renders; if it does not,
the page is the one of docs/<lang>/ whose text this is.
"""

import xml.etree.ElementTree as etree
from pathlib import Path

from markdown import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

from tools import markdown, pages, translations
from tools.languages import ROOT, words

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def find(text: str, lang: str, root: Path = ROOT) -> pages.Page | None:
    """Return the page of `lang` that has this `text` after its front matter."""
    text = text.strip()
    for file in sorted((root / "docs" / lang).rglob("*.md")):
        if text and file.read_text("utf-8").rstrip().endswith(text):
            return pages.load(file, root)
    return None


def stale_ids(page: pages.Page, root: Path = ROOT) -> set[str]:
    """Return the ids of the stale sections of a translated page."""
    english = root / "docs" / "en" / f"{page.name}.md"
    if page.lang == "en" or not english.is_file():
        return set()
    found = translations.sections(pages.load(english, root), page, root)
    return {section.id for section in found if section.stale}


def address(page: pages.Page, id: str, version: str = "") -> str:
    """Return the link from a page to a section of the English one, in the same version."""
    stem = page.name.removesuffix("index").strip("/")
    depth = len(stem.split("/")) if stem else 0
    up, down = ("../", f"{version}/") if version else ("", "")
    path = up + "../" * (depth + 1) + f"en/{down}" + (f"{stem}/" if stem else "")
    return path if id == "top" else f"{path}#{id}"


class _Source(Preprocessor):
    """Keeps the page's text as it came."""

    text = ""

    def run(self, lines: list[str]) -> list[str]:
        self.text = "\n".join(lines)
        return lines


class _Notes(Treeprocessor):
    def __init__(self, md, source: _Source, lang: str, root: Path, version: str):
        super().__init__(md)
        self.source, self.lang, self.root, self.version = source, lang, root, version

    def run(self, tree: etree.Element) -> None:
        if self.lang == "en":
            return
        page = self._page()
        stale = stale_ids(page, self.root) if page else set()
        if not stale:
            return
        parents = {child: parent for parent in tree.iter() for child in parent}
        headings = [element for element in tree.iter() if element.tag in _HEADINGS]
        for number, heading in enumerate(headings):
            # The part before the first heading has none of its own: its note stands there too.
            here = [id for id in (heading.get("id"), "top" * (number == 0)) if id in stale]
            if here:
                parent = parents[heading]
                at = list(parent).index(heading) + 1
                # The paragraph after a page's title belongs to it: the style sheet makes it large.
                at += heading.tag == "h1" and at < len(parent) and parent[at].tag == "p"
                parent.insert(at, self._note(page, here[0]))

    def _page(self) -> pages.Page | None:
        if file := markdown.rendering:
            return pages.load(file, self.root)
        return find(self.source.text, self.lang, self.root)

    def _note(self, page: pages.Page, id: str) -> etree.Element:
        word = words(self.lang, self.root)
        # The site's search would find these words in every stale section.
        note = etree.Element(
            "div", {"class": "admonition stale", "role": "note", "data-search-exclude": ""}
        )
        note.tail = "\n"
        said = etree.SubElement(note, "p")
        said.text = word["stale"] + " "
        link = etree.SubElement(said, "a", {"hreflang": "en"})
        link.set("href", address(page, id, self.version))
        link.text = word["stale_link"]
        return note


class StaleExtension(Extension):
    """Options: `lang` of the page, `root` of the repository, `version` of the site."""

    def __init__(self, **options):
        self.config = {
            "lang": ["en", "language of the page"],
            "root": [str(ROOT), "the folder that holds docs/, locales/ and snippets/"],
            "version": ["", "what the site is published as, if it has versions"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md) -> None:  # noqa: N802 (Markdown's name)
        """Register both processors: before anything changes the text, after links resolve.

        The link leads out of the language's own pages, which is all that a site builder knows.
        """
        source = _Source(md)
        lang, version = self.getConfig("lang"), self.getConfig("version")
        notes = _Notes(md, source, lang, Path(self.getConfig("root")), version)
        md.preprocessors.register(source, "stale_source", 1000)
        md.treeprocessors.register(notes, "stale_notes", -10)


def makeExtension(**options) -> StaleExtension:  # noqa: N802 (Markdown's name)
    """Return the extension: Markdown calls this."""
    return StaleExtension(**options)
