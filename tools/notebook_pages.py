"""The notebooks as pages of the site: mkdocs-jupyter renders them, in the site's own markup.

    amp.md    is the lesson at <lang>/amp/,
              its notebook is a page at <lang>/amp/notebook/, and <lang>/amp/notebook/amp.ipynb

mkdocs-jupyter and what it stands on take a second to start and a part of one for each notebook. So
what was woven and rendered is kept in build/notebooks/pages/, and a build that finds all of them
there starts none of it. A kept one counts as a kept page does (tools/kept.py). The words in the
frame of a cell are put in when the page is built.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from html import escape, unescape
from importlib import metadata
from itertools import zip_longest
from pathlib import Path

import yaml

from tools import notebooks, pages
from tools.figures import FigureError
from tools.kept import changed, opening, read, states
from tools.languages import ROOT, are_still, asking, words
from tools.notebooks import NotebookError
from tools.pages import PageError
from tools.sealed import digest
from tools.snippets import SnippetError

#: Where woven and rendered notebooks are kept, and how many of one page and language.
KEPT, MOST = f"{notebooks.RUNS}/pages", 6
#: Only repositories there can be opened in Colab.
_GITHUB = "https://github.com/"
_COLAB = "https://colab.research.google.com/github/"
_BRANCH = "gh-pages"

_SHOWS = re.compile(r'^[ \t]*-+8<-+[ \t]+"[^":]+\.py[:"]', re.M)
_FIGURE = re.compile(r"!\[[^\]]*\]\(attachment:([\w-]+)\.svg\)")
_ANCHORED = re.compile(
    r'(?:<p>)?<a id="(?P<id>[^"]+)"></a>(?:</p>)?\s*<h(?P<level>\d)(?: id="[^"]*")?>(?P<title>.*?)'
    r'(?:<a class="anchor-link"[^>]*>[^<]*</a>)?</h(?P=level)>',
    re.S,
)
_PLACE = re.compile("\ue000(?P<key>\\w+) (?P<n>\\d*)\ue001")
_BLOCK = re.compile(r"<pre><code>(.*?)</code></pre>", re.S)
_IDS = re.compile(r'\sid="([^"]*)"')
_USED = re.compile(r'(?:href="#|url\(#)([\w.-]+)')


@dataclass(frozen=True)
class Made:
    """A notebook: the page's title, what must be installed, its text, and rendered: the HTML, with
    absolute links, the headings, how its outputs stand.
    """

    title: str
    needs: list[str]
    text: str
    html: str
    headings: list[list]
    state: str
    asked: list[list[str]]  # language, key and word, of each word
    read: dict[str, str]  # the files, as kept.states has them


def has_notebook(text: str, name: str) -> bool:
    """Say whether the page with this text has a notebook, as notebooks.has_notebook does."""
    return name != "index" and bool(_SHOWS.search(text))


def made(file: Path, address: str, root: Path = ROOT, anew: bool = False) -> Made:
    """Return the notebook of the page in `file`, woven and rendered, or if not `anew` as kept.

    `address` is where its language is published. Raises NotebookError, SnippetError, FigureError,
    PageError.
    """
    lang = file.relative_to(root / "docs").parts[0]
    name = file.relative_to(root / "docs" / lang).with_suffix("").as_posix()
    stem = f"{lang}-{name.replace('/', '-')}"
    kept = root / KEPT / f"{stem}-{_key(lang, name, address, root)}.json"
    if not anew and kept.is_file():
        with contextlib.suppress(ValueError, TypeError):  # not all of it: it is made again
            one = Made(**json.loads(kept.read_text("utf-8")))
            asked = {(of, key): word for of, key, word in one.asked}
            if are_still(asked, root) and states(one.read, {}, root) == one.read:
                return one
    start = time.time_ns()
    with asking() as asked, opening() as opened:
        page = pages.load(file, root)
        text = notebooks.weave(page, root, address)
        needs = notebooks.requirements(page, root)
        rendered = render(text, lang, address, root)
    names = read(opened, root)
    fresh = Made(
        str(page.meta["title"]),
        needs,
        text,
        *rendered,
        [[*of, word] for of, word in asked.items()],
        states(names, {}, root),
    )
    if changed([root / name for name in names], start):
        return fresh
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False, encoding="utf-8") as new:
        json.dump(asdict(fresh), new, ensure_ascii=False)
    Path(new.name).replace(kept)
    older = sorted(kept.parent.glob(f"{stem}-*.json"), key=lambda f: f.stat().st_mtime_ns)
    for one in older[:-MOST]:
        if re.fullmatch(rf"{stem}-[0-9a-f]{{32}}", one.stem):
            one.unlink(missing_ok=True)
    return fresh


def _key(lang: str, name: str, address: str, root: Path) -> str:
    """Return the hash of what a notebook is made from, beside the files of the repository."""
    runs = sorted((root / notebooks.RUNS).glob(f"{name.replace('/', '-')}-*.ipynb"))
    # The newest of earlier runs is the one that is shown.
    known = [(run.name, run.stat().st_mtime_ns, run.read_bytes()) for run in runs]
    return digest([lang, name, address, _software(root), *known])[:32]


@lru_cache(1)  # a server starts new processes when the code changes
def _software(root: Path) -> str:
    """Return the hash of the code that makes the pages, and its versions."""
    hashed = hashlib.sha256()
    for file in sorted((root / "tools").rglob("*")):
        if file.suffix in (".py", ".j2"):
            hashed.update(file.read_bytes())
    names = ("mkdocs-jupyter", "nbconvert", "nbformat", "jupytext", "mistune", "pygments")
    return hashed.hexdigest() + " ".join(map(metadata.version, names))


# --- rendering -----------------------------------------------------------------------------------


@lru_cache(1)
def _exporter():
    """Return mkdocs-jupyter's exporter with the template of this site, made once a process."""
    from ipython_pygments_lexers import IPython3Lexer
    from mkdocs_jupyter import convert  # its headings, too
    from mkdocs_jupyter.config import settings
    from nbconvert.exporters import HTMLExporter, TemplateExporter
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    from tools.markdown.highlight import plain

    lexer, formatter = IPython3Lexer(), HtmlFormatter(nowrap=True)

    @lru_cache(2000)  # the same in every language
    def colored(source: str) -> str:
        lines = plain(highlight(source, lexer, formatter))
        return f'<div class="highlight"><pre><code>{lines}</code></pre></div>'

    class Exporter(HTMLExporter):
        """HTMLExporter, which would read all that it has written once more, to mark it up."""

        def from_notebook_node(self, nb, resources=None, **options):
            self.register_filter("highlight_code", lambda source, **_: colored(source))
            return TemplateExporter.from_notebook_node(self, nb, resources, **options)

    config = convert.get_nbconvert_app(no_prompt=True).config
    config["CSSHTMLHeaderPreprocessor"]["enabled"] = False  # half a megabyte, for each page
    return Exporter(
        config=config,
        optimistic_validation=True,  # once, not after each of the steps
        template_file="notebook.html.j2",
        extra_template_paths=[str(Path(__file__).parent), settings.templates_dir],
    )


