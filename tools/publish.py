"""Publish one version in every language: all of it in one commit and one push, or nothing.

    python -m tools.publish 2.13 [--alias latest] [--remote origin] [--branch gh-pages]
    python -m tools.publish 2.13 [--alias latest] --preview [--port 8000]

The pages go to /<lang>/<version>/ of the branch, again to /<lang>/<alias>/, and into
/<lang>/versions.json; the files above the languages (tools/front) are made anew. All is built and
committed aside, in a repository of its own, so that whatever happens before the one push leaves the
branch as it was. If someone else has published meanwhile, the same is done on top of theirs.

A version is the torch series that it was verified with, or `dev`, which follows main. To publish a
version again replaces it, and no other. With --preview the branch as it would be is served here,
whether or not the gate would let it out.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mike import commands, git_utils

from tools import front, preview
from tools.build import build_all, site_root
from tools.languages import ROOT, languages

DEV = "dev"
TRIES = 5
_NEXT = "next"  # the branch in the repository aside


class Refused(Exception):
    """Nothing was published; the message says why and what to do."""


def git(*command: str, cwd: Path = ROOT, may_fail: bool = False) -> str:
    """Return what a git command prints; raises Refused with git's own words if it fails."""
    done = subprocess.run(["git", *command], cwd=cwd, text=True, capture_output=True)
    if done.returncode and not may_fail:
        raise Refused(f"git {command[0]} failed:\n{done.stderr.strip()}")
    return "" if done.returncode else done.stdout.strip()


def named(version: str, alias: str) -> None:
    """Check the names of what is to be published; raises Refused."""
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    series = re.search(r"^torch==(\d+\.\d+)", pins, re.M)[1]
    if version not in (DEV, series):
        raise Refused(
            f"a version is called like the torch that it was verified with, which is {series} "
            f"(constraints.txt), or {DEV}: not {version!r}"
        )
    if alias and (not re.fullmatch(r"[a-z][a-z-]*", alias) or alias in (version, DEV)):
        raise Refused(f"an alias is a word like {front.LATEST}, not {alias!r}")
    if alias == front.LATEST and version == DEV:
        raise Refused(f"{DEV} is no release, and so never {front.LATEST}: leave ALIAS away")


def commit() -> str:
    """Return the commit that this checkout is; raises Refused if files differ from it."""
    if changed := git("status", "--porcelain"):
        raise Refused(f"commit these changes first, or undo them:\n{changed}")
    return git("rev-parse", "HEAD")


def gate(site: Path, version: str) -> None:
    """Raise Refused, with every fault, unless all that the built pages show was checked."""
    command = [sys.executable, "-m", "tools.gate", "--site", str(site), "--version", version]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    if done.returncode:
        raise Refused(f"{done.stdout}{done.stderr}".strip())


def build(version: str, site: Path) -> dict[str, list[str]]:
    """Build every language into `site`; return the addresses of its pages: "", "amp/", ...

    Raises Refused with the faults.
    """
    if faults := build_all(site, languages(), version):
        raise Refused("\n".join(faults))
    pages = {}
    for lang in languages():
        found = {page.parent.relative_to(site / lang) for page in (site / lang).rglob("index.html")}
        pages[lang] = sorted("" if p == Path() else f"{p.as_posix()}/" for p in found)
    return pages


def address(remote: str) -> str:
    """Return where the remote is, in words that any folder's git understands."""
    url = git("remote", "get-url", "--push", remote, may_fail=True) or remote
    return str((ROOT / url).resolve()) if (ROOT / url).exists() else url


def tip(url: str, branch: str) -> str | None:
    """Return the commit that the branch is at, None if there is none yet; raises Refused."""
    found = git("ls-remote", url, f"refs/heads/{branch}")
    return found.split()[0] if found else None


def aside(folder: Path) -> None:
    """Make the repository in which the pages are put together, and go there: mike works so."""
    git("init", "--quiet", "--bare", str(folder))
    git("config", "gc.auto", "0", cwd=folder)  # it lives for seconds
    for key, format in (("user.name", "%an"), ("user.email", "%ae")):
        own = git("config", key, may_fail=True) or git("log", "-1", f"--format={format}")
        git("config", key, own, cwd=folder)
    os.chdir(folder)


def fetch(url: str, branch: str, cwd: Path) -> str | None:
    """Put what is published into the repository aside; return its commit, None for none."""
    git("update-ref", "-d", f"refs/heads/{_NEXT}", cwd=cwd, may_fail=True)
    if not tip(url, branch):
        return None
    git("fetch", "--quiet", "--depth=1", url, f"+refs/heads/{branch}:refs/heads/{_NEXT}", cwd=cwd)
    return git("rev-parse", _NEXT, cwd=cwd)  # it may have moved since `tip`


def alias_for(version: str, alias: str, published: list) -> str:
    """Return the alias that `version` gets; an older release never takes `latest` back.

    `published` are the versions of all languages. Raises Refused if none would be `latest`.
    """
    if version == DEV:
        return alias
    latest = [str(v.version) for v in published if front.LATEST in v.aliases]
    if not latest and alias != front.LATEST:
        raise Refused(f"no version is {front.LATEST} yet: say ALIAS={front.LATEST}")
    newest = max([*latest, version], key=order)
    if alias == front.LATEST and newest != version:
        print(f"{front.LATEST} stays with {newest}, which is newer", file=sys.stderr)
        return ""
    return alias


