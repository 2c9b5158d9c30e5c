"""The shell commands that a reader is shown run, or there is a reason why no test runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import checks, pages
from tools.snippets import ROOT

LISTED = checks.load_commands()


def shown() -> dict[str, str]:
    """Each command of the pages and the papers for contributors, and where it stands."""
    found = {}
    papers = [pages.parse(p.read_text("utf-8"), "en", p.stem, p.name) for p in ROOT.glob("*.md")]
    for page in papers + [p for theirs in pages.load_all().values() for p in theirs.values()]:
        for fence in page.fences:
            if fence.lang in ("bash", "console", "sh", "shell"):
                for command in checks.shell_commands(fence.body, fence.lang == "console"):
                    found.setdefault(command, f"{page.file}:{fence.line}")
    return found


def test_each_command_is_listed():
    new = {c: where for c, where in shown().items() if c not in LISTED}
    assert not new, f"{new}: add them to tests/pages/commands.yml, with how they are tested"


def test_each_listed_command_is_shown():
    left = sorted(LISTED.keys() - shown().keys())
    assert not left, f"{left}: nobody shows them; remove them from tests/pages/commands.yml"


@pytest.mark.parametrize("command", [c for c, how in LISTED.items() if how == "run"])
def test_command_runs(command):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=ROOT,
        env=os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
