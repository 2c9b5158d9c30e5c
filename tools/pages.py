"""Pages: the Markdown files of ``docs/<lang>/``, read as data for the checks and the tests.

``parse`` turns the text of a page into a Page: its front matter, and for each section its
heading, code fences, quizzes, links and numbers. Nothing here imports MkDocs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path

from tools import yaml_files
from tools.yaml_files import YamlError

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

#: Stands in the prose for code within a line, so that what is around it can be checked.
CODE = "\u25ae"

_FENCE = re.compile(
    r"^(?P<indent>(?:[ \t]|>|[-*+][ \t]|\d+[.)][ \t])*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$"
)
_INCLUDE = re.compile(r'^[ \t>]*-+8<-+[ \t]+"(?P<path>[^":]+)(?::(?P<section>[^"]*))?"$')
_MARKER = re.compile(r"^[ \t>]*-+8<-+(?:[ \t]|$)")  # begins an include of any spelling
_HEADING = re.compile(r"^(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t]*$")
_ATTRIBUTES = re.compile(r"\{:?[ \t]*(?P<inside>[#.][^}\n]*|[\w-]+=[^}\n]*)\}")
_BLOCK = re.compile(r"^[ \t]*/{3,}[ \t]*(?P<name>[\w-]+)?(?:[ \t]*\|[ \t]*(?P<argument>.*))?$")
_CHOICE = re.compile(r"^[ \t]*[-*+][ \t]+\[(?P<mark>[ xX])\][ \t]+")
_LINK = re.compile(r"(?<!\\)\[(?P<text>[^\]\[]*)\]\((?P<target>[^)\s]*)(?:[ \t]+\"[^\"]*\")?\)")
_REFERENCE = re.compile(r"\[(?P<text>[^\]\[]+)\]\[[^\]]*\]")
_REFERRED = re.compile(r"\](?<!\\\])\[(?P<name>[^\]\[^][^\]\[]*)\]")
_BRACKETED = re.compile(r"(?<!\\)\[(?P<name>[^\]\[^][^\]\[]*)\](?!\()")
_DEFINITION = re.compile(r"^[ \t]*\[(?P<name>[^\]^]+)\]:[ \t]*(?P<target>\S+).*$")
_INLINE = re.compile(r"(?<!`)(`+)(?!`)(?P<code>(?:(?!\n[ \t]*\n).)+?)(?<!`)\1(?!`)", re.S)
_TITLED = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?|===\+?!?)[ \t]*[\w -]*?(?:\"(?P<title>.*)\")?[ \t]*$"
)


class PageError(Exception):
    """A page that can't be read. Its text reads ``file:line: what is wrong; what to do``."""


@dataclass(frozen=True)
class Include:
    """An embedded file, or a section of it: ``--8<-- "path:section"``."""

    path: str
    section: str | None
    line: int


@dataclass(frozen=True)
class Fence:
    """A fenced block. ``info`` is all that follows the fence's mark, ``lang`` its language.

    ``closed`` is False for a block that goes on to the end of the page.
    """

    line: int
    last: int
    mark: str
    info: str
    lang: str
    body: str
    indent: str
    includes: tuple[Include, ...]
    closed: bool = True

    @property
    def include(self) -> Include | None:
        """The include that is all of the block; None if the block holds anything else."""
        lines = [line for line in self.body.split("\n") if line.strip()]
        return self.includes[0] if len(lines) == len(self.includes) == 1 else None


@dataclass(frozen=True)
class Quiz:
    """A quiz block; ``answers`` says for each choice, in order, whether it is right."""

    line: int
    question: str
    answers: tuple[bool, ...]


@dataclass(frozen=True)
class Compared:
    """A block that shows the difference of two programs; `argument` names them."""

    line: int
    argument: str

    def __str__(self) -> str:
        return "difference " + " ".join(self.argument.replace("->", " -> ").split())


@dataclass(frozen=True)
class Number:
    """A number of the prose: as written, and its value in a form that all languages share."""

    line: int
    written: str
    value: str


@dataclass(frozen=True)
class Heading:
    """A heading; ``id`` is the one it states, None without."""

    level: int
    id: str | None
    title: str
    line: int


