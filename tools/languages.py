"""The languages of the site: a folder in locales/ each, English first."""

import difflib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tools import texts, yaml_files

ROOT = Path(__file__).resolve().parents[1]


def languages(root: Path = ROOT) -> dict[str, Path]:
    """Return the MkDocs configuration of each language, by its code. English is the base."""
    others = sorted(root.glob("locales/*/mkdocs.yml"))
    return {"en": root / "mkdocs.yml"} | {path.parent.name: path for path in others}


#: Words that were asked for, and what they were: by language and key.
Asked = dict[tuple[str, str], str]
_asked: Asked | None = None


class Words(Mapping):
    """The words of a language. Whoever asks for one is noted, if `asking` wants to know."""

    def __init__(self, lang: str, words: dict[str, str]):
        self.lang, self._words = lang, words

    def __getitem__(self, key: str) -> str:
        word = self._words[key]
        note(self.lang, key, word)
        return word

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


@contextmanager
def asking() -> Iterator[Asked]:
    """Give the words that are asked for in the block."""
    global _asked
    before, _asked = _asked, {}
    try:
        yield _asked
    finally:
        _asked = before


def note(lang: str, key: str, word: str) -> None:
    """Note that a word was asked for, if `asking` wants to know."""
    if _asked is not None:
        _asked[lang, key] = word


def are_still(asked: Asked, root: Path = ROOT) -> bool:
    """Say whether the words that were asked for are still what they were."""
    from tools.figures.words import of_figure

    def now(lang: str, key: str) -> str | None:
        figure = key.partition("figure ")[2]
        return of_figure(figure, lang, root / "locales") if figure else words(lang, root).get(key)

    return all(now(*name) == word for name, word in asked.items())


def words(lang: str, root: Path = ROOT) -> Words:
    """Return the words of locales/<lang>/messages.yml.

    Raises ValueError, with the file and where it can be told the line, for a file that is missing,
    is not YAML or holds anything but words.
    """
    file = root / "locales" / lang / "messages.yml"
    try:
        return _words(file, file.stat().st_mtime_ns)
    except FileNotFoundError as error:
        raise ValueError(
            f"locales/{lang}/messages.yml: no such file; copy the English one"
        ) from error


@cache  # every block of code of a page asks; an edit gives a new time and so is read again
def _words(file: Path, _mtime: int) -> Words:
    shown = f"locales/{file.parent.name}/{file.name}"
    found = yaml_files.load(file.read_text("utf-8"), shown)
    if not isinstance(found, dict) or not all(isinstance(w, str) for w in found.values()):
        raise ValueError(f"{shown}: each line must be `key: words` (quote words like on, yes, 1.5)")
    return Words(file.parent.name, found)


def faults(root: Path = ROOT) -> list[str]:
    """Return what is wrong with the words of any language, each fault once, with file and line.

    A source that is not UTF-8, words or not, is told alone: nothing else can be read.
    Every language has the keys of English, each with the same places to fill (``{n}``).
    """
    if found := texts.faults(root):
        return found
    for lang in languages(root):
        settings = "mkdocs.yml" if lang == "en" else f"locales/{lang}/mkdocs.yml"
        with _collecting(found):
            yaml_files.check((root / settings).read_text("utf-8"), settings)
        with _collecting(found):
            words(lang, root)
        for name in ("messages.yml", "figures.yml"):
            with _collecting(found):
                found += _unlike(lang, name, root)
    return list(dict.fromkeys(found))


@contextmanager
def _collecting(found: list[str]) -> Iterator[None]:
    """Add to `found` what stops the block; whoever needs a missing file says so."""
    try:
        yield
    except FileNotFoundError:
        pass
    except ValueError as error:
        found.append(str(error))


def _leaves(lang: str, name: str, root: Path) -> dict[str, str]:
    """Return the words of a file by their keys; `loop.title` stands for a key within a key."""

    def walk(value: object, key: str) -> Iterator[tuple[str, str]]:
        if isinstance(value, dict):
            for inner, more in value.items():
                yield from walk(more, f"{key}.{inner}" if key else str(inner))
        else:
            yield key, str(value)

    text = (root / "locales" / lang / name).read_text("utf-8")
    return dict(walk(yaml_files.load(text, f"locales/{lang}/{name}"), ""))


def _unlike(lang: str, name: str, root: Path) -> Iterator[str]:
    """Yield how the keys of a file, and the places to fill in its words, differ from English."""
    english, ours = _leaves("en", name, root), _leaves(lang, name, root)
    shown = f"locales/{lang}/{name}"
    text = (root / shown).read_text("utf-8").splitlines()
    for key in [k for k in english if k not in ours]:
        near = difflib.get_close_matches(key, ours.keys() - english.keys(), 1)
        cure = f"is {near[0]!r} meant?" if near else "add it"
        yield f"{shown}: {key!r} is missing (English has it); {cure}"
    for key in [k for k in ours if k not in english]:
        yield f"{shown}{_line(text, key)}: {key!r} is not in English; remove it, or mend its name"
    for key in [k for k in ours if k in english]:
        wanted, have = (set(re.findall(r"{\w*}", words[key])) for words in (english, ours))
        if wanted != have:
            places = ", ".join(sorted(wanted)) or "no {…}"
            yield f"{shown}{_line(text, key)}: {key!r} has not the places of English; use {places}"


def _line(text: list[str], key: str) -> str:
    """Return `:12` if the key stands in line 12 of the text."""
    at = 0
    for depth, part in enumerate(key.split(".")):
        start = re.compile(rf"{'  ' * depth}{re.escape(part)} *:")
        at = next((n for n, line in enumerate(text[at:], at + 1) if start.match(line)), 0)
    return f":{at}" if at else ""
