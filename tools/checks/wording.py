"""The words of a page: those of the glossary, and the typographic rules of its language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tools import yaml_files
from tools.checks.fault import Fault, told
from tools.checks.page import titles
from tools.pages import CODE, ROOT, Page, Section
from tools.yaml_files import YamlError


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
        return [], [told(error)]
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
            for section in [Section(None, titles(page)), *page.sections]:
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
    for line, text in titles(page) + [item for s in page.sections for item in s.prose]:
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