@dataclass
class Section:
    """What stands between a heading and the next one. ``prose`` is (line, text) without code."""

    heading: Heading | None
    prose: list[tuple[int, str]] = field(default_factory=list)
    code: list[tuple[int, str]] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    quizzes: list[Quiz] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    differences: list[Compared] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The id of the heading ('top' before the first heading)."""
        return (self.heading.id or self.heading.title) if self.heading else "top"

    @property
    def line(self) -> int:
        """The line of the heading."""
        return self.heading.line if self.heading else 1

    @property
    def embeds(self) -> list[str]:
        """What the section shows that must be the same in each language, in order."""
        shown = [
            (f.line, f"{f.lang} {f.include.path}:{f.include.section or ''}".rstrip(":"))
            if f.include
            else (f.line, f"{f.lang} {f.body.strip()}")
            for f in self.fences
        ]
        shown += [(d.line, str(d)) for d in self.differences]
        return [what for _, what in sorted(shown)] + [f"figure {name}" for name in self.figures]

    def numbers(self, lang: str) -> list[Number]:
        """The numbers of the prose as `lang` writes them, and those in inline code."""
        prose = [number for line, text in self.prose for number in numbers(text, lang, line)]
        code = [number for line, text in self.code for number in numbers(text, "code", line)]
        return prose + code


@dataclass
class Page:
    """A page: ``lang`` and ``name`` ("amp") say which, ``file`` is its path for messages."""

    file: str
    lang: str
    name: str
    text: str
    meta: dict
    sections: list[Section]
    links: list[tuple[int, str]]
    stray: list[Include]
    #: Lines and names of ``[text][name]``, of ``[name]: address``, and each ``[name]`` whatever.
    references: list[tuple[int, str]] = field(default_factory=list)
    definitions: list[tuple[int, str]] = field(default_factory=list)
    bracketed: set[str] = field(default_factory=set)
    odd: list[int] = field(default_factory=list)  # lines with an include of another spelling

    @property
    def headings(self) -> list[Heading]:
        """The headings, in order."""
        return [s.heading for s in self.sections if s.heading]

    @property
    def differences(self) -> list[Compared]:
        """The differences of programs, in order."""
        return [d for s in self.sections for d in s.differences]

    @property
    def fences(self) -> list[Fence]:
        """The fenced blocks, in order."""
        return [f for s in self.sections for f in s.fences]


# --- numbers -----------------------------------------------------------------------------------

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_UNITS = {"Mio": "MiB", "Gio": "GiB", "Kio": "KiB", "Mo": "MB", "Go": "GB", "ko": "kB"}
_UNIT = r"(?:[ \u00a0\u202f]?(?P<unit>%|(?:[KMGT]iB|[KMG]io|[MGT][Bo]|k[Bo])\b))?"
#: After one of these words a dotted number is a version, written alike in every language.
_VERSIONED = (
    r"(?:PyTorch|Python|PCIe|[Tt]orch|CUDA|NumPy|numpy|ROCm|Accelerate|WCAG|BY|macOS|"
    r"[Cc]apability\*?\)?|[Vv]ersion|Compute-Capability|calcul)"
)
_MORE = r"(?:(?:,| and| or| et| ou| und| oder)[ \u00a0\u202f]\d+(?:\.\d+)+)"
_STYLES = {  # what separates groups of three digits, what separates decimals
    "en": (",", r"\."),
    "code": (r"(?!)", r"\."),
    "fr": ("[\u00a0\u202f]", ","),
    "de": (r"[.\u00a0\u202f]", ","),
}


def _plain(value: Decimal) -> str:
    """One spelling for each value."""
    if value == 0:
        return "0"
    value = value.normalize()
    return format(value, "f") if -5 <= value.adjusted() < 15 else format(value, "e")


@cache
def _pattern(lang: str) -> re.Pattern:
    group, point = _STYLES.get(lang, _STYLES["en"])
    # A decimal point where the language writes a comma: kept apart, so that it is reported.
    english = r"\d+\.(?!\d{3}(?!\d))\d+" if point == "," else ""
    grouped = r"\d{1,3}(?:\.\d{3})+(?![\d.])" if "." in group else r"(?!)"
    return re.compile(
        rf"\b{_VERSIONED}[ \u00a0\u202f](?P<version>\d+(?:\.\d+)+{_MORE}*)"
        rf"|(?<![\w.,])(?!{grouped})(?P<dotted>\d+(?:\.\d+){{2,}})(?!\w)"
        + (rf"|(?<![\w.,])(?P<english>{english})(?!\w)" if english else "")
        + rf"|(?<![\w.,])(?P<sign>[-\u2212+]?)"
        rf"(?P<digits>(?:\d{{1,3}}(?:{group}\d{{3}})+(?!\d)|\d+)(?:{point}\d+)?)"
        rf"(?:[eE](?P<exponent>[-\u2212+]?\d+)"
        rf"|[ \u00a0\u202f]?[×·][ \u00a0\u202f]?10(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)"
        rf"|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))?(?![\w])" + _UNIT
    )


def numbers(text: str, lang: str, line: int = 1) -> Iterator[Number]:
    """Yield the numbers of `text` as `lang` writes them (``code``: as Python does).

    The values are comparable between languages: ``65 504`` in French, ``65.504`` in German and
    ``65,504`` in English are all ``65504``; a version stays as it is.
    """
    group, point = _STYLES.get(lang, _STYLES["en"])
    for found in _pattern(lang).finditer(text):
        if versions := found["version"] or found["dotted"]:
            for version in re.findall(r"\d+(?:\.\d+)+", versions):
                plain = version.removesuffix(".0") if version.count(".") == 1 else version
                yield Number(line, version, plain)
            continue
        if found.groupdict().get("english"):
            yield Number(line, found["english"], f"{found['english']} (with a decimal point)")
            continue
        written = found[0].strip()
        digits = re.sub(group, "", found["digits"]) if group != r"(?!)" else found["digits"]
        value = Decimal(re.sub(point, ".", digits))
        exponent = found["exponent"] or (found["power"] or "").translate(_SUPERSCRIPT)
        if exponent:
            value = value.scaleb(int(exponent.replace("\u2212", "-")))
        shown = _plain(value)
        if found["raised"]:
            shown += "^" + found["raised"].translate(_SUPERSCRIPT)
        sign = "-" if found["sign"] in ("-", "\u2212") and found["sign"] else ""
        unit = _UNITS.get(found["unit"], found["unit"]) or ""
        yield Number(line, written, sign + shown + unit)


# --- reading a page ----------------------------------------------------------------------------


def front_matter(text: str, file: str) -> tuple[dict, int]:
    """Return the front matter of a page's text and the number of lines it takes.

    Raises PageError; `file` is how it calls the page.
    """
    if not text.startswith("---\n"):
        return {}, 0
    end = text.find("\n---\n", 3)
    if end < 0:
        raise PageError(f"{file}:1: the front matter has no end; close it with a line '---'")
    try:
        meta = yaml_files.load(text[4 : end + 1], file, before=1) or {}
    except YamlError as error:
        raise PageError(str(error)) from error
    if not isinstance(meta, dict):
        raise PageError(f"{file}:1: the front matter is no list of 'key: value'; write it so")
    return meta, text[: end + 5].count("\n")


def _language(info: str) -> str:
    """The language that an info string means, however it is spelled."""
    words = re.findall(r"[\w+-]+", info.split("=")[0])
    word = words[0].lower() if words else ""
    return "python" if word in ("py", "python", "python3", "pycon") else word


def _fences(lines: list[str], skip: int) -> list[Fence]:
    """The fenced blocks of a page, of any spelling, with the includes in them."""
    found, opened, start = [], None, 0
    for number, line in enumerate(lines, 1):
        if number <= skip:
            continue
        match = _FENCE.match(line)
        if opened is None:
            # Backticks in the info string mean inline code that begins a line.
            if match and not (match["mark"][0] == "`" and "`" in match["info"]):
                opened, start = match, number
            continue
        closes = (
            match
            and match["mark"][0] == opened["mark"][0]
            and len(match["mark"]) == len(opened["mark"])  # as superfences has it
            and not match["info"].strip()
        )
        if closes or number == len(lines):
            inside = lines[start : number - 1 if closes else number]
            includes = tuple(
                Include(i["path"], i["section"], start + 1 + n)
                for n, text in enumerate(inside)
                if (i := _INCLUDE.match(text))
            )
            width = len(opened["indent"])
            body = "\n".join(t[width:] if not t[:width].strip(" \t>") else t for t in inside)
            info = opened["info"].strip()
            found.append(
                Fence(
                    start,
                    number,
                    opened["mark"],
                    info,
                    _language(info),
                    body,
                    opened["indent"],
                    includes,
                    bool(closes),
                )
            )
            opened = None
    return found


def _blank(match: re.Match, code: str = "") -> str:
    """A replacement that keeps the line ends, so that the lines keep their numbers."""
    return code + "\n" * match[0].count("\n")


def _prose(line: str) -> str:
    """The words of a line of Markdown: no syntax, no addresses, no attributes."""
    if _DEFINITION.match(line):
        return ""
    if block := _BLOCK.match(line):
        return (block["argument"] or "") if block["name"] == "quiz" else ""
    if titled := _TITLED.match(line):
        return titled["title"] or ""
    line = re.sub(r"^[ \t>]*(?:[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d+[.)][ \t]+)?", "", line)
    line = re.sub(r"^#{1,6}[ \t]+", "", line)
    line = _ATTRIBUTES.sub("", line)
    line = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"\1", line)
    line = _LINK.sub(lambda m: m["text"], line)
    line = _REFERENCE.sub(lambda m: m["text"], line)
    line = re.sub(r"\[\^[^\]]+\]:?", "", line)
    line = re.sub(r"<sup>([-\d]+)</sup>", lambda m: m[1].translate(_RAISE), line)
    line = re.sub(r"</?[a-zA-Z][^>]*>|<https?:[^>]*>|https?://\S+", "", line)
    return re.sub(r"^[ |:-]+$", "", line)


_RAISE = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _name(written: str) -> str:
    """The name of a link as Markdown compares it."""
    return " ".join(written.split()).lower()


def parse(text: str, lang: str, name: str, file: str) -> Page:
    """Read the Markdown `text` of page `name` in `lang`; `file` is how messages call it.

    Raises PageError for front matter that can't be read.
    """
    meta, skip = front_matter(text, file)
    lines = text.split("\n")
    fences = _fences(lines, skip)
    for number in [*range(1, skip + 1), *(n for f in fences for n in range(f.line, f.last + 1))]:
        lines[number - 1] = ""

    left = re.sub(r"<!--.*?-->", _blank, "\n".join(lines), flags=re.S)
    codes = [
        (left[: m.start()].count("\n") + 1, " ".join(m["code"].split()))
        for m in _INLINE.finditer(left)
    ]
    left = _INLINE.sub(lambda m: _blank(m, CODE), left)

    page = Page(file, lang, name, text, meta, [Section(None)], [], [])
    prose = "\n".join("" if _DEFINITION.match(line) else line for line in left.split("\n"))
    page.references = [
        (prose[: m.start()].count("\n") + 1, _name(m["name"])) for m in _REFERRED.finditer(prose)
    ]
    page.bracketed = {_name(m["name"]) for m in _BRACKETED.finditer(prose)}
    page.odd = [
        number
        for number, line in enumerate(text.split("\n"), 1)
        if number > skip and _MARKER.match(line) and not _INCLUDE.match(line)
    ]
    quiz: tuple[int, str, list[bool]] | None = None
    pending = list(fences)
    for number, line in enumerate(left.split("\n"), 1):
        if heading := _HEADING.match(line):
            attributes = _ATTRIBUTES.search(heading["title"])
            ids = re.findall(r"#([\w-]+)", attributes["inside"]) if attributes else []
            title = _ATTRIBUTES.sub("", heading["title"]).strip()
            page.sections.append(
                Section(Heading(len(heading["marks"]), ids[0] if ids else None, title, number))
            )
        section = page.sections[-1]
        while pending and pending[0].line <= number:
            section.fences.append(pending.pop(0))
        if include := _INCLUDE.match(line):
            page.stray.append(Include(include["path"], include["section"], number))
            continue
        if block := _BLOCK.match(line):
            if quiz:
                section.quizzes.append(Quiz(quiz[0], quiz[1], tuple(quiz[2])))
                quiz = None
            if block["name"] == "quiz":
                quiz = (number, block["argument"] or "", [])
            elif block["name"] == "figure":
                section.figures.append((block["argument"] or "").strip())
            elif block["name"] == "difference":
                section.differences.append(Compared(number, (block["argument"] or "").strip()))
        elif quiz and (choice := _CHOICE.match(line)):
            quiz[2].append(choice["mark"] in "xX")
        page.links += [(number, m["target"]) for m in _LINK.finditer(line)]
        if definition := _DEFINITION.match(line):
            page.links.append((number, definition["target"]))
            page.definitions.append((number, _name(definition["name"])))
        if words := _prose(line):
            section.prose.append((number, words))
        section.code += [(n, code) for n, code in codes if n == number]
    return page


def load(file: Path, root: Path = ROOT) -> Page:
    """Read the page in `file`, which is ``docs/<lang>/<name>.md`` below `root`."""
    shown = file.relative_to(root).as_posix()
    lang, *rest = file.relative_to(root / "docs").with_suffix("").parts
    return _parsed(file.read_text("utf-8"), lang, "/".join(rest), shown)


#: A page that has not changed since it was last read is not parsed again. Nobody changes a Page.
_parsed = lru_cache(500)(parse)


def load_all(root: Path = ROOT) -> dict[str, dict[str, Page]]:
    """Read every page: ``{language: {name: page}}``, languages and names sorted."""
    pages: dict[str, dict[str, Page]] = {}
    for file in sorted((root / "docs").glob("*/**/*.md")):
        page = load(file, root)
        pages.setdefault(page.lang, {})[page.name] = page
    return pages
