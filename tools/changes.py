"""Build the site and list the pages that a change changes, language by language.

    python -m tools.changes [--base HEAD]

builds this checkout into site/ and the commit BASE aside, compares what a reader sees, and writes
the list to build/changes.md, to the screen, and to the summary of a workflow's run.
"""

import argparse
import html
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.languages import ROOT, languages, words

_MAIN = re.compile(r"<main\b.*?</main>", re.S)
_TITLE = re.compile(r"<title>(.*?)</title>", re.S)


@dataclass(frozen=True)
class Page:
    """What a reader sees of a page: its title, its text, and all that is around the text."""

    title: str
    text: str
    frame: str


def pages(site: Path, lang: str) -> dict[str, Page]:
    """Return the pages of a language in a built site, by address relative to the site.

    Not those of the notebooks, which change when their lessons do.
    """
    found = {}
    for file in sorted((site / lang).rglob("index.html")):
        if file.parent.name == "notebook":
            continue
        whole = file.read_text("utf-8")
        main = _MAIN.search(whole)
        title = _TITLE.search(whole)
        address = f"{file.parent.relative_to(site).as_posix()}/"
        found[address] = Page(
            html.unescape(title[1]) if title else address,
            main[0] if main else whole,
            _MAIN.sub("", whole) if main else "",
        )
    return found


def assets(site: Path, lang: str) -> dict[str, bytes]:
    """Return the style sheets and scripts of a language, which all its pages share."""
    return {
        file.relative_to(site).as_posix(): file.read_bytes()
        for file in (site / lang).rglob("*")
        if file.suffix in {".css", ".js"} and "search_index" not in file.name
    }


def compare(before: Path, after: Path, langs: list[str]) -> str:
    """Return the Markdown list of the pages that differ between two built sites."""
    parts = []
    for lang in langs:
        old, new = pages(before, lang), pages(after, lang)
        lines = []
        for address in sorted(old.keys() | new.keys()):
            if address not in old:
                kind = "new"
            elif address not in new:
                kind = "removed"
            elif old[address].text != new[address].text:
                kind = "changed"
            else:
                continue
            page = new.get(address) or old[address]
            lines.append(f"- {kind}: `{address}` {page.title}")
        # A page that changes has another head, too; what is around the others says more.
        same = [a for a in old.keys() & new.keys() if old[a].text == new[a].text]
        if any(old[a].frame != new[a].frame for a in same) or (
            old and assets(before, lang) != assets(after, lang)
        ):
            lines.append("- changed: what is around the text (theme, menus or scripts)")
        parts.append(f"## {words(lang)['language']}\n\n" + ("\n".join(lines) or "No page changes."))
    return "\n\n".join(parts) + "\n"


def build(tree: Path, site: Path) -> None:
    """Build the checkout `tree` into `site`. Raises CalledProcessError with what was said."""
    subprocess.run(
        [sys.executable, "-m", "tools.build", "--site-dir", str(site)],
        cwd=tree,
        check=True,
        capture_output=True,
        text=True,
    )


def listed(base: str, site: Path) -> str:
    """Return the list of what differs between the built `site` and the commit `base`.

    Raises ValueError if there is no such commit.
    """
    known = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}"]
    found = subprocess.run(known, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        raise ValueError(f"{base}: no such commit here; git fetch it, or name another as BASE")
    commit = found.stdout.strip()
    with tempfile.TemporaryDirectory(prefix="base-") as aside:
        tree, old = Path(aside, "tree"), Path(aside, "site")
        tree.mkdir()
        packed = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(tree)], input=packed.stdout, check=True)
        try:
            build(tree, old)
        except subprocess.CalledProcessError as error:
            why = (error.stderr or error.stdout).strip().splitlines()[-1:]
            return (
                f"The pages of {base} cannot be built here, so there is nothing to compare with"
                f" ({''.join(why)}).\n"
            )
        return compare(old, site, list(languages()))


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("--base", default="HEAD", help="the commit to compare with (default: HEAD)")
    a = cli.parse_args()
    site = ROOT / "site"
    try:
        build(ROOT, site)
        text = listed(a.base, site)
    except subprocess.CalledProcessError as error:
        sys.exit((error.stderr or error.stdout).strip())
    except ValueError as error:
        sys.exit(str(error))
    text = (
        f"# Pages that change\n\n{text}\nTo see them: unpack the preview, "
        "`python3 -m http.server --directory site`, http://127.0.0.1:8000/\n"
    )
    target = ROOT / "build" / "changes.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(text, encoding="utf-8")
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
