"""What MkDocs alone knows: the site's files, its address, and which page is being built."""

import os
import re
from dataclasses import dataclass, field
from functools import partial
from html import unescape
from pathlib import Path
from types import SimpleNamespace

from jinja2 import FileSystemBytecodeCache
from mkdocs.exceptions import BuildError
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File
from mkdocs.structure.pages import Page

from tools import front, llms, notebook_pages, offline, social
from tools import markdown as extensions
from tools.kept import Store
from tools.languages import ROOT, languages, words
from tools.markdown import PageFault
from tools.pages import PageError, front_matter
from tools.snippets import SNIPPETS

_CODE = re.compile(r"<pre>.*?</pre>", re.S)
_SPAN = re.compile(r"</?span[^>]*>")
_LEFT = re.compile(r"<p>(/{3,}[^<\n]*)")
_page = None  # the page that is being read, for the messages of its mistakes
_store = None  # what is kept of pages between builds
_faults = []  # of the notebooks
_pages = []  # all pages, in the order of the navigation


def on_config(config):
    """Give the language its address, its version if it has one, and its words."""
    lang, version = config.theme["language"], os.environ.get("SITE_VERSION", "")
    root = config.extra.get("site_root")
    if not re.match("https?://[^/]", str(root)):
        raise BuildError(
            f"mkdocs.yml: {root!r} is no address of a site; extra.site_root, or SITE_ROOT if it "
            "is set, must be like https://name.example/"
        )
    config.site_url = root.rstrip("/") + f"/{lang}/"
    if version:
        config.site_url += f"{version}/"
        config.extra["version"] = version
        # What search engines should know a page by: not one address for each version of it.
        config.extra["stable"] = "dev/" if version == "dev" else f"{front.LATEST}/"
        config.extra["offline"] = offline.name(lang, version)
        config.mdx_configs["tools.markdown.stale"]["version"] = version
    # Not a dict: in a template `words.copy` would be its method.
    config.extra["words"] = SimpleNamespace(**words(lang))
    config.extra["languages"] = {code: words(code)["language"] for code in languages()}
    return config


def on_files(files, config):
    """Add the programs, which the blocks of code link to; leave out what is not translated yet.

    A page that only English has is a fault of `make check`, and the other pages can be shown.
    """
    missing = config.extra["untranslated"] = untranslated()
    config.nav = without(config.nav, missing[config.theme["language"]])
    for program in sorted(SNIPPETS.rglob("*.py")):
        uri = program.relative_to(SNIPPETS.parent).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(program)))
    _faults[:] = notebook_pages.add(files, config)
    return files


def on_page_markdown(markdown, page, **_):
    """Remember the page; refuse front matter that MkDocs could not read and would print."""
    global _page
    if notebook_pages.is_notebook(page):
        return
    _page = page
    extensions.rendering = Path(page.file.abs_src_path)
    try:
        front_matter(page.file.content_string, where(page))
    except PageError as error:
        raise BuildError(str(error)) from error
    if markdown.startswith("---\n"):
        raise BuildError(f"{where(page)}:1: the lines between `---` are not YAML `key: value`")


def on_page_content(html, page, config, **_):
    """Forget the page; refuse a block that its extension left as text."""
    global _page
    _page = extensions.rendering = None
    if notebook_pages.is_notebook(page):
        return notebook_pages.content(page, config)
    if found := _LEFT.search(html):
        near = unescape(found[1])
        raise BuildError(
            f"{where(page)}{line(page, near)}: {near!r} was not understood; "
            "is the name of the block right, has it what it needs, is it closed by `///`?"
        )
    return html


@event_priority(50)
def _give_search_plain_code(context, page, config, **_):
    """Hide the marks of highlighting: reading them takes the search index half a page's time."""
    if not hasattr(page, "rendered"):  # a notebook: search finds its lesson
        return context
    page.whole = page.content
    page.before = len(_index(config))
    if page.rendered.search is not None:
        page.content = ""  # it is in the index by what was kept of it
        _index(config).extend(page.rendered.search)
        return context
    page.content = _CODE.sub(lambda code: _SPAN.sub("", code[0]), page.content)
    return context


