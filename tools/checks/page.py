"""A page by itself, and all of them against the programs: what the Markdown says."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from tools import differences, yaml_files
from tools import snippets as snippets_module
from tools.checks.fault import Fault
from tools.differences import DifferenceError
from tools.pages import ROOT, Page
from tools.snippets import Snippet, SnippetError
from tools.yaml_files import YamlError

#: How the two kinds of blocks that a page may have are to be spelled.
SPELLING = {
    "python": 'open it with ```python and embed one section: --8<-- "amp/name.py:section"',
    "text": 'open it with ```text and embed one output: --8<-- "amp/name.out"',
    "bash": "open it with ```bash",
    "console": "open it with ```console",
}
REQUIRED = {"title": str, "description": str}
OPTIONAL = {"minutes": int, "template": str, "hide": list}


def check_front_matter(page: Page) -> list[Fault]:
    """Title and description are there, and nothing that nobody reads."""
    found = []
    for key, kind in REQUIRED.items():
        if not isinstance(page.meta.get(key), kind) or not page.meta[key].strip():
            found.append(Fault(page.file, 1, f"the front matter has no {key}", "add it"))
    for key, value in page.meta.items():
        kind = (REQUIRED | OPTIONAL).get(key)
        if kind is None:
            known = ", ".join(REQUIRED | OPTIONAL)
            found.append(
                Fault(page.file, 1, f"unknown key {key!r} in the front matter", f"known: {known}")
            )
        elif not isinstance(value, kind):
            found.append(Fault(page.file, 1, f"{key}: {value!r} is no {kind.__name__}", "mend it"))
    return found


def check_headings(page: Page) -> list[Fault]:
    """Each heading states an ASCII id of its own, the same in every language."""
    found, seen = [], {}
    for heading in page.headings:
        shown = f"heading {heading.title!r}"
        if heading.id is None:
            found.append(
                Fault(page.file, heading.line, f"{shown} has no id", "add one: ## Title { #id }")
            )
        elif not re.fullmatch(r"[a-z][a-z0-9-]*", heading.id):
            found.append(
                Fault(
                    page.file,
                    heading.line,
                    f"{shown} has the id {heading.id!r}",
                    "use lower-case ASCII letters, digits and -",
                )
            )
        elif heading.id == "top":
            found.append(
                Fault(
                    page.file,
                    heading.line,
                    f"{shown} has the id 'top', which means the start of the page",
                    "use another",
                )
            )
        elif heading.id in seen:
            found.append(
                Fault(
                    page.file,
                    heading.line,
                    f"the id {heading.id!r} is taken by line {seen[heading.id]}",
                    "use another",
                )
            )
        else:
            seen[heading.id] = heading.line
    lines = page.text.split("\n")
    inside = {n for f in page.fences for n in range(f.line, f.last + 1)}
    for number in range(2, len(lines) + 1):
        line, before = lines[number - 1], lines[number - 2]
        underlined = re.fullmatch(r"=+|-+", line.strip()) and re.match(r"[\w*`]", before)
        if underlined and number not in inside and number > _front_matter_lines(page):
            found.append(
                Fault(page.file, number, "an underlined heading", "write ## Title { #id }")
            )
    return found


def _front_matter_lines(page: Page) -> int:
    end = page.text.find("\n---\n", 3) if page.text.startswith("---\n") else -1
    return page.text[: end + 5].count("\n") if end >= 0 else 0


def check_fences(page: Page, commands: set[str]) -> list[Fault]:
    """Code is embedded, never typed into a page; a command is one that is known to the tests."""
    found = []

    def fault(line, message, cure):
        found.append(Fault(page.file, line, message, cure))

    for fence in page.fences:
        shown = f"the block {fence.mark}{fence.info}"
        if not fence.closed:
            fault(fence.line, f"{shown} is not closed", f"close it with a line {fence.mark}")
        elif fence.lang not in SPELLING:
            fault(
                fence.line,
                f"{shown} is neither code, output nor commands",
                f"allowed are {', '.join(SPELLING)}",
            )
        elif fence.mark != "```" or fence.info != fence.lang:
            fault(fence.line, f"{shown} is spelled in a way of its own", SPELLING[fence.lang])
        elif fence.lang in ("bash", "console"):
            for command in shell_commands(fence.body, console=fence.lang == "console"):
                if command not in commands:
                    fault(
                        fence.line,
                        f"the command {command!r} is in no test",
                        "add it to tests/pages/commands.yml, with how it is tested",
                    )
        elif fence.include is None:
            fault(fence.line, f"{shown} is not an include", SPELLING[fence.lang])
        elif fence.lang == "python" and not (
            fence.include.path.endswith(".py") and fence.include.section
        ):
            fault(fence.line, f"{shown} embeds no section of a program", SPELLING["python"])
        elif fence.lang == "text" and not fence.include.path.endswith(".out"):
            fault(fence.line, f"{shown} embeds no output", SPELLING["text"])
    for include in page.stray:
        fault(include.line, "an include outside a block of code", SPELLING["python"])
    for line in page.odd:
        fault(line, "an include that is spelled in a way of its own", SPELLING["python"])
    return found


def check_includes(page: Page, root: Path) -> list[Fault]:
    """Each include finds its file and its section below `root` (the snippets folder)."""
    found = []
    for include in [i for f in page.fences for i in f.includes] + page.stray:
        path, section = include.path, include.section
        if not (root / path).is_file():
            cure = "the programs are those in snippets/"
            if path.endswith(".out") and (root / path).with_suffix(".py").is_file():
                cure = "run 'make outputs'"
            found.append(Fault(page.file, include.line, f"snippets/{path} does not exist", cure))
        elif section and path.endswith(".py"):
            try:
                have = snippets_module.load(path, root).sections
            except SnippetError:
                continue  # reported once, for the program itself
            if section not in have:
                found.append(
                    Fault(
                        page.file,
                        include.line,
                        f"snippets/{path} has no section {section!r}",
                        f"it has: {', '.join(have) or 'none'}",
                    )
                )
    return found


def check_references(page: Page) -> list[Fault]:
    """Each ``[text][name]`` has its ``[name]: address`` on the page, and each of those is used."""
    found = []
    names = [name for _, name in page.definitions]
    for line, name in page.references:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            cure = f"did you mean {near[0]!r}?" if near else "write beneath the text:"
            cure += "" if near else f" [{name}]: address (code goes between backticks)"
            found.append(Fault(page.file, line, f"the link [{name}] is defined nowhere", cure))
    for line, name in page.definitions:
        if name not in page.bracketed:
            cure = "remove the line, or link to it"
            found.append(Fault(page.file, line, f"no link of the page uses [{name}]", cure))
    return found


def check_differences(page: Page, root: Path) -> list[Fault]:
    """Each difference names two programs below `root`, or sections of them, that differ."""
    found = []
    for one in page.differences:
        try:
            differences.between(*differences.sides(one.argument), root)
        except DifferenceError as error:
            found.append(Fault(page.file, one.line, *str(error).rsplit("; ", 1)))
        except SnippetError as error:
            # A program that is there and malformed is reported once, for itself.
            if not (root / error.file.partition("/")[2]).is_file():
                cure = "the programs are those in snippets/"
                found.append(Fault(page.file, one.line, f"{error.file} does not exist", cure))
    return found


def sides(argument: str) -> tuple[differences.Side, ...]:
    """The two sides of a difference; none if it can't be read, which is a fault of its own."""
    try:
        return differences.sides(argument)
    except DifferenceError:
        return ()


