"""Check the pages: against the snippets, the English pages, the glossary, and as rendered.

    python -m tools.checks          (make check)

prints each fault as ``file:line: what is wrong; what to do`` and ends with 1 if there are any. Each
check is a function over plain data that returns a list of faults; a fault is never raised.
A translation that English has left behind is no fault, only a notice: whoever mends an English
sentence need not know the other languages.
"""

from __future__ import annotations

import difflib
import re
import sys
import tempfile
import urllib.parse
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from tools import differences, notebook_pages, notebooks, texts, translations, yaml_files
from tools import pages as pages_module
from tools import snippets as snippets_module
from tools.differences import DifferenceError
from tools.languages import words
from tools.pages import CODE, Page, PageError, Section
from tools.snippets import Snippet, SnippetError
from tools.translations import TranslationError
from tools.yaml_files import YamlError

ROOT = Path(__file__).resolve().parents[1]

#: How the two kinds of blocks that a page may have are to be spelled.
SPELLING = {
    "python": 'open it with ```python and embed one section: --8<-- "amp/name.py:section"',
    "text": 'open it with ```text and embed one output: --8<-- "amp/name.out"',
    "bash": "open it with ```bash",
    "console": "open it with ```console",
}
UNTRANSLATED = "no such page"
REQUIRED = {"title": str, "description": str}
OPTIONAL = {"minutes": int, "template": str, "hide": list}


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong, where, and what to do about it."""

    file: str
    line: int
    message: str
    cure: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}; {self.cure}"


def _fault(error: PageError | TranslationError | YamlError) -> Fault:
    """The fault that the text of `error` tells."""
    file, line, rest = str(error).split(":", 2)
    return Fault(file, int(line), *rest.strip().rsplit("; ", 1))


# --- a page by itself --------------------------------------------------------------------------


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


def _sides(argument: str) -> tuple[differences.Side, ...]:
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
        side.path for page in shown for one in page.differences for side in _sides(one.argument)
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


# --- a translation beside the English page -----------------------------------------------------


def check_languages(all_pages: dict[str, dict[str, Page]]) -> list[Fault]:
    """Each language has the pages that English has."""
    found = []
    english = all_pages.get("en", {})
    for lang, theirs in all_pages.items():
        for name in english.keys() - theirs.keys():
            found.append(
                Fault(f"docs/{lang}/{name}.md", 1, UNTRANSLATED, f"translate docs/en/{name}.md")
            )
        for name in theirs.keys() - english.keys():
            found.append(
                Fault(theirs[name].file, 1, "a page that English does not have", "remove it")
            )
    return found


def check_translation(english: Page, page: Page) -> list[Fault]:
    """The translation has the English page's sections, ids, embeds, quiz answers and numbers."""
    found = []
    if english.meta.get("minutes") != page.meta.get("minutes"):
        found.append(
            Fault(
                page.file,
                1,
                f"minutes: {page.meta.get('minutes')}, in English {english.meta.get('minutes')}",
                "make them the same",
            )
        )
    ours, theirs = ([s.id for s in p.sections] for p in (page, english))
    by_id = {s.id: s for s in page.sections}
    for missing in [i for i in theirs if i not in ours]:
        before = theirs[: theirs.index(missing)]
        after = next((i for i in reversed(before) if i in ours), ours[0])
        found.append(
            Fault(
                page.file,
                by_id[after].line,
                f"the section #{missing} is missing after #{after}",
                f"translate it from {english.file}",
            )
        )
    for extra in [s for s in page.sections if s.id not in theirs]:
        found.append(
            Fault(
                page.file,
                extra.line,
                f"the section #{extra.id} is not in {english.file}",
                "give it the English id, or remove it",
            )
        )
    common = [i for i in theirs if i in ours]
    if common != [i for i in ours if i in theirs]:
        wrong = next(a for a, b in zip(ours, common, strict=False) if a != b)
        found.append(
            Fault(
                page.file,
                by_id[wrong].line,
                f"the section #{wrong} stands elsewhere than in {english.file}",
                "bring the sections into the English order",
            )
        )
    heads = [Section(None, _titles(p)) for p in (english, page)]
    found += _section_faults(english, heads[0], page, heads[1])
    for section in english.sections:
        if section.id in by_id:
            found += _section_faults(english, section, page, by_id[section.id])
    return found


def _titles(page: Page) -> list[tuple[int, str]]:
    """The words of the front matter, which the site shows as well."""
    return [(1, str(page.meta.get(key, ""))) for key in REQUIRED]