def order(version: str) -> tuple[int, ...]:
    """Return what the numbers of versions are ordered by: 2.9 comes before 2.10."""
    return tuple(map(int, version.split(".")))


def overtaken(published: list, version: str, source: str) -> None:
    """Raise Refused if `version` is published from a commit that comes after `source`."""
    for there in published:
        theirs = (there.properties or {}).get("commit")
        if str(there.version) == version and theirs and theirs != source:
            newer = ["git", "merge-base", "--is-ancestor", source, theirs]
            # 128, such as for a commit that this clone does not have, is no yes.
            if subprocess.run(newer, cwd=ROOT, capture_output=True).returncode == 0:
                raise Refused(
                    f"{version} is published from the later commit {theirs[:12]} already: "
                    "update this checkout"
                )


def put(version: str, alias: str, site: Path, pages: dict[str, list[str]], source: str) -> None:
    """Put the built pages and the files above the languages onto the branch aside."""
    published = {lang: list(commands.list_versions(_NEXT, lang)) for lang in languages()}
    every = [there for lang in published.values() for there in lang]
    overtaken(every, version, source)
    given = alias_for(version, alias, every)
    for lang in languages():
        with commands.deploy(
            {"site_dir": str(site / lang), "use_directory_urls": True},
            version,
            aliases=[given] if given else [],
            update_aliases=True,
            alias_type=commands.AliasType.copy,
            branch=_NEXT,
            message=_NEXT,
            allow_empty=True,
            deploy_prefix=lang,
            set_props=[("commit", source), ("pages", pages[lang])],
        ):
            pass
        published[lang] = [
            front.Version(str(v.version), frozenset(v.aliases), tuple(v.properties["pages"]))
            for v in commands.list_versions(_NEXT, lang)
        ]
    with git_utils.Commit(_NEXT, _NEXT, allow_empty=True) as above:
        for path, text in front.files(languages(), site_root(), published).items():
            above.add_file(git_utils.FileInfo(path, text))


def publish(version: str, alias: str, remote: str, branch: str) -> str:
    """Publish; return what was done, in words. Raises Refused, and then nothing was."""
    named(version, alias)
    source, url = commit(), address(remote)
    with tempfile.TemporaryDirectory(prefix="publish-") as folder:
        site, repository = Path(folder, "site"), Path(folder, "pages.git")
        pages = build(version, site)
        gate(site, version)  # these very pages
        if commit() != source:
            raise Refused("another commit was checked out meanwhile: publish again")
        aside(repository)
        try:
            for attempt in range(TRIES):
                base = fetch(url, branch, repository)
                put(version, alias, site, pages, source)
                what = f"{version} in {', '.join(languages())}, from {source[:12]}"
                tree = git("rev-parse", f"{_NEXT}^{{tree}}", cwd=repository)
                if base and tree == git("rev-parse", f"{base}^{{tree}}", cwd=repository):
                    return f"published already: {what}"
                parent = ["-p", base] if base else []
                new = git("commit-tree", tree, *parent, "-m", f"Publish {what}", cwd=repository)
                push = ["git", "push", "--quiet", url, f"{new}:refs/heads/{branch}"]
                pushed = subprocess.run(push, cwd=repository, text=True, capture_output=True)
                now = new if pushed.returncode == 0 else tip(url, branch)
                if now == new:  # also if the answer to the push was lost on its way
                    return f"published {what} as {new[:12]}"
                if now == base:
                    raise Refused(f"the push was refused:\n{pushed.stderr.strip()}")
                print("someone else published meanwhile: again, on theirs", file=sys.stderr)
                time.sleep(random.uniform(0, 0.5 + attempt))
            raise Refused(f"others published {TRIES} times meanwhile: publish again")
        finally:
            os.chdir(ROOT)  # what is below is removed


def show(version: str, alias: str, remote: str, branch: str, port: int) -> None:
    """Serve the branch as it would be, until Ctrl-C."""
    named(version, alias)
    with tempfile.TemporaryDirectory(prefix="preview-") as folder:
        site, repository, there = (Path(folder, name) for name in ("site", "pages.git", "branch"))
        pages = build(version, site)
        aside(repository)
        try:
            try:
                fetch(address(remote), branch, repository)
            except Refused as error:
                print(f"only this version is shown: {error}", file=sys.stderr)
            put(version, alias, site, pages, git("rev-parse", "HEAD"))
            there.mkdir()
            git(
                f"--work-tree={there}",
                "checkout",
                "--quiet",
                "--force",
                _NEXT,
                "--",
                ".",
                cwd=repository,
            )
        finally:
            os.chdir(ROOT)
        preview.serve(there, site_root(), port)


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("version", help=f"the torch series, such as 2.13, or {DEV}")
    cli.add_argument("--alias", default="", help=f"such as {front.LATEST}")
    cli.add_argument("--remote", default="origin")
    cli.add_argument("--branch", default="gh-pages")
    cli.add_argument("--preview", action="store_true", help="publish nothing, serve it here")
    cli.add_argument("--port", type=int, default=8000)
    a = cli.parse_args()
    try:
        if a.preview:
            show(a.version, a.alias, a.remote, a.branch, a.port)
        else:
            print(publish(a.version, a.alias, a.remote, a.branch))
    except (Refused, git_utils.GitError) as error:
        sys.exit(f"{error}\nnothing was published")


if __name__ == "__main__":
    main()
