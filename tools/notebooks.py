"""A notebook for each lesson, woven from its page: its prose, its programs, what they printed.

    weave(page, root, address)     the notebook of a page in its language, as text (.ipynb)

The prose becomes Markdown cells that read well in Jupyter, the blocks of code become code cells in
the order of the page, so that *Run all* works. jupytext takes the cells apart and nbformat writes
them; what is here is what they don't know: the pages' figures, quizzes and links, and the programs.

A notebook's outputs come from one run of its code, whatever the language. `make notebooks` runs it
and leaves the run in build/notebooks/, under a hash of the code and of the versions that
constraints.txt names. Nothing here runs anything or imports torch.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import re
import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tools import differences, pages
from tools.figures import FigureError, render
from tools.languages import ROOT, words
from tools.pages import Fence, Page
from tools.snippets import Snippet, load, program_of

#: Where the runs are, below the root of the repository.
RUNS = "build/notebooks"
#: What a plot shows is kept under such a name: it is what a program printed.
PRINTED = "printed_"
#: Ends the lines of a code cell that its page highlights.
MARK = "  # <--"
#: The code that draws a figure in a notebook, `<name of the figure>.py`; and what all of them need.
PLOTS, SHOW = "tools/plots", "show"
#: What the notebooks need beside what their programs do.
PLOTTER = "matplotlib"
#: How a notebook stands to the run that its outputs come from.
CURRENT, EARLIER, NONE = "current", "earlier", "none"

_BLOCK = re.compile(
    r'^(?P<kind>!!!|\?\?\?\+?|===[!+]?)[ \t]+(?P<class>[\w -]*?)[ \t]*(?:"(?P<title>.*)")?[ \t]*$'
)
_SLASHES = re.compile(r"^/{3,}[ \t]*(?P<name>[\w-]+)[ \t]*(?:\|[ \t]*(?P<argument>.*?))?[ \t]*$")
_CHOICE = re.compile(r"^[-*+][ \t]+\[(?P<mark>[ xX])\][ \t]+(?P<text>.*)$")
_HEADING = re.compile(r"^(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t]*$")
_DEFINITION = re.compile(r"^\[(?P<name>[^\]^]+)\]:[ \t]*(?P<target>\S+)[ \t]*$")
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*(?P<inside>[#.][^}\n]*)\}")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_REFERENCE = re.compile(r"\[(?P<text>(?:[^\]\[]|\[[^\]]*\])+)\]\[(?P<name>[^\]]+)\]")
_KNOWN = re.compile(r"^(?:\[\^|\*\[|<(?!!--))")  # what the pages don't use, and nothing here reads


class NotebookError(Exception):
    """A notebook that can't be made or believed: ``file:line: what is wrong; what to do``."""


@dataclass(frozen=True)
class Cell:
    """A cell; `line` and `section` say where on the page it comes from.

    A code cell has the `program` that it is of and which `part`: the name of a section, `run`,
    `show` or `plot`. `figure` is the name of the figure that a cell shows.
    """

    kind: str
    source: str
    line: int
    section: str
    program: str = ""
    part: str = ""
    fails: bool = False
    figure: str = ""


@dataclass(frozen=True)
class Run:
    """What is known of a notebook's outputs: how they stand, one list a code cell, the versions."""

    state: str
    outputs: list[list]
    versions: dict[str, str] = field(default_factory=dict)


# --- which pages, which versions -----------------------------------------------------------------


def has_notebook(page: Page) -> bool:
    """Say whether a page has a notebook: all that show programs do, but for the home page."""
    return page.name != "index" and any(_program(fence) for fence in page.fences)


def all_pages(root: Path = ROOT) -> dict[str, dict[str, Page]]:
    """Return the pages that have a notebook, by language and name."""
    return {
        lang: {name: page for name, page in theirs.items() if has_notebook(page)}
        for lang, theirs in pages.load_all(root).items()
    }


def _program(fence: Fence) -> str | None:
    """Return the path of the program that a block of code is of."""
    include = fence.include
    return include.path if fence.lang == "python" and include else None


def requirements(page: Page, root: Path = ROOT) -> list[str]:
    """Return what must be installed to run the notebook of a page: ``torch>=2.11``, ..."""
    found = {}
    for path in dict.fromkeys(filter(None, map(_program, page.fences))):
        source = load(path, root / "snippets").source
        block = source.partition("# /// script\n")[2].partition("# ///")[0]
        table = tomllib.loads("\n".join(line[2:] for line in block.splitlines()))
        found |= dict.fromkeys(table["dependencies"])
    return [*found, *([PLOTTER] if _plots(page, root) else [])]