def _section_faults(english: Page, theirs: Section, page: Page, ours: Section) -> list[Fault]:
    found = []
    where = f"#{ours.id}"

    def fault(message, cure, line=ours.line):
        found.append(Fault(page.file, line, f"{where}: {message}", cure))

    if ours.heading and theirs.heading and ours.heading.level != theirs.heading.level:
        fault(
            f"a heading of level {ours.heading.level}, in English {theirs.heading.level}",
            "make them the same",
        )
    if ours.embeds != theirs.embeds:
        fault(
            f"shows {_listed(ours.embeds)}, in English {_listed(theirs.embeds)}",
            f"embed what {english.file}:{theirs.line} embeds, in its order",
        )
    if [q.answers for q in ours.quizzes] != [q.answers for q in theirs.quizzes]:
        pairs = zip(ours.quizzes, theirs.quizzes, strict=False)
        line = next((a.line for a, b in pairs if a.answers != b.answers), ours.line)
        fault(
            "a quiz has other choices or answers than in English",
            f"compare it with {english.file}:{theirs.line}",
            line,
        )
    a, b = ours.numbers(page.lang), theirs.numbers(english.lang)
    extra = [n for n in a if n.value not in {m.value for m in b}]
    missing = [n for n in b if n.value not in {m.value for m in a}]
    if extra or missing:
        said = []
        if extra:
            said.append(
                "numbers not in English: " + ", ".join(dict.fromkeys(n.value for n in extra))
            )
        if missing:
            said.append(
                "English numbers missing: "
                + ", ".join(dict.fromkeys(f"{n.written} (line {n.line})" for n in missing))
            )
        fault(
            "; ".join(said),
            f"compare with {english.file}:{theirs.line}, and write numbers as the language does",
            extra[0].line if extra else ours.line,
        )
    return found


def _listed(embeds: list[str]) -> str:
    return ", ".join(embeds) or "nothing"


def check_records(all_pages: dict[str, dict[str, Page]], root: Path = ROOT) -> list[Fault]:
    """It is recorded from which English text each section of a translation was made."""
    found = []
    english = all_pages.get("en", {})
    for lang in all_pages.keys() - {"en"}:
        shown = f"locales/{lang}/sections.yml"
        whole = f'make translations DONE="{lang}"'
        if not translations.record_file(lang, root).exists():
            cure = f"compare docs/{lang} with docs/en, then run: {whole}"
            found.append(Fault(shown, 1, "no record of what was translated", cure))
            continue
        try:
            entries = translations.records(lang, root)
        except TranslationError as error:
            found.append(_fault(error))
            continue
        there = [
            section
            for name, page in all_pages[lang].items()
            if name in english
            for section in translations.sections(english[name], page, root)
        ]
        for section in [s for s in there if s.recorded is None]:
            found.append(
                Fault(
                    section.file,
                    section.line,
                    f"the section #{section.id} is not recorded as translated",
                    f"compare it with {section.english}, then run: {section.command}",
                )
            )
        for key in entries.keys() - {s.key for s in there}:
            cure = "remove the line"
            found.append(Fault(shown, entries[key][1], f"there is no section {key}", cure))
    return found


# --- words -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """An entry of a glossary: the English `term`, how the language says it, and how it does not."""

    term: str
    say: tuple[str, ...]
    never: tuple[str, ...]


def load_glossary(lang: str, root: Path = ROOT) -> tuple[list[Term], list[Fault]]:
    """Read locales/<lang>/glossary.yml. Return its terms and its faults (no file: no terms)."""
    file = root / "locales" / lang / "glossary.yml"
    shown = f"locales/{lang}/glossary.yml"
    if not file.exists():
        return [], []
    try:
        entries = yaml_files.load(file.read_text("utf-8"), shown) or []
    except YamlError as error:
        return [], [_fault(error)]
    lines = [
        n for n, text in enumerate(file.read_text("utf-8").splitlines(), 1) if text[:2] == "- "
    ]
    terms, found = [], []
    for number, entry in enumerate(entries):
        line = lines[number] if number < len(lines) else 1
        good = (
            isinstance(entry, dict)
            and isinstance(entry.get("term"), str)
            and not entry.keys() - {"term", "say", "never", "note"}
            and all(
                isinstance(entry.get(key, []), list)
                and all(isinstance(word, str) for word in entry.get(key, []))
                for key in ("say", "never")
            )
        )
        if not good:
            found.append(
                Fault(
                    shown,
                    line,
                    "an entry that can't be read",
                    "write term: …, say: [words], never: [words], note: …",
                )
            )
            continue
        term = Term(entry["term"], tuple(entry.get("say", [])), tuple(entry.get("never", [])))
        terms.append(term)
        for never in term.never:
            if any(_whole(never).search(say) for say in term.say):
                found.append(
                    Fault(
                        shown,
                        line,
                        f"{term.term!r}: {never!r} is in 'never' and in 'say'",
                        "remove one of the two",
                    )
                )
    return terms, found


def _flexible(words: str) -> str:
    """A pattern of `words` with any space between them and either apostrophe."""
    escaped = re.escape(words.strip()).replace(r"\ ", r"[\s\u00a0\u202f]+")
    return re.sub("['\u2019]", "['\u2019]", escaped)