def render(text: str, lang: str, address: str, root: Path = ROOT) -> tuple[str, list, str]:
    """Return a notebook's HTML, its headings as (level, id, title), how its outputs stand."""
    import nbformat

    notebook = nbformat.reads(text, as_version=4)
    figures, number = [], 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            figures += _FIGURE.findall(cell.source)
            # The pages draw figures in their own colors: an attachment can't.
            cell.source = _FIGURE.sub(r'<div data-figure="\1"></div>', cell.source)
            cell.pop("attachments", None)
            continue
        number += 1
        svgs = [
            o.data["image/svg+xml"] for o in cell.outputs if "image/svg+xml" in o.get("data", {})
        ]
        # That a file was written goes without saying.
        said = [] if cell.source.startswith("%%writefile") else map(_said, cell.outputs)
        cell.metadata |= {
            "number": number,
            "said": "\n".join(filter(None, said)),
            "plots": [own_ids(svg, f"plot-{number}-{n}") for n, svg in enumerate(svgs)],
        }
    site = {"say": _place, "programs": f"{address}snippets/"}
    html = _exporter().from_notebook_node(notebook, resources={"site": site})[0]
    for name in figures:
        svg = notebooks.drawing(name, lang, root)[2]
        html = re.sub(
            rf'<div data-figure="{name}"></div>\s*<p>(.*?)</p>',
            lambda caption, svg=svg, name=name: (
                f'<figure class="figure" id="figure-{name}">{svg}'
                f"<figcaption><p>{caption[1]}</p></figcaption></figure>"
            ),
            html,
            count=1,
            flags=re.S,
        )
    headings: list[list] = []

    def heading(found: re.Match) -> str:
        level, place, title = int(found["level"]), found["id"], found["title"]
        headings.append([level, place, unescape(re.sub(r"<[^>]+>", "", title))])
        link = f'<a class="headerlink" href="#{place}">¶</a>'
        return f'<h{level} id="{place}">{title}{link}</h{level}>'

    html = _ANCHORED.sub(heading, html)
    # Blocks within the prose: commands, differences.
    html = re.sub(
        r'<div class="highlight"><pre>(?!<code>)(?:<span></span>)?(.*?)</pre></div>',
        r'<div class="highlight"><pre><code>\1</code></pre></div>',
        html,
        flags=re.S,
    )
    return html.strip() + "\n", headings, notebook.metadata.lesson.outputs


