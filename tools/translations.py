"""Translations: which English text each section of a translated page was made from.

    python -m tools.translations                       (make translations)
    python -m tools.translations --done fr/amp#memory  (make translations DONE="fr/amp#memory")

The first lists the sections whose English text has changed since, with the difference; the second
records that a section (`fr/amp#memory`), a page (`fr/amp`) or a language (`fr`) is up to date.

locales/<lang>/sections.yml has a line for each section, `amp#memory: "3f9a2b7c1d0e"`: the
fingerprint of the English section, its Markdown and all code and outputs that it embeds. How the
Markdown is broken into lines does not count. What stands before the first heading, the front
matter included, is the section `top`.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools import differences, pages, texts
from tools.differences import DifferenceError
from tools.pages import Page, PageError
from tools.snippets import ROOT, SnippetError, parse_sections

_HEAD = (
    "# The English text that each section was translated from: see tools/translations.py.\n"
    '# Written by `make translations DONE="…"`, once a translation is up to date.\n'
)
_RECORD = re.compile(r'(?P<key>[\w/-]+#[\w-]+): "(?P<fingerprint>[0-9a-f]{12})"')
_TARGET = re.compile(r"(?P<lang>[\w-]+)(?:/(?P<page>[^#]+)(?:#(?P<id>.+))?)?")

#: Returns the text of a file of the repository, by its path; None without such a file.
Read = Callable[[str], str | None]


class TranslationError(ValueError):
    """A record that can't be read or a section that is unknown. Its text says what to do."""