def _says(words: str) -> re.Pattern:
    """Matches `words` in text, with endings, alone or within a compound."""
    return re.compile(
        _flexible(words).replace(r"[\s\u00a0\u202f]+", r"\w{0,3}[\s\u00a0\u202f-]+"), re.I
    )


def _whole(words: str) -> re.Pattern:
    return re.compile(rf"(?<![\w-]){_flexible(words)}(?![\w-])", re.I)


def _uses(term: str) -> re.Pattern:
    """Matches `term`, singular or plural, in English prose; not in the title of a cited work."""
    first = f"[{term[0].lower()}{term[0].upper()}]" if term[1:].islower() else re.escape(term[0])
    return re.compile(rf"(?<![\w-]){first}{_flexible(term[1:])}(?:e?s)?(?![\w-])")


def _text(section: Section) -> str:
    return "\n".join(text for _, text in section.prose)


def check_glossary(page: Page, terms: list[Term], english: Page | None = None) -> list[Fault]:
    """No word of `never`; where an English section uses a term, one of its `say` is there."""
    found = []
    for term in terms:
        for never in term.never:
            for section in [Section(None, _titles(page)), *page.sections]:
                # whatever emphasis is on the words
                joined = re.sub(r"\*+|(?<!\w)_+|_+(?!\w)", "", _text(section))
                for match in _whole(never).finditer(joined):
                    line = section.prose[joined[: match.start()].count("\n")][0]
                    say = " or ".join(map(repr, term.say)) or "something else"
                    found.append(
                        Fault(
                            page.file, line, f"{match[0]!r} is against the glossary", f"say {say}"
                        )
                    )
    if english is None:
        return found
    by_id = {s.id: s for s in page.sections}
    longest_first = sorted((t for t in terms if t.say), key=lambda t: -len(t.term))
    for section in english.sections:
        ours = by_id.get(section.id)
        if ours is None:
            continue
        left, said = _text(section), _text(ours)
        for term in longest_first:
            pattern = _uses(term.term)
            if not pattern.search(left):
                continue
            left = pattern.sub(" ", left)  # "loss scale" is no use of "scale"
            if not any(_says(say).search(said) for say in term.say):
                found.append(
                    Fault(
                        page.file,
                        ours.line,
                        f"#{ours.id}: English says {term.term!r} ({english.file}:{section.line}), "
                        "this section has none of its words",
                        f"say {' or '.join(map(repr, term.say))} "
                        f"(locales/{page.lang}/glossary.yml)",
                    )
                )
    return found


_FRENCH = [
    (r"(?<![\u00a0\u202f])[;!?](?=\s|$|[»)*_])", "no no-break space before {0!r}"),
    (r"(?<=[\w)»%*_" + CODE + r" ]):(?=\s|$|[*_])", "no no-break space before ':'"),
    (r"«(?![\u00a0\u202f])", "no no-break space after «"),
    (r"(?<![\u00a0\u202f])»", "no no-break space before »"),
    (r'["“”„]', "{0} instead of « »"),
]
_GERMAN = [
    (r'["”]', "{0} instead of „ “"),
    (r"„(?=\s)|(?<=\s)“", "a space inside the quotes"),
    (r"[«»]", "{0} instead of „ “"),
]
_RULES = {
    "fr": (_FRENCH, "write a no-break space (U+00A0 or U+202F) there, and « » for quotes"),
    "de": (_GERMAN, "quote as „so“"),
}


def check_typography(page: Page) -> list[Fault]:
    """The typographic rules of French and German, outside code."""
    rules, cure = _RULES.get(page.lang, ([], ""))
    found = []
    for line, text in _titles(page) + [item for s in page.sections for item in s.prose]:
        for pattern, message in rules:
            for match in re.finditer(pattern, text):
                near = text[max(0, match.start() - 20) : match.end() + 10].strip()
                found.append(
                    Fault(page.file, line, f"{message.format(match[0])} in {near!r}", cure)
                )
        if page.lang == "de" and text.count("„") != text.count("“"):
            # A quotation may go over several lines: look at the whole section instead.
            section = next((s for s in page.sections if (line, text) in s.prose), None)
            whole = _text(section) if section else text
            if whole.count("„") != whole.count("“"):
                found.append(Fault(page.file, line, "„ and “ do not pair", cure))
    return found


def check_sections(english: Page, page: Page, ids: set[str], root: Path = ROOT) -> list[Fault]:
    """What is wrong with these sections of a translation: beside the English ones, and in words."""
    terms, found = load_glossary(page.lang, root)
    whole = check_glossary(page, terms, english) + check_typography(page) + check_references(page)
    theirs = {s.id: s for s in english.sections}
    ends = [s.line for s in page.sections[1:]] + [page.text.count("\n") + 2]
    for section, end in zip(page.sections, ends, strict=True):
        if section.id in ids:
            found += _section_faults(english, theirs[section.id], page, section)
            found += [fault for fault in whole if section.line <= fault.line < end]
    return found