def versions(page: Page, root: Path = ROOT) -> dict[str, str]:
    """Return the exact versions that a notebook is run with, from constraints.txt."""
    pins = dict(
        line.split("==")
        for line in (root / "constraints.txt").read_text("utf-8").splitlines()
        if "==" in line
    )
    names = [re.match(r"[\w.-]+", need)[0] for need in requirements(page, root)]
    return {name: pins[name] for name in [*names, "ipykernel"] if name in pins}


def _plots(page: Page, root: Path) -> dict[str, str]:
    """Return the figures of a page that its notebook draws from what its programs print.

    By their name, with the code that draws. A plot whose programs the page does not show can't be
    drawn, and the figure is carried along as a picture.
    """
    stems = {Path(path).stem for path in filter(None, map(_program, page.fences))}
    found = {}
    for name in [name for section in page.sections for name in section.figures]:
        file = root / PLOTS / f"{name}.py"
        if file.is_file():
            code = file.read_text("utf-8").strip("\n")
            if _printed(code) <= stems:
                found[name] = code
    return found


def _printed(code: str) -> set[str]:
    """Return the programs whose output a plot reads, by the stems of their files."""
    return set(re.findall(rf"\b{PRINTED}(\w+)", code))


# --- from a page to cells ------------------------------------------------------------------------


