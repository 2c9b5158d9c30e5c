"""All checks, of the whole repository."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools import notebook_pages, notebooks, texts, translations
from tools import pages as pages_module
from tools import snippets as snippets_module
from tools.checks.fault import Fault, told
from tools.checks.page import (
    check_differences,
    check_fences,
    check_front_matter,
    check_headings,
    check_includes,
    check_references,
    check_unshown,
    load_commands,
)
from tools.checks.rendered import check_links, check_notes, check_rendered, read_html
from tools.checks.translation import UNTRANSLATED, check_languages, check_records, check_translation
from tools.checks.wording import check_glossary, check_typography, load_glossary
from tools.pages import ROOT, PageError
from tools.snippets import SnippetError
from tools.yaml_files import YamlError


def check_sources(root: Path = ROOT) -> list[Fault]:
    """All checks that need no built page, for the whole repository."""
    folder = root / "snippets"
    found, programs = [], []
    if broken := texts.not_utf8(root):
        return [Fault(file, line, "not UTF-8", "save it as UTF-8") for file, line in broken]
    for file in sorted(folder.rglob("*.py")):
        try:
            programs.append(snippets_module.load(file.relative_to(folder).as_posix(), folder))
        except SnippetError as error:
            found.append(Fault(error.file, error.line, error.message, error.cure))
    try:
        all_pages = pages_module.load_all(root)
        commands = set(load_commands(root))
    except (PageError, YamlError) as error:
        return [*found, told(error)]
    english = all_pages.get("en", {})
    found += check_unshown(list(english.values()), programs)
    found += check_languages(all_pages)
    found += check_records(all_pages, root)
    for lang, theirs in all_pages.items():
        terms, faults = load_glossary(lang, root)
        found += faults
        for name, page in theirs.items():
            found += check_front_matter(page)
            found += check_headings(page)
            found += check_fences(page, commands)
            found += check_includes(page, folder)
            found += check_differences(page, folder)
            found += check_references(page)
            found += check_typography(page)
            original = english.get(name) if lang != "en" else None
            found += check_glossary(page, terms, original)
            if original:
                found += check_translation(original, page)
    return found


def check_site(site: Path, address: str, root: Path = ROOT) -> list[Fault]:
    """The checks of the built pages in `site`, which will stand at `address`: blocks and links."""
    commands = set(load_commands(root))
    found = []
    known = set()
    stale = {
        lang: {(s.page, s.id) for s in theirs if s.stale}
        for lang, theirs in translations.all_sections(root).items()
    }
    for lang, theirs in pages_module.load_all(root).items():
        for name, page in theirs.items():
            stem = name.removesuffix("index").rstrip("/")
            file = site / lang / stem / "index.html"
            known.add(file)
            if not file.is_file():
                found.append(Fault(page.file, 1, "the page was not built", "add it to 'nav'"))
                continue
            html = file.read_text("utf-8")
            found += check_rendered(html, page, root / "snippets", commands)
            ids = {id for name_, id in stale.get(lang, ()) if name_ == name}
            found += check_notes(html, page, ids)
            if notebooks.has_notebook(page):
                known.add(file.with_name("notebook") / "index.html")
    for fault in notebook_pages.check(site, [f"{address}{{lang}}/"], root, run=False):
        file, line, rest = fault.split(":", 2)
        found.append(Fault(file, int(line), *rest.strip().rsplit("; ", 1)))
    for file in set(site.rglob("*.html")) - known:
        for block in read_html(file.read_text("utf-8")).blocks:
            shown = file.relative_to(site).as_posix()
            found.append(
                Fault(shown, 1, f"a block that nothing tests: {block.text[:40]!r}", "remove it")
            )
    return found + check_links(site, address)


def stale_notices(root: Path = ROOT) -> list[str]:
    """What to say of the translations that English has left behind: no fault of who mends it."""
    return [
        f"notice: {count} stale section{'s' * (count != 1)} in docs/{lang}; "
        "`make translations` shows what has changed"
        for lang, theirs in translations.all_sections(root).items()
        if (count := sum(section.stale for section in theirs))
    ]


def main() -> int:
    """Check the sources, then build every language aside and check what readers will see."""
    found = check_sources()
    # What is not translated yet is left out of the site, and hides no fault of the other pages.
    if all(fault.message == UNTRANSLATED for fault in found):
        from tools import build, languages

        with tempfile.TemporaryDirectory() as folder:
            faults = build.build_all(Path(folder), languages.languages())
            if faults:
                print("\n".join([*map(str, sorted(set(found))), *faults]))
                return 1
            found += check_site(Path(folder), build.site_root())
        for notice in stale_notices():
            print(notice)
    for fault in sorted(set(found)):
        print(fault)
    if found:
        count = len(set(found))
        print(f"{count} fault{'s' * (count != 1)}", file=sys.stderr)
    return 1 if found else 0
