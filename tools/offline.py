"""The offline copy of a version in one language: one zip that opens from a folder or any server.

A browser shows a page of the file system, but lets it read no file beside it, start no worker, and
has no `index.html` to show for a folder. So links name their files, what leads out of the copy
leads to the published site, and the search index is a script, which theme/assets/site.js loads.
"""

import html
import posixpath
import re
import zipfile
from pathlib import Path
from urllib.parse import urljoin

_LINK = re.compile(r'(?<=\s)(href|src)="([^"]*)"')
_PRELOAD = re.compile(r'<link rel="preload"[^>]*>\n?')  # by a rule of its own, it fails on a file
_SCRIPT = "data-search="
_INDEX = "search/search_index.json"
# What only a published site needs.
_LEFT_OUT = re.compile(
    r"404\.html|sitemap\.xml(\.gz)?|assets/social/.*|.*\.zip|" + re.escape(_INDEX)
)
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same pages give the same bytes


def name(lang: str, version: str) -> str:
    """Return the name of the archive."""
    return f"scale-by-example-{version}-{lang}.zip"


def page(text: str, path: str, files: set[str], online: str) -> str:
    """Return the HTML of the page at `path` as the copy, which holds `files`, has it.

    `online` is the address where the language is published.
    """

    def link(found: re.Match) -> str:
        target, mark, place = html.unescape(found[2]).partition("#")
        if not target or re.match(r"[a-z][a-z+.-]*:|//", target):
            return found[0]
        target = urljoin(online + path, target)
        if target.startswith(online):
            file = target.removeprefix(online)
            file = f"{file}index.html" if not file or file.endswith("/") else file
            if file in files:
                target = posixpath.relpath(file, posixpath.dirname(path) or ".")
        return f'{found[1]}="{html.escape(target + mark + place)}"'

    text = _PRELOAD.sub("", text.replace(_SCRIPT, f"data-offline {_SCRIPT}"))
    return _LINK.sub(link, text)


def write(site: Path, online: str, archive: str) -> None:
    """Write the zip `archive` of the built language in the folder `site` into that folder."""
    found = sorted(p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file())
    files = {path for path in found if not _LEFT_OUT.fullmatch(path)}
    folder = archive.removesuffix(".zip")
    with zipfile.ZipFile(site / archive, "w", zipfile.ZIP_DEFLATED) as copy:

        def add(path: str, data: bytes) -> None:
            entry = zipfile.ZipInfo(f"{folder}/{path}", _EPOCH)
            entry.external_attr = 0o644 << 16
            copy.writestr(entry, data, zipfile.ZIP_DEFLATED)

        for path in sorted(files):
            data = (site / path).read_bytes()
            if path.endswith(".html"):
                data = page(data.decode("utf-8"), path, files, online).encode("utf-8")
            add(path, data)
        index = (site / _INDEX).read_text("utf-8")
        add(_INDEX.replace(".json", ".js"), f"searchIndex = {index};\n".encode())
