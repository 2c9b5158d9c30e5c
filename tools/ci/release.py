"""Publish what this checkout stands for: a tag as its version, main as dev.

    TAG=v2.13 python -m tools.ci.release
    python -m tools.ci.release

A tag is v and the torch series, with a third number for a later edition of the same version:
v2.13 and v2.13.1 are both published as 2.13. It becomes latest unless a tag stands for a newer
version. Without TAG, main is published as dev, unless main has moved on: then the newer commit has
a run of its own, and an older one must not take its place.
"""

import os
import re
import subprocess
import sys

from tools.languages import ROOT

TAG = re.compile(r"v(\d+\.\d+)(?:\.\d+)?")


class Refused(Exception):
    """There is nothing that this checkout could be published as; the message says why."""


def _git(folder, *args: str) -> str:
    return subprocess.check_output(["git", *args], cwd=folder, text=True).strip()


def tagged(root=ROOT, remote: str = "origin") -> set[str]:
    """Return the versions that the tags of the remote stand for."""
    listed = _git(root, "ls-remote", "--tags", "--refs", remote)
    names = [line.split("refs/tags/")[1] for line in listed.splitlines()]
    return {match[1] for name in names if (match := TAG.fullmatch(name))}


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def version(tag: str, others: set[str]) -> tuple[str, str]:
    """Return the version and the alias ("" for none) of a tag, among the versions of all tags.

    Without a tag that is dev. Raises Refused for a tag of another form.
    """
    if not tag:
        return "dev", ""
    if not (match := TAG.fullmatch(tag)):
        raise Refused(f"the tag {tag!r} names no version: call it v2.13, or v2.13.1 for an edition")
    newest = max(others | {match[1]}, key=_order)
    return match[1], "latest" if match[1] == newest else ""


def overtaken(root=ROOT, remote: str = "origin") -> str | None:
    """Return the tip of the remote's main if the checkout at `root` is not it, else None."""
    tip = _git(root, "ls-remote", "--exit-code", remote, "refs/heads/main").split()[0]
    return None if tip == _git(root, "rev-parse", "HEAD") else tip


def main() -> None:
    """Run the command."""
    try:
        what, alias = version(os.environ.get("TAG", ""), tagged())
    except Refused as error:
        sys.exit(str(error))
    if what == "dev" and (tip := overtaken()):
        return print(f"main is at {tip[:12]} by now: dev is left to the run of that commit")
    named = [f"VERSION={what}", *([f"ALIAS={alias}"] if alias else [])]
    os.execvp("make", ["make", "publish", *named])


if __name__ == "__main__":
    main()
