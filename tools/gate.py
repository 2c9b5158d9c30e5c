"""Refuse to publish what was not checked (``make gate``).

    python -m tools.gate [--site site] [--version 2.13]

builds every language aside (or takes the site that `--site` names), looks at each block of code on
each rendered page, and asks the records of build/verification/ for a passed run of exactly that
program with exactly that output, on every device class that pyproject.toml requires, from the
commit that is checked out. Prints each fault on a line, with its cure; ends with 1 if there is one.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

from tools import badge, checks, notebook_pages, notebooks, pages, record
from tools.build import site_root
from tools.languages import languages, words
from tools.pages import PageError
from tools.record import ROOT, Record, RecordError
from tools.snippets import Snippet, SnippetError, load, program_of

#: How far the clocks of the machines that commit, run and publish may be apart.
CLOCKS = timedelta(hours=1)

_BADGE = re.compile(r'<details class="listing-record[^"]*"><summary>(.*?)</summary>', re.S)

#: What is wrong with a program in a record (tools.record.standing), and whether to name its reason.
_WHY = {
    "absent": "has no run",
    "changed": "or its output is not what ran",
    "failed": "failed",
    "skipped": "was skipped, which is not a pass",
    "excluded": "was left out, though it is made for this device",
    "elsewhere": "ran on another device",
}
#: Of these the record itself is a fault, which is named once and not for each program.
_OF_THE_RECORD = ("missing", "dirty", "doubtful")


@dataclass
class Shown:
    """What the rendered pages show: for each program and each output, the pages that do.

    And for each page its blocks, as a program and maybe its output, and what its badges say.
    """

    programs: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    blocks: dict[str, set[tuple[str, str | None]]] = field(default_factory=dict)
    badges: dict[str, list[str]] = field(default_factory=dict)

    def add(self, block: checks.Block, page: str) -> None:
        """Take in a block of a page."""
        program = block.snippet
        if block.output:
            program = program_of(block.output)
            self._note(self.outputs, block.output, page)
        for path in [program] if program else block.compared:
            self._note(self.programs, path, page)
            self.blocks.setdefault(page, set()).add((path, block.output))

    @staticmethod
    def _note(where: dict[str, list[str]], what: str, page: str) -> None:
        if page not in where.setdefault(what, []):
            where[what].append(page)


def look(site: Path, root: Path = ROOT) -> tuple[Shown, list[str]]:
    """Read the built pages in `site`; return what they show, and each block that is none of ours.

    Raises PageError for a page whose source can't be read.
    """
    commands = set(checks.load_commands(root))
    shown, faults, known = Shown(), [], set()
    all_pages = pages.load_all(root)
    for lang in languages(root):
        if not all_pages.get(lang):
            faults.append(f"docs/{lang}: the language has no pages; write them, or remove it")
    for lang, theirs in all_pages.items():
        for name, page in theirs.items():
            stem = name.removesuffix("index").rstrip("/")
            file = site / lang / stem / "index.html"
            known.add(file)
            if not file.is_file():
                faults.append(f"{page.file}:1: the page was not built; build the site again")
                continue
            html = file.read_text("utf-8")
            found = checks.check_rendered(html, page, root / "snippets", commands)
            faults += map(str, found)
            for block in checks.read_html(html).blocks:
                shown.add(block, page.file)
            shown.badges[page.file] = [unescape(said) for said in _BADGE.findall(html)]
            if notebooks.has_notebook(page):  # of which notebook_pages.check tells
                known.add(file.with_name("notebook") / "index.html")
    for file in sorted(set(site.rglob("*.html")) - known):
        name = file.relative_to(site).as_posix()
        for block in checks.read_html(file.read_text("utf-8")).blocks:
            faults.append(f"{name}:1: a block that nothing tests: {block.text[:40]!r}; remove it")
    if not shown.programs:
        faults.append("site: no page shows any program; build the whole site")
    return shown, faults


def check_tree(root: Path = ROOT) -> list[str]:
    """Return why what would be published is not a commit."""
    if record.commit(root) is None:
        return [".: no commit that git can read; publish from a clone"]
    return [
        f"{path}: differs from the commit; commit it or take it back, then run make verify"
        for path in record.changes(root)
    ]


def check_record(one: Record, root: Path = ROOT, now: datetime | None = None) -> list[str]:
    """Return why nothing in a record counts for the commit that is checked out."""
    now = now or datetime.now(UTC)
    again = f"run: make verify DEVICE={one.device}"
    found = record.doubts(one)
    commit, made = record.commit(root), record.commit_time(root)
    if one.commit and commit and one.commit != commit:
        found.append(f"of commit {one.commit[:9]}, published would be {commit[:9]}; {again}")
    elif made and record.when(one.finished) < made - CLOCKS:
        found.append(f"older than the commit that it names ({one.finished}); {again}")
    if record.when(one.finished) > now + CLOCKS:
        found.append(f"from the future ({one.finished}); set the machine's clock, then {again}")
    return [f"{one.file}: {fault}" for fault in found]


def check_program(one: Record, snippet: Snippet, on: list[str]) -> list[str]:
    """Return why a program that the pages `on` show has no passed run in a record."""
    state = record.standing(one, snippet)
    if state == "passed" or state in _OF_THE_RECORD:
        return []
    if state == "excluded" and one.device not in snippet.lesson["devices"]:
        return []
    entry = one.programs.get(snippet.path, {})
    reason = f" ({entry['reason']})" if entry.get("reason") else ""
    if state == "elsewhere":
        reason = f" ({entry['ran_on']})"
    cure = f"run: make verify DEVICE={one.device}"
    if state == "failed":
        cure = f"mend the program or the page, commit, then {cure}"
    return [
        f"{one.file}: snippets/{snippet.path} {_WHY[state]}{reason}, "
        f"shown by {', '.join(on)}; {cure}"
    ]


def check_versions(required: list[Record], version: str | None) -> list[str]:
    """Return the records that are not of the torch series that is published as `version`.

    Without a version they must be of one series. A version that is no number (dev) may mix them.
    """
    if version is not None and not re.fullmatch(r"\d+\.\d+", version):
        return []
    of = version or (required[0].series if required else None)
    first = required[0].file if required and not version else "what is published"
    return [
        f"{one.file}: of torch {one.torch}, {first} is {of}; "
        f"run make verify DEVICE={one.device} with torch {of}, or publish another version"
        for one in required
        if one.series != of
    ]


def check_agreement(records: list[Record]) -> list[str]:
    """Return the programs of which two records of one device and torch say different things."""
    found = []
    for at, one in enumerate(records):
        for other in records[:at]:
            if (one.device, one.torch) != (other.device, other.torch):
                continue
            for path in sorted(one.programs.keys() & other.programs.keys()):
                a, b = other.programs[path]["outcome"], one.programs[path]["outcome"]
                if a != b:
                    found.append(
                        f"{one.file}: snippets/{path} {b}, but {a} in {other.file}; find out why "
                        f"it changes, remove one record, then: make verify DEVICE={one.device}"
                    )
    return found


def check_badges(shown: Shown, programs: dict[str, Snippet], records: list[Record]) -> list[str]:
    """Return the pages whose badges say something else than the records do."""
    found = []
    for page, blocks in shown.blocks.items():
        word = words(page.split("/")[1])
        right = {
            badge.summary(programs[path], records, word, output)[0]
            for path, output in blocks
            if path in programs
        }
        said = shown.badges[page]
        wrong = [text for text in dict.fromkeys(said) if text not in right]
        if not said:
            wrong = ["nothing"]
        found += [
            f"{page}:1: a badge says {text!r}, and the records do not; build the site again"
            for text in wrong
        ]
    return found


def check(
    site: Path,
    root: Path = ROOT,
    version: str | None = None,
    folder: Path | None = None,
    now: datetime | None = None,
) -> list[str]:
    """Return every reason not to publish the built `site`, each ``where: what; what to do``."""
    try:
        needed = record.required_devices(root)
    except RecordError as error:
        return [str(error)]
    folder = folder or root / "build" / "verification"
    try:
        shown, faults = look(site, root)
    except PageError as error:
        return [str(error)]
    places = [
        f"{site_root()}{{lang}}/{part}" for part in ([f"{version}/"] if version else []) + [""]
    ]
    faults = check_tree(root) + faults + list(notebook_pages.check(site, places, root))
    records, unread = record.read_all(folder, root)
    faults += unread
    by_name = {one.name: one for one in records}
    here = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)
    for kind in needed:
        if kind not in by_name and not any(f"/{kind}.json:" in fault for fault in unread):
            faults.append(
                f"{here}/{kind}.json: there is no record of {kind}, which pyproject.toml requires; "
                f"run on a machine with one: make verify DEVICE={kind}"
            )
    required = [by_name[kind] for kind in needed if kind in by_name]
    for one in records:
        faults += check_record(one, root, now)
        for path in sorted(one.programs.keys() - shown.programs.keys()):
            faults.append(
                f"{one.file}: snippets/{path} ran and no page shows it; show it or remove it, "
                f"then run: make verify DEVICE={one.device}"
            )
    faults += check_versions(required, version) + check_agreement(records)
    programs: dict[str, Snippet] = {}
    for path, on in sorted(shown.programs.items()):
        try:
            programs[path] = load(path, root / "snippets")
        except SnippetError as error:
            faults.append(f"{error} (shown by {', '.join(on)})")
            continue
        for one in records:
            faults += check_program(one, programs[path], on)
        able = programs[path].lesson["devices"]
        if not set(able) & set(needed):
            faults.append(
                f"snippets/{path}: runs on {', '.join(able) or 'nothing'} alone, which "
                f"pyproject.toml does not require, shown by {', '.join(on)}; require one of them"
            )
    faults += check_badges(shown, programs, records)
    for out, on in sorted(shown.outputs.items()):
        program = programs.get(program_of(out))
        if program is None:
            continue
        able = [kind for kind in needed if kind in program.lesson["devices"]]
        if not any(program.out_path(kind) == root / "snippets" / out for kind in able):
            faults.append(
                f"snippets/{out}: no required device prints this output, shown by "
                f"{', '.join(on)}; show {program.out_path().name}, or require its device"
            )
    return faults


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(prog="make gate", description=__doc__.splitlines()[0])
    cli.add_argument("--site", type=Path, help="the site, built already (default: build it aside)")
    cli.add_argument("--version", help="that would be published: a torch series, or a name (dev)")
    a = cli.parse_args()
    with tempfile.TemporaryDirectory(prefix="gate-") as aside:
        site, faults = a.site, []
        if site is None:
            from tools.build import build_all

            site = Path(aside)
            faults = [f"{fault}; mend it" for fault in build_all(site, languages())]
        faults = faults or check(site.absolute(), version=a.version)
    if faults:
        count = f"{len(faults)} fault{'s' * (len(faults) != 1)}"
        sys.exit("\n".join([*faults, f"{count}: this may not be published"]))
    commit = (record.commit() or "")[:9]
    print(f"every block was checked on {', '.join(record.required_devices())} at {commit}")


if __name__ == "__main__":
    main()
