"""The words and the way of writing numbers of a language, from ``locales/<lang>/figures.yml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tools import yaml_files

from .svg import FigureError

_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_NUMBERS = ("decimal", "group", "percent")


@cache  # each figure of a page asks; an edit gives a new time and so is read again
def _load(path: Path, _mtime: int) -> object:
    return yaml_files.load(path.read_text("utf-8"), f"locales/{path.parent.name}/{path.name}")


def of_figure(figure: str, lang: str, locales: Path) -> str | None:
    """Return all that a figure may ask of the words of a language; None where it is not there."""
    try:
        words = Words(figure, lang, locales)
    except FigureError:
        return None
    return repr([words.words, words.decimal, words.group, words.percents])


class Words:
    """The words of one figure in one language.

    Raises FigureError, naming the file and the key, where a word or its value is missing.
    """

    def __init__(self, figure: str, lang: str, locales: Path):
        self.file = f"locales/{lang}/figures.yml"
        path = Path(locales) / lang / "figures.yml"
        try:
            data = _load(path, path.stat().st_mtime_ns)
        except FileNotFoundError as error:
            raise FigureError(
                f"{self.file} is missing; copy locales/en/figures.yml and translate it"
            ) from error
        except yaml_files.YamlError as error:
            raise FigureError(str(error)) from error
        self.figure = figure
        self.words = self._table(data, figure)
        numbers = self._table(data, "numbers")
        for key in _NUMBERS:
            if key not in numbers:
                raise FigureError(f"{self.file}: numbers.{key} is missing; add it")
        self.decimal, self.group, self.percents = (str(numbers[key]) for key in _NUMBERS)

    def _table(self, data: object, key: str) -> dict:
        table = data.get(key) if isinstance(data, dict) else None
        if not isinstance(table, dict):
            raise FigureError(f"{self.file}: {key} is missing; add it, with the keys of English")
        return table

    def __call__(self, key: str, **values: str) -> str:
        """Return the word `key` with `values` put into it."""
        word = self.words.get(key)
        if not isinstance(word, str) or not word:
            raise FigureError(f"{self.file}: {self.figure}.{key} is missing; add it")
        try:
            return word.format(**values).strip()
        except (KeyError, IndexError, ValueError) as error:
            raise FigureError(
                f"{self.file}: {self.figure}.{key} asks for {error}; it may use "
                + (", ".join(f"{{{name}}}" for name in values) or "no {…} at all")
            ) from error

    def number(self, value: float, digits: int = 0, *, sign: bool = False) -> str:
        """Write `value` with `digits` decimals and with thousands set apart; `sign`: + as well."""
        text = f"{value:{'+' if sign else ''},.{digits}f}".replace("-", "−")
        return text.translate({ord(","): self.group, ord("."): self.decimal})

    def percent(self, value: float, digits: int = 1, *, sign: bool = False) -> str:
        """Write `value`, a number of percent."""
        return self.percents.format(self.number(value, digits, sign=sign))

    def printed(self, text: str) -> str:
        """Write a number as Python printed it, with the same digits: 3.40e+38 is 3.40 × 10³⁸."""
        digits, _, exponent = text.partition("e")
        whole, _, decimals = digits.partition(".")
        written = self.number(int(whole)) + (self.decimal + decimals if decimals else "")
        return f"{written}\u00a0×\u00a0{power(10, int(exponent))}" if exponent else written


def power(base: int, exponent: int) -> str:
    """Write a power: 2⁻²⁴."""
    return f"{base}{str(exponent).translate(_SUPERSCRIPT)}"