def _place(key: str, n: object = "") -> str:
    """Return what stands for a word until `content` puts it in, with `n` where the word has {n}."""
    return f"\ue000{key} {n}\ue001"


def _said(output) -> str:
    """Return what an output says in words."""
    if output.output_type == "stream":
        return output.text.rstrip("\n")
    if output.output_type == "error":
        return "\n".join(output.traceback).rstrip("\n")
    data = output.get("data", {})
    return "" if "image/svg+xml" in data else data.get("text/plain", "").rstrip("\n")


def own_ids(svg: str, name: str) -> str:
    """Return an SVG with no ids but those that it uses itself, which begin with `name`."""
    used = set(_USED.findall(svg))
    svg = _IDS.sub(lambda id: f' id="{name}-{id[1]}"' if id[1] in used else "", svg)
    svg = _USED.sub(lambda use: use[0].removesuffix(use[1]) + f"{name}-{use[1]}", svg)
    return re.sub(r"\s*\n\s*", "", svg)


# --- in the site ---------------------------------------------------------------------------------


def colab(repository: str, lang: str, version: str, name: str) -> str | None:
    """Return the address at which Colab opens the published notebook of a page, if it can."""
    if not repository.startswith(_GITHUB):
        return None
    file = f"{lang}/{version or 'latest'}/{name}/notebook/{Path(name).name}.ipynb"
    return f"{_COLAB}{repository.removeprefix(_GITHUB).strip('/')}/blob/{_BRANCH}/{file}"


def add(files, config, root: Path = ROOT) -> list[Exception]:
    """Add to MkDocs's `files` a page and a download for each page that has a notebook.

    Return the errors of those that can't be made: most are mistakes of the lesson's own page, of
    which its build tells first.
    """
    from mkdocs.structure.files import File, InclusionLevel

    lang, word, errors = config.theme["language"], words(config.theme["language"], root), []
    for file in list(files.documentation_pages()):
        name = file.src_uri.removesuffix(".md")
        if file.abs_src_path is None or not has_notebook(file.content_string, name):
            continue
        try:
            # Of a version that is published nothing is taken from earlier builds.
            anew = bool(config.extra.get("version"))
            one = made(Path(file.abs_src_path), config.site_url, root, anew)
        except (NotebookError, SnippetError, FigureError, PageError) as error:
            errors.append(error)
            continue
        short, version = Path(name).name, config.extra.get("version", "")
        head = {
            "title": word["notebook_title"].replace("{title}", one.title),
            "description": word["notebook_description"].replace("{title}", one.title),
            "search": {"exclude": True},  # the lesson says the same
            "notebook": {
                "source": file.src_uri,
                "lesson": f"{name}/",
                "file": f"{short}.ipynb",
                "colab": colab(config.extra.get("repository") or "", lang, version, name),
                "install": " ".join(["pip install jupyterlab", *(f'"{n}"' for n in one.needs)]),
            },
        }
        front = f"---\n{yaml.safe_dump(head, allow_unicode=True, sort_keys=False)}---\n"
        # Not in the navigation: the lesson leads to it.
        shown = File.generated(
            config, f"{name}/notebook.md", content=front, inclusion=InclusionLevel.NOT_IN_NAV
        )
        shown.notebook = one
        files.append(shown)
        files.append(File.generated(config, f"{name}/notebook/{short}.ipynb", content=one.text))
        config.extra.setdefault("notebooks", {})[file.src_uri] = f"{name}/notebook/"
    return errors


