"""See that every version is in every list of the published branch.

    python -m tools.ci.published [--remote origin] [--branch gh-pages]

Each language has the same versions; each version in a language's versions.json has its pages, each
folder of pages is in it, and so is each version that a tag of the repository stands for.
"""

import argparse
import json
import subprocess
import sys
import tempfile

from tools.ci.release import tagged
from tools.languages import ROOT, languages


def _git(folder, *args: str) -> str:
    return subprocess.run(
        ["git", *args], cwd=folder, text=True, capture_output=True, check=True
    ).stdout


def faults(repo, tree: str, langs: list[str], tags: set[str]) -> list[str]:
    """Return what is wrong with the pages in `tree` of the git repository `repo`."""
    found, versions = [], {}
    for lang in langs:
        try:
            listed = json.loads(_git(repo, "show", f"{tree}:{lang}/versions.json"))
            versions[lang] = {entry["version"]: entry["aliases"] for entry in listed}
        except (subprocess.CalledProcessError, ValueError, KeyError, TypeError):
            found.append(f"{lang}/versions.json is missing or is no list of versions")
            continue
        named = versions[lang].keys() | {alias for a in versions[lang].values() for alias in a}
        inside = _git(repo, "ls-tree", "-r", "--name-only", tree, f"{lang}/").splitlines()
        pages = {path.split("/")[1] for path in inside if path.endswith("/index.html")}
        pages = {name for name in pages if name != "index.html"}
        found += [f"{lang}/{name}/ is in the list, but has no pages" for name in named - pages]
        found += [f"{lang}/{name}/ has pages, but is in no list" for name in pages - named]
        found += [
            f"{lang}/versions.json lacks {version}, which a tag stands for: run publish.yml on "
            "that tag again (or wait, if it is still running)"
            for version in tags - versions[lang].keys()
        ]
    if versions:
        every = set().union(*versions.values())
        found += [
            f"{lang}/versions.json lacks {version}, which another language has"
            for lang in versions
            for version in every - versions[lang].keys() - tags
        ]
        first = next(iter(versions.values()))
        found += [
            f"{lang}/versions.json gives {version} other aliases than {next(iter(versions))}'s"
            for lang, theirs in versions.items()
            for version in theirs.keys() & first.keys()
            if sorted(theirs[version]) != sorted(first[version])
        ]
    return sorted(found)


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("--remote", default="origin")
    cli.add_argument("--branch", default="gh-pages")
    a = cli.parse_args()
    url = _git(ROOT, "remote", "get-url", a.remote).strip()
    with tempfile.TemporaryDirectory() as folder:
        _git(folder, "init", "--quiet", "--bare")
        try:
            _git(folder, "fetch", "--quiet", "--depth=1", url, f"refs/heads/{a.branch}")
        except subprocess.CalledProcessError as error:
            sys.exit(f"the branch {a.branch} cannot be had: {error.stderr.strip()}")
        found = faults(folder, "FETCH_HEAD", list(languages()), tagged(remote=a.remote))
    if found:
        sys.exit("\n".join(found))
    print("every version is in every list")


if __name__ == "__main__":
    main()
