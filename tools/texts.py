"""Which sources are no UTF-8 text. Whatever reads them would not say which file it was."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("docs", "locales", "snippets", "theme", "tests/pages", "mkdocs.yml")
KINDS = {".css", ".html", ".js", ".md", ".out", ".py", ".xml", ".yml"}


def not_utf8(root: Path = ROOT) -> list[tuple[str, int]]:
    """Return the files that are not UTF-8, each with the line of the first byte that is not."""
    found = []
    for top in SOURCES:
        for file in sorted([root / top, *(root / top).rglob("*")]):
            if file.suffix in KINDS and file.is_file():
                content = file.read_bytes()
                try:
                    content.decode("utf-8")
                except UnicodeDecodeError as error:
                    line = content.count(b"\n", 0, error.start) + 1
                    found.append((file.relative_to(root).as_posix(), line))
    return found


def faults(root: Path = ROOT) -> list[str]:
    """Return what to say of them."""
    return [f"{file}:{line}: not UTF-8; save it as UTF-8" for file, line in not_utf8(root)]