@dataclass(frozen=True)
class Source:
    """An English section: its Markdown, then each text that it embeds, by the names of both."""

    parts: dict[str, str]

    @property
    def fingerprint(self) -> str:
        """What stands in sections.yml for these texts."""
        markdown, *embedded = self.parts.values()
        whole = "\0".join([" ".join(markdown.split()), *embedded])
        return hashlib.sha256(whole.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Section:
    """A section of a translated page beside the English one; `recorded` is its fingerprint."""

    lang: str
    page: str
    id: str
    line: int
    english_line: int
    source: Source
    recorded: str | None

    @property
    def stale(self) -> bool:
        """True if it was translated from another text than English has now."""
        return self.recorded not in (None, self.source.fingerprint)

    @property
    def key(self) -> str:
        """Its name in sections.yml."""
        return f"{self.page}#{self.id}"

    @property
    def file(self) -> str:
        """The translated page."""
        return f"docs/{self.lang}/{self.page}.md"

    @property
    def english(self) -> str:
        """Where the English section stands."""
        return f"docs/en/{self.page}.md:{self.english_line}"

    @property
    def command(self) -> str:
        """What records it as up to date."""
        return f'make translations DONE="{self.lang}/{self.key}"'


def _from(root: Path) -> Read:
    def read(path: str) -> str | None:
        file = root / path
        return file.read_text("utf-8") if file.is_file() else None

    return read


def sources(page: Page, read: Read) -> dict[str, Source]:
    """Return the sections of an English `page` by id. What can't be embedded counts as nothing."""

    def embedded(path: str, name: str | None) -> str:
        text = read(f"snippets/{path}") or ""
        if name is None:
            return text
        try:
            return parse_sections(text, path)[name].text
        except (SnippetError, KeyError):  # the checks of the pages say so
            return ""

    def compared(argument: str) -> tuple[differences.Side, ...]:
        try:
            return differences.sides(argument)
        except DifferenceError:
            return ()

    def whole(side: differences.Side) -> str:
        path = f"snippets/{side.path}"
        try:
            return differences.shown(read(path) or "", side.section, path)
        except (DifferenceError, SnippetError):
            return ""

    lines = page.text.split("\n")
    ends = [section.line for section in page.sections[1:]] + [len(lines) + 1]
    found = {}
    for section, end in zip(page.sections, ends, strict=True):
        markdown = "\n".join(lines[section.line - 1 : end - 1]).strip("\n")
        parts = {f"docs/en/{page.name}.md#{section.id}": markdown}
        for include in [i for fence in section.fences for i in fence.includes]:
            name = f"{include.path}:{include.section}" if include.section else include.path
            parts[f"snippets/{name}"] = embedded(include.path, include.section)
        for one in section.differences:
            for side in compared(one.argument):
                parts[f"snippets/{side}"] = whole(side)
        found[section.id] = Source(parts)
    return found


# --- the record --------------------------------------------------------------------------------


def record_file(lang: str, root: Path = ROOT) -> Path:
    """Return where the record of `lang` is."""
    return root / "locales" / lang / "sections.yml"


def records(lang: str, root: Path = ROOT) -> dict[str, tuple[str, int]]:
    """Return the fingerprint and the line of each entry of a record; nothing if there is no file.

    Raises TranslationError, with file and line, for a line that is no entry or comes twice.
    """
    file = record_file(lang, root)
    if not file.exists():
        return {}
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = _RECORD.fullmatch(line.rstrip())
        if entry is None or entry["key"] in found:
            what = "is no entry" if entry is None else "is there twice"
            raise TranslationError(
                f"locales/{lang}/sections.yml:{number}: {line.strip()!r} {what}; remove the line, "
                "and record the section again with `make translations`"
            )
        found[entry["key"]] = entry["fingerprint"], number
    return found


def write_records(lang: str, entries: dict[str, str], root: Path = ROOT) -> None:
    """Write a record anew, all of it or nothing."""
    file = record_file(lang, root)
    lines = [f'{key}: "{entries[key]}"\n' for key in sorted(entries)]
    with tempfile.NamedTemporaryFile("w", dir=file.parent, encoding="utf-8", delete=False) as new:
        new.write(_HEAD + "".join(lines))
    os.chmod(new.name, 0o644)  # a temporary file is its owner's alone
    os.replace(new.name, file)


# --- what is up to date ------------------------------------------------------------------------


def sections(english: Page, page: Page, root: Path = ROOT) -> list[Section]:
    """Return the sections of a translated `page` that the `english` one has too.

    Raises TranslationError for a record that can't be read.
    """
    recorded = records(page.lang, root)
    lines = {section.id: section.line for section in english.sections}
    theirs = sources(english, _from(root))
    return [
        Section(
            page.lang,
            page.name,
            section.id,
            section.line,
            lines[section.id],
            theirs[section.id],
            recorded.get(f"{page.name}#{section.id}", (None, 0))[0],
        )
        for section in page.sections
        if section.id in theirs
    ]


def all_sections(root: Path = ROOT) -> dict[str, list[Section]]:
    """Return the sections of each language but English. Raises PageError, TranslationError."""
    all_pages = pages.load_all(root)
    english = all_pages.pop("en", {})
    return {
        lang: [
            s
            for name in theirs
            if name in english
            for s in sections(english[name], theirs[name], root)
        ]
        for lang, theirs in all_pages.items()
    }


def done(targets: list[str], root: Path = ROOT) -> list[str]:
    """Record the sections that `targets` name as up to date; return their names.

    Entries of sections that are no longer there go. Raises TranslationError, before anything is
    written, for a target that names nothing and for a section that the checks of the pages fault.
    """
    from tools import checks  # which imports this module

    everything, all_pages = all_sections(root), pages.load_all(root)
    chosen = {lang: set() for lang in everything}
    for target in targets:
        named = _TARGET.fullmatch(target)
        lang, page, id = named.group("lang", "page", "id") if named else (target, None, None)
        if lang not in everything:
            raise TranslationError(f"{target}: no translation {lang!r}; {_known(lang, everything)}")
        theirs = everything[lang]
        if page and page not in (names := [s.page for s in theirs]):
            raise TranslationError(f"{target}: no page {page!r} in {lang}; {_known(page, names)}")
        theirs = [s for s in theirs if page in (None, s.page)]
        if id and id not in (ids := [s.id for s in theirs]):
            raise TranslationError(
                f"{target}: no section {id!r} in docs/{lang}/{page}.md; {_known(id, ids)}"
            )
        chosen[lang] |= {s.key for s in theirs if id in (None, s.id)}
    faults = []
    for lang, name in dict.fromkeys((s.lang, s.page) for t in everything.values() for s in t):
        ids = {s.id for s in everything[lang] if s.page == name and s.key in chosen[lang]}
        if ids:
            english, page = all_pages["en"][name], all_pages[lang][name]
            faults += checks.check_sections(english, page, ids, root)
    if faults:
        count = f"{len(faults)} fault{'s' * (len(faults) != 1)}"
        raise TranslationError("\n".join([*map(str, faults), f"{count}: nothing was recorded"]))
    for lang in filter(chosen.get, chosen):
        entries = {s.key: s.recorded for s in everything[lang] if s.recorded}
        new = {s.key: s.source.fingerprint for s in everything[lang] if s.key in chosen[lang]}
        write_records(lang, entries | new, root)
    return [f"{lang}/{key}" for lang in chosen for key in sorted(chosen[lang])]


def _known(wrong: str, names) -> str:
    names = list(dict.fromkeys(names))
    near = difflib.get_close_matches(wrong, names, 3)
    return f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(names)}"