@event_priority(-50)
def _take_whole_page(context, page, config, **_):
    """Show the page as it was; what was said to the search index alone goes."""
    if not hasattr(page, "rendered"):
        return context
    if page.rendered.search is None:
        page.rendered.search = _index(config)[page.before :]
        _store.keep(page)
    page.content = page.whole.replace(' data-search-exclude=""', "")
    return context


def _index(config) -> list[dict]:
    return config.plugins["material/search"].search_index.entries


on_page_context = CombinedEvent(_give_search_plain_code, _take_whole_page)


def on_build_error(error):
    """Say in which file and line the mistake is, as far as can be told."""
    if _page is None or isinstance(error, BuildError):
        return
    near = error.near if isinstance(error, PageFault) else None
    what = str(error) if near else f"{type(error).__name__}: {error}"
    raise BuildError(f"{where(_page)}{line(_page, near)}: {what}") from error


def on_nav(nav, config, files):
    """Remember the pages; let those that have not changed since the last build be taken from it."""
    global _store
    _pages[:] = nav.pages
    _store = Store(config, files)
    for page in nav.pages:
        page.render = partial(_store.render, page)


@event_priority(-100)  # the offline copy holds what the other plugins write
def on_post_build(config):
    """Write what people read with an assistant, the pictures of shared links, the offline copy."""
    llms.write(config, _pages)
    social.write(config, _pages)
    if archive := config.extra.get("offline"):
        offline.write(Path(config.site_dir), config.site_url, archive)


def on_env(env, **_):
    """Give the templates the course: all pages have been read by now, and had no fault."""
    if _faults:
        raise BuildError("\n".join(map(str, _faults)))
    compiled = ROOT / "build" / "cache" / "templates"
    compiled.mkdir(parents=True, exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(compiled))  # by the hash of their source
    env.globals["course"] = groups = course(_pages)
    env.globals["group_of"] = {p.file.src_uri: g for g in groups for p in (g.page, *g.beneath)}
    return env


def untranslated(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the pages that English has and another language has not, by language."""
    pages = {
        lang: {f.relative_to(root / "docs" / lang).as_posix() for f in _markdown(root, lang)}
        for lang in languages(root)
    }
    return {lang: pages["en"] - theirs for lang, theirs in pages.items()}


def _markdown(root: Path, lang: str):
    return (root / "docs" / lang).rglob("*.md")


def without(nav, missing: set[str]):
    """Return a navigation, as mkdocs.yml has it, without the `missing` pages."""
    if isinstance(nav, list):
        return [left for item in nav if (left := without(item, missing))]
    if isinstance(nav, dict):
        return {title: left for title, item in nav.items() if (left := without(item, missing))}
    return None if nav in missing else nav


@dataclass
class Group:
    """A page of the navigation, the number of its lesson, and the pages that belong to it."""

    page: Page
    number: int | None = None
    beneath: list[Page] = field(default_factory=list)


def course(pages: list[Page]) -> list[Group]:
    """Return `pages` in their order, each lesson with the pages that belong to it beneath.

    A lesson is a page that says how many `minutes` it takes; `amp-errors` belongs to `amp`.
    """
    groups: list[Group] = []
    for page in pages:
        name = page.file.src_uri.removesuffix(".md")
        lesson = next((g for g in reversed(groups) if g.number), None)
        of = lesson and lesson.page.file.src_uri.removesuffix(".md")
        if page.meta.get("minutes"):
            groups.append(Group(page, lesson.number + 1 if lesson else 1))
        elif lesson and name.startswith((f"{of}-", f"{of}/")):
            lesson.beneath.append(page)
        else:
            groups.append(Group(page))
    return groups


def where(page) -> str:
    """Return the page's file as a person would name it."""
    path = page.file.abs_src_path
    return path.removeprefix(f"{ROOT}/")


def line(page, near: str | None) -> str:
    """Return `:12` if `near` first stands in line 12 of the page's source, else nothing."""
    for number, text in enumerate(page.file.content_string.splitlines(), 1):
        if near and near in text:
            return f":{number}"
    return ""
