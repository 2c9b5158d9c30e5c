"""The versions that the pages name are the versions that the programs are run with."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*/*.md"))


def versions(text: str) -> set[tuple[str, str]]:
    """The (name, version) pairs of PyTorch and Python that a page names in full."""
    return set(re.findall(r"\b(PyTorch|Python)[ \u00a0\u202f](\d+\.\d+(?:\.\d+)?)", text))


def checked() -> dict[str, str]:
    """The versions that are checked: torch as pinned, and the oldest Python that is supported."""
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    torch = re.search(r"^torch==(\S+)$", pins, re.M)[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {"PyTorch": torch, "Python": project["requires-python"].removeprefix(">=")}


def stale(text: str) -> list[str]:
    """What a page claims to be checked with (three-part PyTorch, any Python) and is not."""
    run = checked()
    return [
        f"{name} {version}"
        for name, version in sorted(versions(text))
        if (name == "Python" or version.count(".") == 2) and version != run[name]
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT / "docs")))
def test_a_page_names_the_versions_that_were_run(page):
    text = page.read_text("utf-8")
    assert not stale(text), "constraints.txt pins another version: correct the sentence"
    assert ("PyTorch", checked()["PyTorch"]) in versions(text), "the page names no version"


def test_another_version_is_seen():
    assert stale("Checked with PyTorch 1.0.0 and Python 2.7.") == ["PyTorch 1.0.0", "Python 2.7"]
