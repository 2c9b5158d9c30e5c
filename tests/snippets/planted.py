"""Planted programs: what the tests of the harness run to see each way of being wrong."""

from pathlib import Path

from tests.snippets import compare, runner
from tools.snippets import Snippet, load


def write(root: Path, name: str, head: str, body: str, out: str | None, keys=()) -> Snippet:
    """Write a program (and its .out) into the snippets folder `root` and load it.

    `keys` are further lines of its lesson, which take the place of ``{keys}`` in `head`.
    """
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(head.format(keys="".join(f"# {key}\n" for key in keys)) + body)
    if out is not None:
        file.with_suffix(".out").write_text(out)
    return load(name, root)


def faults(snippet: Snippet, **options) -> str:
    """What a run of `snippet` finds wrong, one fault a line; options are those of the runner."""
    return "\n".join(compare.faults(snippet, runner.run(snippet, **options)))