class _Weaver:
    """Reads one page, top to bottom, into cells."""

    def __init__(self, page: Page, root: Path, address: str):
        self.page, self.root, self.address = page, root, address
        self.word = words(page.lang, root)
        self.fences = {fence.line: fence for fence in page.fences}
        self.lines = page.text.split("\n")
        self.targets = {
            found["name"]: found["target"]
            for line in self.lines
            if (found := _DEFINITION.match(line))
        }
        self.shown = list(dict.fromkeys(filter(None, map(_program, page.fences))))
        self.plots = _plots(page, root)
        self.captured = set().union(*map(_printed, self.plots.values()))
        self.cells: list[Cell] = []
        self.prose: list[str] = []
        self.start, self.section = 1, "top"
        self.waiting: list[tuple[str, str, int]] = []  # plots whose programs come further down
        self.kept: set[str] = set()  # what has been printed and kept

    def fault(self, line: int, message: str, cure: str) -> NotebookError:
        return NotebookError(f"{self.page.file}:{line}: {message}; {cure}")

    def weave(self) -> list[Cell]:
        """Return the cells."""
        skip = pages.front_matter(self.page.text, self.page.file)[1]
        self.read(self.converted(skip))
        self.flush()
        return self.cells

    # - the lines of a page, or of a block in it

    def read(self, lines: list[tuple[int, str]]) -> None:
        """Take in `lines`, each with its number."""
        at = 0
        while at < len(lines):
            number, text = lines[at]
            if fence := self.fences.get(number):
                count = fence.last - fence.line + 1
                self.block(fence)
            elif found := _BLOCK.match(text):
                count = self._indented(lines[at + 1 :]) + 1
                body = [(n, t[4:]) for n, t in lines[at + 1 : at + count]]
                self.admonition(found, number, body)
            elif (found := _SLASHES.match(text)) and found["name"]:
                count = self._until_slashes(lines[at:], number)
                self.special(found, number, lines[at + 1 : at + count - 1])
            elif found := _HEADING.match(text):
                count = 1
                self.heading(found, number)
            elif _DEFINITION.match(text):
                count = 1
            elif _KNOWN.match(text):
                raise self.fault(
                    number,
                    f"a notebook can't show {text!r}",
                    "write it in plain Markdown, or teach tools/notebooks.py to",
                )
            else:
                count = 1
                self.say(number, text)
            at += count

    def say(self, line: int, text: str) -> None:
        """Add to the prose that will be the next Markdown cell."""
        if not self.prose:
            if not text.strip():
                return
            self.start = line
        self.prose.append(text)

    def flush(self) -> None:
        """Make a Markdown cell of the prose so far."""
        if text := "\n".join(self.prose).strip("\n"):
            text = re.sub(r"\n{3,}", "\n\n", text)
            self.cells.append(Cell("markdown", text, self.start, self.section))
        self.prose = []

    def convert(self, text: str) -> str:
        """Return prose with absolute links and no attribute lists; code in it stays."""
        codes: list[str] = []

        def hide(code: re.Match) -> str:
            codes.append(code[0])
            return f"\0{len(codes) - 1}{chr(10) * code[0].count(chr(10))}\0"

        text = _CODE.sub(hide, text)
        text = "\n".join(
            line if _HEADING.match(line) else _ATTRIBUTES.sub("", line) for line in text.split("\n")
        )
        text = _REFERENCE.sub(self._reference, text)
        text = _LINK.sub(self._absolute, text)
        return re.sub(r"\0(\d+)\n*\0", lambda hidden: codes[int(hidden[1])], text)

    def converted(self, skip: int) -> list[tuple[int, str]]:
        """Return the lines of the page after the first `skip`, with their numbers, converted."""
        found, prose, number = [], [], skip + 1
        while number <= len(self.lines) + 1:
            fence = self.fences.get(number)
            if fence or number > len(self.lines):
                first = number - len(prose)
                found += enumerate(
                    self.convert("\n".join(prose)).split("\n") if prose else [], first
                )
                prose = []
            if fence:
                inside = range(fence.line, fence.last + 1)
                found += [(n, self.lines[n - 1]) for n in inside]
                number = fence.last
            elif number <= len(self.lines):
                prose.append(self.lines[number - 1])
            number += 1
        return found

    def _reference(self, link: re.Match) -> str:
        target = self.targets.get(link["name"])
        return f"[{link['text']}]({target})" if target else link[0]

    def _absolute(self, link: re.Match) -> str:
        target = link["target"]
        if re.match(r"[a-z][a-z+.-]*:|#", target):
            return link[0]
        path, mark, place = target.partition("#")
        path = re.sub(r"(^|/)index\.md$", r"\1", path)
        return f"]({self.address}{re.sub(r'[.]md$', '/', path)}{mark}{place})"

    @staticmethod
    def _indented(lines: list[tuple[int, str]]) -> int:
        """Return how many of the lines are indented, or empty between such lines."""
        last = 0
        for count, (_, text) in enumerate(lines, 1):
            if text.startswith("    "):
                last = count
            elif text.strip():
                break
        return last

    def _until_slashes(self, lines: list[tuple[int, str]], number: int) -> int:
        for count, (_, text) in enumerate(lines[1:], 2):
            if re.fullmatch(r"/{3,}[ \t]*", text):
                return count
        raise self.fault(number, "the block is not closed", "add `///` after its last line")

    def heading(self, found: re.Match, line: int) -> None:
        """Begin a cell with a heading, and an anchor by which links find it."""
        self.flush()
        attributes = _ATTRIBUTES.search(found["title"])
        place = re.search(r"#([\w-]+)", attributes["inside"]) if attributes else None
        title = _ATTRIBUTES.sub("", found["title"])
        self.section = place[1] if place else self.section
        if place:
            self.say(line, f'<a id="{place[1]}"></a>\n')
        self.say(line, f"{found['marks']} {title}")

    # - blocks

    def admonition(self, found: re.Match, line: int, body: list[tuple[int, str]]) -> None:
        """Take in a note (as a quotation), a fold, a tab (as a paragraph with a bold title)."""
        title = found["title"]
        if title is None:
            title = found["class"].split(" ")[0].capitalize()
        if found["kind"].startswith("===") or any(
            number in self.fences and _program(self.fences[number]) for number, _ in body
        ):
            # Code that is to run can't stand within a quotation or a fold.
            self.say(line, f"\n**{title}**\n" if title else "")
            self.read(body)
            return
        before, self.prose = self.prose, []
        self.read(body)
        inner, self.prose = "\n".join(self.prose).strip("\n"), before
        if found["kind"].startswith("???"):
            text = f"<details><summary>{title}</summary>\n\n{inner}\n\n</details>\n"
        else:
            quoted = [f"> {text}".rstrip() for text in inner.split("\n")]
            text = "\n".join([f"> **{title}**", ">", *quoted, ""])
        self.say(line, "\n" + text if self.prose else text)

    def special(self, found: re.Match, line: int, body: list[tuple[int, str]]) -> None:
        """Take in a block between `///`."""
        take = getattr(self, f"_{found['name'].replace('-', '_')}_block", None)
        if take is None:
            raise self.fault(
                line,
                f"a notebook can't show the block {found['name']!r}",
                "use another, or teach tools/notebooks.py to",
            )
        take((found["argument"] or "").strip(), line, body)

    @staticmethod
    def _text(body: list[tuple[int, str]]) -> str:
        return "\n".join(text for _, text in body).strip()

    def _quiz_block(self, question: str, line: int, body: list[tuple[int, str]]) -> None:
        """Show the choices, and what is to be said of each in a fold."""
        before, choices = [], []
        for number, text in body:
            if choice := _CHOICE.match(text):
                choices.append([choice["mark"] in "xX", choice["text"], []])
            elif choices and text.strip():
                if why := re.match(r"[ \t]*>[ \t]?(.*)", text):
                    choices[-1][2].append(why[1])
                elif choices[-1][2]:
                    choices[-1][2].append(text.strip())
                else:
                    choices[-1][1] += " " + text.strip()
            elif not choices:
                before.append((number, text))
        told = []
        for right, text, why in choices:
            verdict = self.word["quiz_right" if right else "quiz_wrong"]
            told.append(f"- {text}  \n  **{verdict}** {' '.join(why)}")
        parts = [
            f"**{self.word['quiz']}.** {question}",
            self._text(before),
            "\n".join(f"- {text}" for _, text, _ in choices),
            f"<details><summary>{self.word['quiz_answer']}</summary>",
            "\n".join(told),
            "</details>",
        ]
        self.say(line, "\n" + "\n\n".join(filter(None, parts)) + "\n")

    def _figure_block(self, name: str, line: int, body: list[tuple[int, str]]) -> None:
        """Show the drawing of the site, or a plot of what the programs have printed."""
        caption = self._text(body)
        if name in self.plots:
            self.waiting.append((name, caption, line))
            self.draw()
            return
        self.flush()
        try:
            title, description, _ = drawing(name, self.page.lang, self.root)
        except FigureError as error:
            raise self.fault(line, str(error), "see tools/figures/") from error
        alt = re.sub(r"[\[\]]", "", " ".join(f"{title}. {description}".split()))
        text = f"![{alt}](attachment:{name}.svg)\n\n{caption}"
        self.cells.append(Cell("markdown", text, line, self.section, figure=name))

    def _difference_block(self, argument: str, line: int, body: list[tuple[int, str]]) -> None:
        """Show how one program becomes another."""
        try:
            sides = differences.sides(argument)
            rows = differences.lines(differences.between(*sides, self.root / "snippets"), self.word)
        except differences.DifferenceError as error:
            raise self.fault(line, str(error), "see the programs") from error
        self.say(line, "\n```diff\n" + "\n".join(rows) + f"\n```\n\n{self._text(body)}\n")

    def block(self, fence: Fence) -> None:
        """Take in a block of code, an output, or commands."""
        if not fence.closed:
            raise self.fault(fence.line, "the block is not closed", f"close it with {fence.mark}")
        if fence.lang in ("python", "text"):
            if fence.include is None:
                raise self.fault(fence.line, "the block is no include", "embed a section")
            if fence.lang == "python":
                self.code(fence)
            else:
                self.output(fence)
        else:
            self.say(fence.line, f"\n{fence.mark}{fence.lang}\n{fence.body}\n{fence.mark}\n")

    def code(self, fence: Fence) -> None:
        """Make a code cell of a section."""
        program, part = fence.include.path, fence.include.section
        snippet = self._load(program, fence)
        if part not in snippet.sections:
            raise self.fault(
                fence.include.line,
                f"snippets/{program} has no section {part!r}",
                f"it has: {', '.join(snippet.sections) or 'none'}",
            )
        self.flush()
        source = marked(snippet.sections[part].text, snippet.sections[part].new)
        fails = snippet.lesson["raises"] is not None
        cell = Cell("code", source, fence.line, self.section, program, part, fails)
        if snippet.lesson["ranks"] > 1:
            again = any(c.program == program and c.part not in ("run", "show") for c in self.cells)
            first = f"%%writefile {'-a ' if again else ''}{self._file(program)}\n"
            self.cells.append(Cell("code", first + source, fence.line, self.section, program, part))
            if self._last(fence):
                self.launch(snippet, fence)
        elif self._stem(program) in self.captured and self._last(fence):
            first = f"%%capture {PRINTED}{self._stem(program)}\n"
            self.cells.append(Cell("code", first + source, fence.line, self.section, program, part))
            self.keep(program, fence)
        else:
            self.cells.append(cell)

    def launch(self, snippet: Snippet, fence: Fence) -> None:
        """Start a program of several ranks, as a reader must: from its file, by torchrun."""
        path, ranks = snippet.path, snippet.lesson["ranks"]
        command = f"!torchrun --nproc-per-node {ranks} {self._file(path)}"
        keeps = self._stem(path) in self.captured
        if keeps:
            command = f"%%capture {PRINTED}{self._stem(path)}\n{command}"
        self.cells.append(Cell("code", command, fence.line, self.section, path, "run"))
        if keeps:
            self.keep(path, fence)

    def keep(self, program: str, fence: Fence) -> None:
        """Show what has been kept, and draw what can be drawn now."""
        name = f"{PRINTED}{self._stem(program)}"
        shows = Cell("code", f"{name}.show()", fence.line, self.section, program, "show")
        self.cells.append(shows)
        self.kept.add(self._stem(program))
        self.draw()

    def draw(self) -> None:
        """Add the plots that wait for nothing more."""
        for one in list(self.waiting):
            name, caption, line = one
            code = self.plots[name]
            if not _printed(code) <= self.kept:
                continue
            self.waiting.remove(one)
            self.flush()
            if not any(cell.part == SHOW + "s" for cell in self.cells):
                helper = (self.root / PLOTS / f"{SHOW}.py").read_text("utf-8").strip("\n")
                self.cells.append(Cell("code", helper, line, self.section, "", SHOW + "s"))
            self.cells.append(Cell("code", code, line, self.section, "", "plot", figure=name))
            self.say(line, caption)
            self.flush()

    def output(self, fence: Fence) -> None:
        """Leave an output to the cells that print it; keep what is of a program not shown above."""
        path = fence.include.path
        if not (self.root / "snippets" / path).is_file():
            raise self.fault(
                fence.include.line, f"snippets/{path} does not exist", "run 'make outputs'"
            )
        device = "." in Path(path).stem
        if device or not any(cell.program == program_of(path) for cell in self.cells):
            text = (self.root / "snippets" / path).read_text("utf-8").rstrip("\n")
            self.say(fence.line, f"\n```text\n{text}\n```\n")

    def _load(self, program: str, fence: Fence) -> Snippet:
        if not (self.root / "snippets" / program).is_file():
            raise self.fault(
                fence.include.line,
                f"snippets/{program} does not exist",
                "the programs are those in snippets/",
            )
        return load(program, self.root / "snippets")

    def _last(self, fence: Fence) -> bool:
        """Say whether no later block is of the same program."""
        of = [f for f in self.page.fences if _program(f) == fence.include.path]
        return of[-1] is fence

    def _file(self, program: str) -> str:
        """Return the name of the file that a program is written to."""
        same = [path for path in self.shown if Path(path).name == Path(program).name]
        return Path(program).name if same == [program] else program.replace("/", "_")

    @staticmethod
    def _stem(program: str) -> str:
        return Path(program).stem


