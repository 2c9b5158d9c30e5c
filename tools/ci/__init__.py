"""What only the repository's host knows, asked through its command line program `gh`."""

import json
import os
import shutil
import subprocess


class Refused(Exception):
    """The host did not do what was asked; the message says what it answered."""


def gh(*args: str, text: bool = True) -> str:
    """Return what `gh ARGS` prints (bytes where `text` is false).

    Raises Refused if it fails, or is not there.
    """
    if not shutil.which("gh"):
        raise Refused(
            "there is no `gh` here: install GitHub's command line program, `gh auth login`"
        )
    done = subprocess.run(["gh", *args], capture_output=True, text=text)
    if done.returncode:
        error = done.stderr if text else done.stderr.decode(errors="replace")
        raise Refused(f"gh {' '.join(args[:3])}: {error.strip() or done.returncode}")
    return done.stdout


def api(path: str) -> dict:
    """Return the answer of the host's API to a GET of `path`. Raises Refused."""
    return json.loads(gh("api", path))


def repository() -> str:
    """Return owner/name of the repository: where this workflow runs, or that of the checkout."""
    if named := os.environ.get("GITHUB_REPOSITORY"):
        return named
    return gh("repo", "view", "--json", "nameWithOwner", "--jq", ".nameWithOwner").strip()
