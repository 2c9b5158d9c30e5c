"""What stands above the languages and versions: the pages that lead to them and the lists of them.

On the published branch a language is at /<lang>/<version>/, in a build at home at /<lang>/. Only
these files are made anew by each publish; the pages of a version stay as they are.
"""

import html
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from string import Template
from urllib.parse import urlsplit

from tools.languages import ROOT, words

LATEST = "latest"
_ICON = "assets/images/favicon.svg"


@dataclass(frozen=True)
class Version:
    """A published version of one language; `pages` are their addresses below it: "", "amp/"."""

    name: str
    aliases: frozenset[str] = frozenset()
    pages: tuple[str, ...] = field(default=("",))


def home(versions: list[Version]) -> str:
    """Return where, below its language, a reader who named no version is sent; newest first."""
    if not versions:
        return ""
    latest = any(LATEST in version.aliases for version in versions)
    return f"{LATEST if latest else versions[0].name}/"


def files(
    langs: Iterable[str], site_root: str, versions: dict[str, list[Version]] | None = None
) -> dict[str, str]:
    """Return the files, by their path below the site's root.

    `versions` has the published ones of each language, newest first; without it there are none.
    """
    site_root = site_root.rstrip("/") + "/"
    versions = versions or {}
    names = {lang: words(lang)["language"] for lang in langs}
    homes = {lang: f"{lang}/{home(versions.get(lang, []))}" for lang in names}
    links = "\n".join(
        f'<li><a lang="{lang}" hreflang="{lang}" href="{homes[lang]}">{html.escape(name)}</a></li>'
        for lang, name in names.items()
    )
    lists = "".join(
        f"<sitemap><loc>{site_root}{path}sitemap.xml</loc></sitemap>" for path in homes.values()
    )
    made = {
        "index.html": _page(
            "root", links=links, site_root=site_root, icon=next(iter(homes.values())) + _ICON
        ),
        "404.html": _not_found(names, homes, site_root, versions),
        "sitemap.xml": '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"{lists}</sitemapindex>\n",
        "robots.txt": f"User-agent: *\nAllow: /\nSitemap: {site_root}sitemap.xml\n",
        "llms.txt": "# Scale by Example\n\n> Faster PyTorch training, one tested line at a time."
        "\n\n"
        + "".join(f"- [{names[lang]}]({site_root}{homes[lang]}llms.txt)\n" for lang in names),
    }
    for lang, published in versions.items():
        made[f"{lang}/index.html"] = _page(
            "language",
            lang=lang,
            name=html.escape(names[lang]),
            home=home(published),
            icon=home(published) + _ICON,
            address=site_root + homes[lang],
        )
        made[f"{lang}/versions.html"] = _page(
            "versions",
            lang=lang,
            title=html.escape(words(lang)["all_versions"]),
            icon=home(published) + _ICON,
            versions="\n".join(_version(lang, version) for version in published),
        )
    return made


def _page(template: str, **parts: str) -> str:
    style = (ROOT / "tools" / "front" / "style.css").read_text("utf-8").strip()
    page = Template((ROOT / "tools" / "front" / f"{template}.html").read_text("utf-8"))
    return page.substitute(parts, style=style)


def _version(lang: str, version: Version) -> str:
    said = words(lang)
    note = said["version_dev"] if version.name == "dev" else ""
    if LATEST in version.aliases:
        note = said["version_is_newest"]
    note = f" {html.escape(note)}" if note else ""
    return f'<li><a href="{version.name}/">{html.escape(version.name)}</a>{note}</li>'


def _not_found(names, homes, site_root, versions) -> str:
    """Return the page for every address that leads nowhere: hosts serve only this one.

    It holds every language; its script leaves the one of the path, and offers the same page in the
    newest version where that has it.
    """
    base = urlsplit(site_root).path
    sections = "\n".join(
        f'<section lang="{lang}">\n<h1>{html.escape(words(lang)["not_found_title"])}</h1>\n'
        f"<p>{html.escape(words(lang)['not_found_text'])}</p>\n"
        f"<p hidden data-newest><a>{html.escape(words(lang)['version_read_newest'])}</a></p>\n"
        f'<p><a href="{base}{homes[lang]}" data-home>{html.escape(words(lang)["home"])}</a></p>\n'
        "</section>"
        for lang in names
    )
    # Each language: what a reader may have meant by an address, a version or alias with its pages.
    known = {
        lang: {name: v.pages for v in published for name in (v.name, *sorted(v.aliases))}
        for lang, published in versions.items()
    }
    known = json.dumps(known, sort_keys=True).replace("<", "\\u003c")
    return _page(
        "404",
        sections=sections,
        base=base,
        known=known,
        icon=base + next(iter(homes.values())) + _ICON,
    )
