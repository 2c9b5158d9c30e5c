"""Rewrite the ``.out`` files: ``python -m tests.snippets.outputs [snippet…]`` (``make outputs``).

Each program runs as in the tests. A file changes only where what was printed differs from it by
more than the comparison forgives, and is replaced whole or not at all; then the lines of the pages
that show the program are named, whose sentences may have to change too. A program that does not
end as it declares keeps its file and makes the command fail.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.snippets import compare, runner
from tools import pages
from tools.pages import PageError
from tools.snippets import SNIPPETS, Snippet, SnippetError, load, load_all


def replace(path: Path, text: str) -> None:
    """Make `text` the content of `path`; a reader sees the old content or the new, never half."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def shown_at(snippet: Snippet) -> list[str]:
    """Return the pages and lines that show a section or an output of `snippet`."""
    stem = snippet.path.removesuffix(".py")
    return [
        f"{page.file}:{include.line}"
        for theirs in pages.load_all(snippet.root.parent).values()
        for page in theirs.values()
        for fence in page.fences
        for include in fence.includes
        if include.path.partition(".")[0] == stem
    ]


def update(snippet: Snippet, device: str = "cpu") -> tuple[bool, str]:
    """Run `snippet` and bring its output file up to date. Return (no fault, what happened)."""
    result = runner.run(snippet, device)
    found = compare.run_faults(snippet, result)
    if found:
        return False, "\n".join(found)
    out = snippet.out_path(device)
    shown = out.relative_to(snippet.root)
    if not out.exists():
        replace(out, result.text)
        return True, f"new        {shown}"
    rtol = compare.tolerance(snippet, device)
    old = out.read_text("utf-8", "replace")
    if not compare.differences(old, result.text, snippet.lesson["varies"], rtol):
        return True, f"unchanged  {shown}"
    replace(out, result.text)
    return True, f"changed    {shown}"


def main(arguments: list[str] | None = None) -> int:
    """Update the outputs of the named snippets (all without a name); 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="make outputs", description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", help="amp/train.py or snippets/amp/train.py")
    parser.add_argument("--root", type=Path, default=SNIPPETS, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    runner.hide_accelerators()
    try:
        if chosen.paths:
            names = [path.removeprefix("snippets/") for path in chosen.paths]
            snippets = [load(name, chosen.root) for name in names]
        else:
            snippets = load_all(chosen.root)
    except SnippetError as error:
        print(error, file=sys.stderr)
        return 1
    wanted = [s for s in snippets if "cpu" in s.lesson["devices"]]
    right, changed = True, []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for snippet, (fine, message) in zip(wanted, pool.map(update, wanted), strict=True):
            right &= fine
            if not message.startswith("unchanged"):
                print(message, flush=True)
            if message.startswith("changed"):
                changed.append(snippet)
    try:
        for snippet in changed:
            print(f"read what the pages say around {snippet.path}:", *shown_at(snippet), sep="\n  ")
    except PageError as error:
        print(error, file=sys.stderr)
        right = False
    if right:
        print(f"{len(wanted)} program{'s' * (len(wanted) != 1)} ran; the files are up to date")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
