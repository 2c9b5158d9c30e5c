"""A translation beside the English page, and the record of what it was made from."""

from __future__ import annotations

from pathlib import Path

from tools import translations
from tools.checks.fault import Fault, listed, told
from tools.checks.page import check_references, titles
from tools.checks.wording import check_glossary, check_typography, load_glossary
from tools.pages import ROOT, Page, Section
from tools.translations import TranslationError

UNTRANSLATED = "no such page"


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
    heads = [Section(None, titles(p)) for p in (english, page)]
    found += _section_faults(english, heads[0], page, heads[1])
    for section in english.sections:
        if section.id in by_id:
            found += _section_faults(english, section, page, by_id[section.id])
    return found


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
            f"shows {listed(ours.embeds)}, in English {listed(theirs.embeds)}",
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
            found.append(told(error))
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
