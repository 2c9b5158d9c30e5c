"""One thing that a check has found."""

from __future__ import annotations

from dataclasses import dataclass

from tools.pages import PageError
from tools.translations import TranslationError
from tools.yaml_files import YamlError


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong, where, and what to do about it."""

    file: str
    line: int
    message: str
    cure: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}; {self.cure}"


def told(error: PageError | TranslationError | YamlError) -> Fault:
    """The fault that the text of `error` tells."""
    file, line, rest = str(error).split(":", 2)
    return Fault(file, int(line), *rest.strip().rsplit("; ", 1))


def listed(embeds: list[str]) -> str:
    """The paths that a page embeds, in words."""
    return ", ".join(embeds) or "nothing"
