"""What people read with an assistant: each page as Markdown, and llms.txt, which lists them.

A page at `<lang>/amp/` has its Markdown at `<lang>/amp/index.md`, with the code of the snippets in
it and full addresses in its links.
"""

import re
from pathlib import Path

import markdown
import yaml

from tools import differences
from tools.languages import words

_EXTENSION = "pymdownx.snippets"
_DIFFERENCE = re.compile(
    r"^(?P<indent>[ \t]*)/// *difference *\|(?P<argument>.*)\n"
    r"(?P<caption>(?:.*\n)*?)[ \t]*///[ \t]*$",
    re.M,
)
_LINK = re.compile(r"(?<!!)(\]\()([\w./-]+\.md)(#[\w-]+)?(?=[)\s])")


def expand(text: str, options: dict) -> str:
    """Return a page's Markdown with its includes in place; `options` are those of the snippets."""
    reader = markdown.Markdown(extensions=[_EXTENSION], extension_configs={_EXTENSION: options})
    return "\n".join(reader.preprocessors["snippet"].run(text.split("\n")))


def compare(text: str, root: Path, word: dict[str, str]) -> str:
    """Return a page's Markdown with each difference of two programs below `root` in place."""

    def fence(block: re.Match) -> str:
        old, new = differences.sides(block["argument"])
        lines = differences.lines(differences.between(old, new, root), word)
        whole = ["```diff", f"--- {old}", f"+++ {new}", *lines, "```", ""]
        return (
            "\n".join(block["indent"] + line for line in whole) + f"\n{block['caption'].rstrip()}"
        )

    return _DIFFERENCE.sub(fence, text)


def whole(page, config) -> str:
    """Return the Markdown of a page (both as MkDocs has them) with all that it shows in place."""
    options = config.mdx_configs[_EXTENSION]
    root, word = Path(options["base_path"][0]), words(config.theme["language"])
    return compare(expand(page.markdown, options), root, word)


def page(text: str, meta: dict, url: str, addresses: dict[str, str]) -> str:
    """Return the Markdown file of a page from its `whole` text.

    `addresses` has the address of each page by its source, for the links between pages.
    """

    def absolute(link: re.Match) -> str:
        address = addresses.get(link[2], link[2])
        return f"{link[1]}{address}{link[3] or ''}"

    head = {key: meta[key] for key in ("title", "description") if key in meta} | {"url": url}
    head = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=1000)
    return f"---\n{head}---\n\n{_LINK.sub(absolute, text).strip()}\n"


def index(name: str, description: str, pages: list[tuple[str, str, str]]) -> str:
    """Return llms.txt; `pages` are (title, address of the Markdown, description)."""
    lines = [f"- [{title}]({url}): {what}" for title, url, what in pages]
    return f"# {name}\n\n> {description}\n\n" + "\n".join(lines) + "\n"


def write(config, pages) -> None:
    """Write the files for `pages` into the built site of `config` (both as MkDocs has them)."""
    addresses = {p.file.src_uri: p.canonical_url for p in pages}
    listed = []
    for p in pages:
        target = Path(config.site_dir, p.url, "index.md")
        text = p.rendered.copy if hasattr(p, "rendered") else whole(p, config)
        target.write_text(page(text, p.meta, p.canonical_url, addresses), encoding="utf-8")
        listed.append((p.title, f"{p.canonical_url}index.md", p.meta.get("description", "")))
    text = index(config.site_name, config.site_description, listed)
    Path(config.site_dir, "llms.txt").write_text(text, encoding="utf-8")
