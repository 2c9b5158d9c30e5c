"""Rendered pages, kept from one build to the next in build/cache/pages/<lang>/.

A kept page counts only if everything that it was made from is as it was: its own text; the code of
tools/, the packages and the settings; the records of the runs; which pages and files of words there
are; the words that were asked for, and every file of the repository that was opened, while it was
rendered, with the names that stand beside it. What was rendered with a warning is not kept, so each
build gives it again. What is published is rendered anew.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import pickle
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mkdocs.structure.pages import Page

from tools import llms, sealed
from tools.languages import ROOT, Asked, are_still, asking
from tools.sealed import digest

_FOLDER = ROOT / "build" / "cache" / "pages"
_PACKAGES = ("markdown", "mkdocs", "mkdocs-material", "pygments", "pymdown-extensions", "pyyaml")
#: What is not opened for a page, but by Python itself, and what the build writes.
_NOT_READ = ("tools", "build", "site", ".venv", ".git")
#: A file that is changed this shortly before it is read may be changed again at the same time.
_SLACK = 20_000_000  # nanoseconds

_opened: set[str] | None = None


def _see(event: str, arguments: tuple) -> None:
    """Note the files that are opened, whoever opens them."""
    if _opened is not None and event == "open" and isinstance(arguments[0], str):
        _opened.add(arguments[0])


sys.addaudithook(_see)


@contextmanager
def opening() -> Iterator[set[str]]:
    """Give the names of the files that are opened in the block."""
    global _opened
    _opened = opened = set()
    try:
        yield opened
    finally:
        _opened = None


def _content(path: Path) -> bytes:
    """Return the content of a file, or that there is none."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return b"(none)"


def _code() -> list[Path]:
    return sorted((ROOT / "tools").rglob("*.py"))


def _fingerprint(paths: list[Path]) -> str:
    return digest(part for path in paths for part in (path.relative_to(ROOT), _content(path)))


#: The code as it was when this process began to load it.
_LOADED = _fingerprint(_code())


@dataclass
class Rendered:
    """What MkDocs makes of a page's Markdown, the page as Markdown, and its part of the search."""

    content: str
    toc: object
    title: str | None
    ids: set[str]
    links: dict[str, dict[str, str]]
    copy: str
    search: list[dict] | None = None


@dataclass
class _Entry:
    """A page as it is kept: what it was made from and what came of it."""

    text: str
    read: dict[str, str]
    asked: Asked
    rendered: Rendered


def _names(folder: Path) -> list[str]:
    """Return which files there are: to look whether a file is there is not to open it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def _folder(path: Path) -> str:
    """Return the hash of the names in a folder."""
    names = os.listdir(path) if path.is_dir() else ["(none)"]
    return digest(sorted(name for name in names if not name.startswith(("__", "."))))


def read(opened: Iterable[str], root: Path = ROOT) -> list[str]:
    """Return the files of the repository, relative to it, that are among those that were opened."""
    paths = {Path(os.path.abspath(name)) for name in opened}
    names = {path.relative_to(root) for path in paths if path.is_relative_to(root)}
    return sorted(str(name) for name in names if name.parts[0] not in _NOT_READ)


def changed(paths: Iterable[Path], since: int) -> bool:
    """Say whether a file was changed since a time: what was read may be what it was before."""
    return any(path.exists() and path.stat().st_mtime_ns > since - _SLACK for path in paths)


def states(names: Iterable[str], known: dict[Path, str], root: Path = ROOT) -> dict[str, str]:
    """Return, for the files `names` of the repository, the hash of each and of what is beside it.

    What is `known` of files and folders is not looked at again.
    """
    found = {}
    for name in names:
        file = root / name
        if file.parent not in known:
            known[file.parent] = _folder(file.parent)
        if file not in known:
            known[file] = digest([_content(file)])
        found[name] = known[file] + known[file.parent]
    return found


@contextmanager
def _warnings() -> Iterator[list[logging.LogRecord]]:
    """Give the warnings of MkDocs as they come."""
    found: list[logging.LogRecord] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = found.append
    log = logging.getLogger("mkdocs")
    log.addHandler(handler)
    try:
        yield found
    finally:
        log.removeHandler(handler)


class Store:
    """The kept pages of the language that `config` builds; `files` are all files of its site."""

    def __init__(self, config, files):
        lang = config.theme["language"]
        self.start = time.time_ns()
        self.folder = _FOLDER / lang
        self.known: dict[Path, str] = {}  # files and folders as this build has found them
        records = ROOT / "build" / "verification"
        self.inputs = [
            *_code(),
            ROOT / "pyproject.toml",
            *sorted(records.glob("*") if records.is_dir() else []),
        ]
        settings = (config.markdown_extensions, config.mdx_configs, config.validation)
        self.base = digest(
            [
                _fingerprint(self.inputs),
                sys.version,
                *map(importlib.metadata.version, _PACKAGES),
                *map(repr, settings),
                config.use_directory_urls,
                *sorted(f"{file.src_uri} {file.url}" for file in files),
                *_names(ROOT / "docs" / "en"),
                *_names(ROOT / "locales" / lang),
            ]
        )
        # Of a version that is published nothing is taken from here.
        self.kept = not config.extra.get("version")

    def render(self, page: Page, config, files) -> None:
        """Render a page as `Page.render` does, unless it is kept."""
        rendered = self._find(page) if self.kept else None
        if rendered is None:
            rendered = self._render(page, config, files)
        page.rendered = rendered
        page.content, page.toc = rendered.content, rendered.toc
        page._title_from_render, page.present_anchor_ids = rendered.title, rendered.ids
        page.links_to_anchors = {
            files.get_file_from_path(uri): links for uri, links in rendered.links.items()
        }

    def keep(self, page: Page) -> None:
        """Write down a page that was rendered in this build, if nothing speaks against it."""
        entry = getattr(page, "entry", None)
        if entry is None or _fingerprint(_code()) != _LOADED:
            return
        # Words that are edited meanwhile are read again, so their file is among those.
        if changed([*self.inputs, *(ROOT / name for name in entry.read)], self.start):
            return
        sealed.write(self._file(page), self.base.encode() + pickle.dumps(entry))

    def _file(self, page: Page) -> Path:
        return self.folder / f"{page.file.src_uri}.pickle"

    def _find(self, page: Page) -> Rendered | None:
        # Another code may have written it: before anything is read of it, this must be right.
        content = sealed.read(self._file(page))
        if content is None or content[:64] != self.base.encode():
            return None
        entry = pickle.loads(content[64:])
        if entry.text != page.file.content_string or not are_still(entry.asked):
            return None
        return entry.rendered if states(entry.read, self.known) == entry.read else None

    def _render(self, page: Page, config, files) -> Rendered:
        with _warnings() as warned, asking() as asked, opening() as opened:
            Page.render(page, config, files)
            markdown = llms.whole(page, config)
        rendered = Rendered(
            page.content,
            page.toc,
            page._title_from_render,
            page.present_anchor_ids,
            {file.src_uri: links for file, links in (page.links_to_anchors or {}).items()},
            markdown,
        )
        if self.kept and not warned:
            page.entry = _Entry(page.file.content_string, states(read(opened), {}), asked, rendered)
            self.keep(page)
        return rendered