def content(page, config) -> str:
    """Return the HTML of a notebook's page, and give the page its contents."""
    from mkdocs.structure.toc import get_toc
    from mkdocs.utils import get_relative_url

    one, tokens, open_ = page.file.notebook, [], []
    for level, place, title in one.headings:
        token = {"level": level, "id": place, "name": escape(title), "children": []}
        while open_ and open_[-1]["level"] >= level:
            open_.pop()
        (open_[-1]["children"] if open_ else tokens).append(token)
        open_.append(token)
    page.toc = get_toc(tokens)

    def relative(link: re.Match) -> str:
        return f'{link[1]}="{get_relative_url(link[2] or ".", page.url)}"'

    word = words(config.theme["language"])

    def say(place: re.Match) -> str:
        return word[place["key"]].replace("{n}", place["n"])

    to_here = escape(config.mdx_configs["toc"]["permalink_title"])
    html = _PLACE.sub(say, one.html)
    html = html.replace('<a class="headerlink"', f'<a class="headerlink" title="{to_here}"')
    return re.sub(rf'\b(href|src)="{re.escape(config.site_url)}([^"]*)"', relative, html)


def is_notebook(page) -> bool:
    """Say whether a page of MkDocs is the page of a notebook."""
    return hasattr(page.file, "notebook")


# --- what is published ---------------------------------------------------------------------------


def check(site: Path, places: list[str], root: Path = ROOT, run: bool = True) -> Iterator[str]:
    """Yield what is wrong with the notebooks of the built `site`, each ``file:line: what; cure``.

    `places` are the addresses that a language may have been built for, with `{lang}` for its code.
    With `run`, each notebook must also show the outputs of a run of its code as it is now.
    """
    again = "build the site again"
    for lang, theirs in notebooks.all_pages(root).items():
        for name, page in theirs.items():
            folder, shown = site / lang / name / "notebook", f"{page.file}:1: its notebook"
            file, html = folder / f"{Path(name).name}.ipynb", folder / "index.html"
            if not (file.is_file() and html.is_file()):
                yield f"{shown} was not built; {again}"
                continue
            text = file.read_text("utf-8", "replace")
            addresses = [place.format(lang=lang) for place in places]
            here = next((a for a in addresses if f"({a}{name}/)" in text), addresses[0])
            try:
                fresh = made(root / page.file, here, root)
            except (NotebookError, SnippetError, FigureError) as error:
                yield str(error)
                continue
            if how := _unlike(text, fresh.text):
                yield f"{shown} is not woven from the page as it is now ({how}); {again}"
            elif _blocks(html.read_text("utf-8")) != _blocks(fresh.html):
                yield f"{shown} has other blocks than its page on the site; {again}"
            elif run and fresh.state != notebooks.CURRENT:
                yield f"{shown} has no run of its code as it is now; run: make notebooks, {again}"


def _unlike(text: str, fresh: str) -> str | None:
    """Return how the text of a notebook is not the fresh one; None if it is."""
    if text == fresh:
        return None
    try:
        there, wanted = (json.loads(t)["cells"] for t in (text, fresh))
        for one, other in zip_longest(there, wanted, fillvalue={}):
            if one != other:
                return f"cell {(other or one)['id']}"
    except (ValueError, KeyError, TypeError):
        return "it is no notebook"
    return "its metadata"


def _blocks(html: str) -> list[str]:
    """Return the text of each block of code of a page."""
    return [unescape(re.sub(r"<[^>]+>", "", text)) for text in _BLOCK.findall(html)]