# --- the difference ----------------------------------------------------------------------------


class _History:
    """The texts of earlier commits. One git process reads them all: a page may have hundreds."""

    def __init__(self, root: Path):
        self.git = ["git", "-C", str(root)]

    def __enter__(self):
        self.process = subprocess.Popen(
            [*self.git, "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def read(self, commit: str, path: str) -> str | None:
        """Return the text of a file at a commit; None if it was not there."""
        self.process.stdin.write(f"{commit}:{path}\n".encode())
        self.process.stdin.flush()
        *_, size = self.process.stdout.readline().split()
        if size == b"missing":
            return None
        return self.process.stdout.read(int(size) + 1)[:-1].decode()

    def commits(self, *paths: str) -> list[str]:
        """Return the commits that changed any of the paths, the newest first."""
        command = [*self.git, "log", "--full-history", "--format=%h", "--", *paths]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def earlier(name: str, wanted: set[str], root: Path = ROOT) -> dict[str, tuple[str, Source]]:
    """Look in the history of the English page `name` for the sections with `wanted` fingerprints.

    Return, for those found, the newest commit that has them and their text. Raises OSError or
    CalledProcessError where there is no git or no history.
    """
    file = f"docs/en/{name}.md"
    found: dict[str, tuple[str, Source]] = {}
    parse = cache(lambda text: pages.parse(text, "en", name, file))
    with _History(root) as history:
        for commit in history.commits(file, "snippets"):
            if len(found) == len(wanted):
                break
            text = history.read(commit, file)
            try:
                page = parse(text or "")
            except PageError:
                continue
            old = sources(page, lambda path, commit=commit: history.read(commit, path))
            for source in old.values():
                if source.fingerprint in wanted:
                    found.setdefault(source.fingerprint, (commit, source))
    return found


def difference(commit: str, old: Source, new: Source) -> Iterator[str]:
    """Yield the lines of the unified difference between two states of an English section."""
    for part in old.parts | new.parts:
        before, after = (source.parts.get(part, "").splitlines() for source in (old, new))
        yield from difflib.unified_diff(
            before, after, f"{part} ({commit})", f"{part} (now)", lineterm=""
        )


def _without_history(root: Path) -> str:
    """Say why no commit has the text of a section."""
    command = ["git", "-C", str(root), "rev-parse", "--is-shallow-repository"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "there is no git history here"
    if answer == "true":
        return "this clone holds no older commits; run `git fetch --unshallow` and ask again"
    return "no commit holds it, perhaps since it was never committed"


def report(found: list[Section], root: Path = ROOT) -> Iterator[str]:
    """Yield what is to be said of those of the sections that need a translator."""
    names = {s.page for s in found if s.stale}
    old: dict[str, dict] = {}
    for name in names:
        try:
            wanted = {s.recorded for s in found if s.stale and s.page == name}
            old[name] = earlier(name, wanted, root)
        except (OSError, subprocess.CalledProcessError):
            old[name] = {}
    for s in found:
        if s.recorded is None:
            yield (
                f"{s.file}:{s.line}: section {s.id!r} has no record of the English text it was "
                f"translated from; compare it with {s.english}, then run: {s.command}"
            )
        elif s.stale:
            yield (
                f"{s.file}:{s.line}: section {s.id!r} was translated from another English text; "
                f"bring it up to date with {s.english}, then run: {s.command}"
            )
            if s.recorded in old[s.page]:
                yield from difference(*old[s.page][s.recorded], s.source)
            else:
                yield f"  (the earlier English text can't be shown: {_without_history(root)})"


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument(
        "--done", nargs="+", metavar="LANG[/PAGE[#SECTION]]", help="record these as up to date"
    )
    a = cli.parse_args(argv)
    try:
        if a.done:
            count = len(done(a.done, root))
            what = f"{count} section{'s' * (count != 1)}"
            print(f"recorded {what} as up to date: {' '.join(a.done)}")
            return 0
        for lang, found in all_sections(root).items():
            for line in report(found, root):
                print(line)
            open_ = sum(s.stale or s.recorded is None for s in found)
            print(f"{lang}: {len(found) - open_} of {len(found)} sections are up to date")
    except (PageError, TranslationError) as error:
        print(error, file=sys.stderr)
        return 1
    except UnicodeDecodeError:
        print("\n".join(texts.faults(root)), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
