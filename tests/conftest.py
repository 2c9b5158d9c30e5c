"""A copy of the house with small pages, for tests that build it, serve it or spoil it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PAGE = """\
---
title: {title}
description: A small page.
---

# {title} {{ #top }}

See [the other page]({other}).

## The loop {{ #loop }}

```python
--8<-- "small/right.py:main"
```

```text
--8<-- "small/right.out"
```
"""

PROGRAM = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 1
{more}# ///
"""Print a sum."""

# --8<-- [start:main]
total = 0
for number in range(3):
    # --8<-- [start:new]
    total += number
    # --8<-- [end:new]
print(f"total: {{total}}")
# --8<-- [end:main]
'''


class Tree:
    """A copy of this repository in a folder of its own, with two small pages a language."""

    def __init__(self, root: Path):
        self.root = root

    def write(self, path: str, text: str) -> None:
        """Write a file of the copy."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace `old`, which must be there, in a file of the copy."""
        text = (self.root / path).read_text("utf-8")
        assert old in text
        self.write(path, text.replace(old, new))

    def run(self, *command: str) -> subprocess.CompletedProcess:
        """Run `python -m ...` in the copy."""
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.root,
            env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
            capture_output=True,
            text=True,
            timeout=120,
        )


def small_house(root: Path) -> Tree:
    """Make the copy in the folder `root`."""
    copy = Tree(root)
    # The record of the translations speaks of the real pages.
    ignore = shutil.ignore_patterns("__pycache__", "sections.yml")
    for name in ("locales", "theme", "tools"):
        shutil.copytree(ROOT / name, copy.root / name, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", copy.root)
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    nav = re.compile(r"^nav:\n(?: +- .*\n)+", re.M)
    copy.write("mkdocs.yml", nav.sub("nav: [index.md, amp.md]\n", settings))
    for lang in ("en", "fr", "de"):
        copy.write(f"docs/{lang}/index.md", PAGE.format(title="Home", other="amp.md"))
        copy.write(f"docs/{lang}/amp.md", PAGE.format(title="Lesson", other="index.md#loop"))
    copy.write("snippets/small/right.py", PROGRAM.format(more=""))
    copy.write("snippets/small/right.out", "total: 3\n")
    return copy


@pytest.fixture
def tree(tmp_path) -> Tree:
    """The copy, to be changed at will."""
    return small_house(tmp_path / "house")