# --- commands ----------------------------------------------------------------------------------


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


# --- the rendered page -------------------------------------------------------------------------


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
        return [side.path for side in _sides(self.difference or "")]


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
            listed = shell_commands(block.text)
            unknown = [c for c in listed if c.removeprefix("$ ") not in commands]
            if unknown or not listed:
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
        message = f"shows {_listed(compared)}, its source has {_listed(wanted)}"
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


# --- all of it ---------------------------------------------------------------------------------


def check_sources(root: Path = ROOT) -> list[Fault]:
    """All checks that need no built page, for the whole repository."""
    folder = root / "snippets"
    found, programs = [], []
    if broken := texts.not_utf8(root):
        return [Fault(file, line, "not UTF-8", "save it as UTF-8") for file, line in broken]
    for file in sorted(folder.rglob("*.py")):
        try:
            programs.append(snippets_module.load(file.relative_to(folder).as_posix(), folder))
        except SnippetError as error:
            found.append(Fault(error.file, error.line, error.message, error.cure))
    try:
        all_pages = pages_module.load_all(root)
        commands = set(load_commands(root))
    except (PageError, YamlError) as error:
        return [*found, _fault(error)]
    english = all_pages.get("en", {})
    found += check_unshown(list(english.values()), programs)
    found += check_languages(all_pages)
    found += check_records(all_pages, root)
    for lang, theirs in all_pages.items():
        terms, faults = load_glossary(lang, root)
        found += faults
        for name, page in theirs.items():
            found += check_front_matter(page)
            found += check_headings(page)
            found += check_fences(page, commands)
            found += check_includes(page, folder)
            found += check_differences(page, folder)
            found += check_references(page)
            found += check_typography(page)
            original = english.get(name) if lang != "en" else None
            found += check_glossary(page, terms, original)
            if original:
                found += check_translation(original, page)
    return found


def check_site(site: Path, address: str, root: Path = ROOT) -> list[Fault]:
    """The checks of the built pages in `site`, which will stand at `address`: blocks and links."""
    commands = set(load_commands(root))
    found = []
    known = set()
    stale = {
        lang: {(s.page, s.id) for s in theirs if s.stale}
        for lang, theirs in translations.all_sections(root).items()
    }
    for lang, theirs in pages_module.load_all(root).items():
        for name, page in theirs.items():
            stem = name.removesuffix("index").rstrip("/")
            file = site / lang / stem / "index.html"
            known.add(file)
            if not file.is_file():
                found.append(Fault(page.file, 1, "the page was not built", "add it to 'nav'"))
                continue
            html = file.read_text("utf-8")
            found += check_rendered(html, page, root / "snippets", commands)
            ids = {id for name_, id in stale.get(lang, ()) if name_ == name}
            found += check_notes(html, page, ids)
            if notebooks.has_notebook(page):
                known.add(file.with_name("notebook") / "index.html")
    for fault in notebook_pages.check(site, [f"{address}{{lang}}/"], root, run=False):
        file, line, rest = fault.split(":", 2)
        found.append(Fault(file, int(line), *rest.strip().rsplit("; ", 1)))
    for file in set(site.rglob("*.html")) - known:
        for block in read_html(file.read_text("utf-8")).blocks:
            shown = file.relative_to(site).as_posix()
            found.append(
                Fault(shown, 1, f"a block that nothing tests: {block.text[:40]!r}", "remove it")
            )
    return found + check_links(site, address)


def stale_notices(root: Path = ROOT) -> list[str]:
    """What to say of the translations that English has left behind: no fault of who mends it."""
    return [
        f"notice: {count} stale section{'s' * (count != 1)} in docs/{lang}; "
        "`make translations` shows what has changed"
        for lang, theirs in translations.all_sections(root).items()
        if (count := sum(section.stale for section in theirs))
    ]


def main() -> int:
    """Check the sources, then build every language aside and check what readers will see."""
    found = check_sources()
    # What is not translated yet is left out of the site, and hides no fault of the other pages.
    if all(fault.message == UNTRANSLATED for fault in found):
        from tools import build, languages

        with tempfile.TemporaryDirectory() as folder:
            faults = build.build_all(Path(folder), languages.languages())
            if faults:
                print("\n".join([*map(str, sorted(set(found))), *faults]))
                return 1
            found += check_site(Path(folder), build.site_root())
        for notice in stale_notices():
            print(notice)
    for fault in sorted(set(found)):
        print(fault)
    if found:
        count = len(set(found))
        print(f"{count} fault{'s' * (count != 1)}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
