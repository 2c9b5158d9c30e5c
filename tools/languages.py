"""The languages of the site: a folder in locales/ each, English first."""

from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def languages(root: Path = ROOT) -> dict[str, Path]:
    """Return the MkDocs configuration of each language, by its code. English is the base."""
    others = sorted(root.glob("locales/*/mkdocs.yml"))
    return {"en": root / "mkdocs.yml"} | {path.parent.name: path for path in others}


def words(lang: str, root: Path = ROOT) -> dict[str, str]:
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
def _words(file: Path, _mtime: int) -> dict[str, str]:
    shown = f"locales/{file.parent.name}/{file.name}"
    try:
        found = yaml.safe_load(file.read_text("utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise ValueError(f"{shown}{line}: not YAML ({getattr(error, 'problem', error)})") from error
    if not isinstance(found, dict) or not all(isinstance(w, str) for w in found.values()):
        raise ValueError(f"{shown}: each line must be `key: words` (quote words like on, yes, 1.5)")
    return found