def check_unshown(shown: list[Page], programs: list[Snippet]) -> list[Fault]:
    """Each program, and each of its sections, is on one of the pages `shown`."""
    includes = {
        (i.path, i.section) for page in shown for fence in page.fences for i in fence.includes
    }
    paths = {path for path, _ in includes} | {
        side.path for page in shown for one in page.differences for side in sides(one.argument)
    }
    texts = {
        program.sections[name].text
        for program in programs
        for path, name in includes
        if path == program.path and name in program.sections
    }
    found = []
    for program in programs:
        file = f"snippets/{program.path}"
        if program.path not in paths:
            found.append(Fault(file, 1, "no page shows this program", "embed it, or remove it"))
            continue
        for section in program.sections.values():
            # Shown in another program (a step that repeats the one before), or by its parts.
            if section.text not in texts and not any(
                (program.path, other.name) in includes
                for other in program.sections.values()
                if section.first <= other.first and other.last <= section.last
            ):
                found.append(
                    Fault(
                        file,
                        section.first - 1,
                        f"no page shows the section {section.name!r}",
                        "embed it, or remove its markers",
                    )
                )
    return found


def titles(page: Page) -> list[tuple[int, str]]:
    """The words of the front matter, which the site shows as well."""
    return [(1, str(page.meta.get(key, ""))) for key in REQUIRED]


def shell_commands(body: str, console: bool = False) -> list[str]:
    """The commands of a shell block: a line each, continued lines joined, comments dropped.

    In a console block, commands are the lines after ``$ ``.
    """
    joined = re.sub(r"\\\n\s*", "", body)
    lines = [line.strip() for line in joined.split("\n")]
    if console:
        return [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in lines if line and not line.startswith("#")]


def load_commands(root: Path = ROOT) -> dict[str, str]:
    """The shell commands that pages, README and CONTRIBUTING show: command -> how it is tested.

    Raises YamlError for a list that can't be read or does not say how.
    """
    shown = "tests/pages/commands.yml"
    found = yaml_files.load((root / shown).read_text("utf-8"), shown)
    if not isinstance(found, dict) or not all(
        isinstance(word, str) and word.strip() for pair in found.items() for word in pair
    ):
        raise YamlError(
            f"{shown}:1: not all lines are commands; write `command: run`, or the reason why no "
            "test runs it"
        )
    return found
