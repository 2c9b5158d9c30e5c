"""Keep one issue that says which snippets fail on another torch: open, update or close it.

    python -m tools.ci.report [NAME...]

reads build/against/<name>.xml for each NAME: newest and oldest, which `make against` left, and
launches, of `make launches`.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from tools.ci import Refused, gh
from tools.languages import ROOT

LABEL = "nightly"
TITLE = "Snippets fail on another release of torch or accelerate"
COMMANDS = {"launches": "make launches"}  # what made a report, if not `make against`
MOST = 20  # lines of a failure that the issue shows; the run has all of them
LONGEST = 60_000  # characters; the host takes 65,536


def broken(file: Path) -> dict[str, str]:
    """Return each failed test of a JUnit report with the beginning of what it says.

    Raises ValueError, ElementTree.ParseError or OSError if the report is not whole.
    """
    found = {}
    cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    if not cases:
        raise ValueError(f"{file.name} reports no test")
    for case in cases:
        for fault in [*case.findall("failure"), *case.findall("error")]:
            name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
            said = (fault.text or fault.get("message") or "").strip().splitlines()
            found[name] = "\n".join(said[:MOST])
    return found


def versions(file: Path) -> str:
    """Return the versions that the tests ran with: `make against` calls the suite by them."""
    suite = next(ElementTree.parse(file).getroot().iter("testsuite"), None)
    return "" if suite is None else suite.get("name", "")


def body(folder: Path, names: list[str], run: str = "") -> str | None:
    """Return the text of the issue, or None if nothing broke."""
    parts, broke = [], []
    for name in names:
        file = folder / f"{name}.xml"
        try:
            faults, used = broken(file), versions(file)
        except (OSError, ValueError, ElementTree.ParseError):
            broke.append(name)
            parts.append(
                f"## {name}\n\nThe run ended before it could test the snippets: "
                "an installation that failed, or a crash. Its log says which."
            )
            continue
        if faults:
            broke.append(name)
            parts.append(f"## {name}: {used}" if used else f"## {name}")
            for test, said in faults.items():
                # Four backticks: what a test prints may hold three.
                parts.append(f"`{test}`\n\n````text\n{said}\n````")
    if not parts:
        return None
    again = " and ".join(f"`{COMMANDS.get(name, f'make against TORCH={name}')}`" for name in broke)
    where = f" ([the run]({run}))" if run else ""
    intro = f"The nightly run{where} found this. To see it at home: {again}."
    shown = [intro]
    for number, part in enumerate(parts):
        if sum(map(len, shown)) + len(part) > LONGEST:
            shown.append(f"And {len(parts) - number} more, which the run shows.")
            break
        shown.append(part)
    return "\n\n".join(shown) + "\n"


def report(text: str | None) -> str:
    """Bring the one open issue into line with `text` (None: nothing broke); say what was done.

    Raises Refused.
    """
    listed = gh("issue", "list", "--label", LABEL, "--state", "open", "--json", "number,title")
    ours = sorted(issue["number"] for issue in json.loads(listed) if issue["title"] == TITLE)
    if text is None:
        for number in ours:
            gh("issue", "close", str(number), "--comment", "Every snippet passes again.")
        return f"nothing broke{', closed ' if ours else ''}{', '.join(f'#{n}' for n in ours)}"
    with tempfile.TemporaryDirectory() as aside:
        file = Path(aside, "body.md")
        file.write_text(text, encoding="utf-8")
        if ours:
            gh("issue", "edit", str(ours[0]), "--body-file", str(file))
            for extra in ours[1:]:  # someone opened another by hand
                gh("issue", "close", str(extra), "--comment", f"#{ours[0]} says it.")
            return f"updated #{ours[0]}"
        about = "Another release of torch or accelerate breaks a snippet"
        gh("label", "create", LABEL, "--force", "--description", about)
        gh("issue", "create", "--title", TITLE, "--label", LABEL, "--body-file", str(file))
        return "opened an issue"


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("name", nargs="*", default=["newest", "oldest", "launches"])
    a = cli.parse_args()
    text = body(ROOT / "build" / "against", a.name, os.environ.get("RUN", ""))
    if text:
        print(text)
    try:
        print(report(text))
    except Refused as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