@lru_cache(2000)  # the same in every language
def marked(text: str, new: tuple[int, ...]) -> str:
    """Return code whose `new` lines end in a mark, where that changes nothing but a comment.

    No line is marked where all are new: there would be nothing to tell apart.
    """
    lines = text.rstrip("\n").split("\n")
    code = {n for n, line in enumerate(lines, 1) if line.strip() and line.strip()[0] != "#"}
    if not code - set(new):
        return "\n".join(lines)
    ends = sorted(code & set(new))
    if not _same(text := _marked(lines, ends), "\n".join(lines)):  # one of them is within a text
        ends = [n for n in ends if _same(_marked(lines, [n]), "\n".join(lines))]
        text = _marked(lines, ends)
    return text


def _marked(lines: list[str], ends: list[int]) -> str:
    return "\n".join(line + MARK * (n in ends) for n, line in enumerate(lines, 1))


def unmarked(source: str) -> str:
    """Return a code cell's program text: without marks and magic lines."""
    lines = [line.removesuffix(MARK) for line in source.split("\n")]
    return "\n".join(lines[1:] if lines[0].startswith("%%") else lines)


def _same(one: str, other: str) -> bool:
    """Say whether two texts are the same program."""
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except SyntaxError:
        return False


def drawing(name: str, lang: str, root: Path = ROOT) -> tuple[str, str, str]:
    """Return the title, the description and the SVG of a figure. Raises FigureError."""
    svg = render(name, lang, snippets=root / "snippets", locales=root / "locales")
    title, description = (
        re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", svg, re.S)[1] for tag in ("title", "desc")
    )
    return title, description, svg


