"""Publish what this checkout stands for: a tag as its version and latest, main as dev.

    TAG=v2.13 python -m tools.ci.release
    python -m tools.ci.release

A tag is v and the torch series, with a third number for a later edition of the same version:
v2.13 and v2.13.1 are both published as 2.13. Without TAG, main is published as dev, unless main has
moved on: then the newer commit has a run of its own, and an older one must not take its place.
"""

import os
import re
import subprocess
import sys

from tools.languages import ROOT

TAG = re.compile(r"v(\d+\.\d+)(?:\.\d+)?")


class Refused(Exception):
    """There is nothing that this checkout could be published as; the message says why."""


def version(tag: str) -> tuple[str, str]:
    """Return the version and the alias that a tag stands for, ("dev", "") for none.

    Raises Refused for a tag of another form.
    """
    if not tag:
        return "dev", ""
    if not (match := TAG.fullmatch(tag)):
        raise Refused(f"the tag {tag!r} names no version: call it v2.13, or v2.13.1 for an edition")
    return match[1], "latest"


def overtaken(root=ROOT, remote: str = "origin") -> str | None:
    """Return the tip of the remote's main if the checkout at `root` is not it, else None."""

    def git(*args: str) -> str:
        return subprocess.check_output(["git", *args], cwd=root, text=True).strip()

    tip = git("ls-remote", "--exit-code", remote, "refs/heads/main").split()[0]
    return None if tip == git("rev-parse", "HEAD") else tip


def main() -> None:
    """Run the command."""
    try:
        what, alias = version(os.environ.get("TAG", ""))
    except Refused as error:
        sys.exit(str(error))
    if what == "dev" and (tip := overtaken()):
        return print(f"main is at {tip[:12]} by now: dev is left to the run of that commit")
    os.execvp("make", ["make", "publish", f"VERSION={what}", f"ALIAS={alias}"])


if __name__ == "__main__":
    main()