def cells(page: Page, root: Path = ROOT, address: str = "") -> list[Cell]:
    """Return the cells of the notebook of a page, without the first, which says what it is.

    `address` is where the language is published. Raises NotebookError, SnippetError, FigureError.
    """
    return _Weaver(page, root, address).weave()


# --- runs ----------------------------------------------------------------------------------------


def key(code: list[str], pinned: dict[str, str]) -> str:
    """Return the hash of the code cells and of the versions that they run with."""
    text = json.dumps([code, pinned], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def run_file(page: Page, code: list[str], root: Path = ROOT) -> Path:
    """Return the file of the run of a page's code."""
    return root / RUNS / f"{page.name.replace('/', '-')}-{key(code, versions(page, root))}.ipynb"


def read_run(page: Page, code: list[str], root: Path = ROOT) -> Run:
    """Return the run of a page's code: of this code, of earlier code, or none.

    Raises NotebookError for a run that can't be read, or that is not what its name says.
    """
    file = run_file(page, code, root)
    if file.is_file():
        ran, outputs, found = _read(file, root)
        cure = "remove it, then run: make notebooks"
        pinned = versions(page, root)
        if ran != code:
            raise NotebookError(
                f"{_shown(file, root)}:1: a run of other code than its name says; {cure}"
            )
        if other := [
            f"{name} {found.get(name)}" for name in pinned if found.get(name) != pinned[name]
        ]:
            raise NotebookError(
                f"{_shown(file, root)}:1: ran with {', '.join(other)}, constraints.txt has "
                f"{', '.join(f'{name} {version}' for name, version in pinned.items())}; {cure}"
            )
        return Run(CURRENT, outputs, found)
    stem = page.name.replace("/", "-")
    earlier = [
        f for f in (root / RUNS).glob("*.ipynb") if re.fullmatch(rf"{stem}-[0-9a-f]{{16}}", f.stem)
    ]
    if not earlier:
        return Run(NONE, [[] for _ in code])
    newest = max(earlier, key=lambda f: (f.stat().st_mtime_ns, f.name))
    ran, outputs, found = _read(newest, root)
    known = dict(zip(ran, outputs, strict=True))
    return Run(EARLIER, [known.get(source, []) for source in code], found)


def _shown(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


def _read(file: Path, root: Path) -> tuple[list[str], list[list], dict[str, str]]:
    """Return the code of a run, its outputs and its versions."""
    import nbformat

    try:
        notebook = nbformat.reads(file.read_text("utf-8"), as_version=4)
        nbformat.validate(notebook)
        found = dict(notebook.metadata["run"]["versions"])
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        return [cell.source for cell in code], [cell.outputs for cell in code], found
    except (ValueError, KeyError, TypeError, AttributeError, nbformat.ValidationError) as error:
        why = str(error).split("\n")[0][:100]
        raise NotebookError(
            f"{_shown(file, root)}:1: no notebook of a run ({type(error).__name__}: {why}); "
            "remove it, then run: make notebooks"
        ) from error


# --- the notebook --------------------------------------------------------------------------------


def first(page: Page, made: list[Cell], run: Run, address: str, root: Path = ROOT) -> str:
    """Return the first cell: what this is, what it needs, what it was checked with."""
    word = words(page.lang, root)
    needs = " ".join(f'"{n}"' if re.search(r"[<>= ]", n) else n for n in requirements(page, root))
    pinned = versions(page, root)
    known = run.versions if run.state == CURRENT else pinned
    names = {"torch": "PyTorch", "accelerate": "Accelerate", "numpy": "NumPy"}
    said = [f"{names[name]} {known[name]}" for name in names if name in known]
    if run.state == CURRENT:
        said.append(f"Python {run.versions['python']}")
    lesson = f"[{page.meta['title']}]({address}{page.name}/)"
    lines = [
        word["notebook_woven"].format(lesson=lesson),
        word[f"notebook_{run.state}"].format(versions=", ".join(said)),
        word["notebook_install"].format(command=f"`%pip install {needs}`"),
    ]
    if any(MARK in cell.source for cell in made):
        lines.append(word["notebook_marks"].format(mark=f"`{MARK.strip()}`"))
    if any(cell.part == "run" for cell in made):
        lines.append(word["notebook_ranks"])
    if any(cell.fails for cell in made):
        lines.append(word["notebook_fails"])
    return "\n>\n".join(f"> {line}" for line in lines)


def weave(page: Page, root: Path = ROOT, address: str = "") -> str:
    """Return the notebook of a page, in its language, as the text of an ``.ipynb``.

    The same sources and the same run give the same text. `address` is where the language is
    published, with a slash at its end. Raises NotebookError, SnippetError, FigureError.
    """
    import jupytext
    import nbformat

    made = cells(page, root, address)
    code = [cell.source for cell in made if cell.kind == "code"]
    run = read_run(page, code, root)
    # The page's title comes first, then what this notebook is, then the rest of the page.
    parts = made[0].source.split("\n\n")
    at = next((n for n, part in enumerate(parts, 1) if part.startswith("# ")), 0)
    opening = "\n\n".join([*parts[:at], first(page, made, run, address, root)])
    rest = [Cell("markdown", "\n\n".join(parts[at:]), made[0].line, made[0].section)]
    made = [
        Cell("markdown", opening, made[0].line, made[0].section),
        *(rest if parts[at:] else []),
        *made[1:],
    ]

    notebook = jupytext.reads("\n\n".join(map(_written, made)), fmt="md")
    if [cell.source for cell in notebook.cells] != [cell.source for cell in made]:
        at = next(
            (
                one
                for one, cell in zip(made, notebook.cells, strict=False)
                if one.source != cell.source
            ),
            made[-1],
        )
        raise NotebookError(
            f"{page.file}:{at.line}: jupytext reads this cell otherwise than it is written; "
            "say it more plainly"
        )
    outputs = iter(run.outputs)
    counts: dict[str, int] = {}
    number = 0
    for cell, one in zip(notebook.cells, made, strict=True):
        counts[one.section] = counts.get(one.section, 0) + 1
        cell.id = f"{one.section[:56]}_{counts[one.section]}"
        cell.metadata.clear()
        if one.kind == "markdown":
            if one.figure:
                data = base64.b64encode(_on_paper(one.figure, page.lang, root).encode()).decode()
                cell.attachments = {f"{one.figure}.svg": {"image/svg+xml": data}}
            continue
        number += 1
        if one.program:
            cell.metadata["program"] = {"path": one.program, "part": one.part}
        if one.figure:
            cell.metadata["figure"] = one.figure
        if one.fails:
            cell.metadata["tags"] = ["raises-exception"]
        cell.outputs = [_output(o, number, one, page.lang, root) for o in next(outputs)]
        cell.execution_count = number if run.state == CURRENT else None
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python", "file_extension": ".py"},
            "lesson": {
                "page": page.name,
                "language": page.lang,
                "outputs": run.state,
                "versions": run.versions or versions(page, root),
            },
        }
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


def _written(cell: Cell) -> str:
    """Return a cell as jupytext reads it: each begins and ends where it says."""
    if cell.kind == "code":
        return f"```python\n{cell.source}\n```"
    return f"<!-- #region -->\n{cell.source}\n<!-- #endregion -->"


def _output(output, number: int, cell: Cell, lang: str, root: Path):
    """Return an output as the language has it: what a plot shows is said in its words."""
    import nbformat

    output = nbformat.from_dict(output)
    if "execution_count" in output:
        output.execution_count = number
    if cell.figure and "image/svg+xml" in output.get("data", {}):
        title, description, _ = drawing(cell.figure, lang, root)
        alt = " ".join(f"{title}. {description}".split()).replace('"', "&quot;")
        svg = output.data["image/svg+xml"]
        output.data["image/svg+xml"] = re.sub(
            r'aria-label="[^"]*"', lambda _: f'aria-label="{alt}"', svg, count=1
        )
    return output


def _on_paper(name: str, lang: str, root: Path) -> str:
    """Return a figure as a picture of its own, on paper, which is readable on any ground."""
    svg = drawing(name, lang, root)[2]
    return re.sub(
        r"</desc>", '</desc><rect width="100%" height="100%" fill="#fbfaf6"/>', svg, count=1
    ).replace("<svg", '<svg color="#20242a"', 1)
