"""A small house with a commit and a bare repository to publish to; and what was published there."""

import fcntl
import json
import os
import re
import subprocess
import threading
from pathlib import Path

import pytest

from tests.conftest import PAGE, ROOT, WARM, Tree, small_house
from tests.site.conftest import SITE_ROOT
from tests.site.look import Site
from tools import preview

LANGS = ("en", "fr", "de")
# The gate has its own tests. This one lets pass what has no file `closed`.
GATE = """\
import sys
from pathlib import Path
if Path("closed").exists():
    sys.exit("docs/en/amp.md: small/right.py has no record: make verify DEVICE=cpu")
"""


class House:
    """A small house under git, and the bare repository that it publishes to."""

    def __init__(self, folder: Path, built: Path):
        """Take the house that there is in `folder`, or make one there."""
        self.remote = folder / "remote.git"
        self.tree = Tree(folder / "house")
        self.root = self.tree.root
        self.env = os.environ | {
            "SITE_ROOT": SITE_ROOT,
            "TMPDIR": str(folder / "tmp"),  # a killed process leaves its folder behind
            "BUILT": str(built),  # steps.py
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if self.remote.exists():
            return
        small_house(self.root)
        self.tree.write("constraints.txt", (ROOT / "constraints.txt").read_text("utf-8"))
        self.tree.write(".gitignore", (ROOT / ".gitignore").read_text("utf-8") + "/closed\n")
        self.tree.write("tools/gate.py", GATE)
        folder.joinpath("tmp").mkdir()
        subprocess.run(["git", "init", "--quiet", "--bare", str(self.remote)], check=True)
        for command in (
            "init --quiet --initial-branch=main",
            "config user.name Someone",
            "config user.email someone@example.org",
            f"remote add origin {self.remote}",
        ):
            self.git(*command.split())
        self.version("2.13")

    def git(self, *command: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *command], cwd=at or self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=Change")
        return self.git("rev-parse", "HEAD")

    def version(self, series: str) -> None:
        """Commit the house with another torch."""
        pins = (self.root / "constraints.txt").read_text("utf-8")
        pins = re.sub(r"^torch==.*", f"torch=={series}.0", pins, flags=re.M)
        self.tree.write("constraints.txt", pins)
        self.commit()

    def add_page(self, name: str) -> None:
        """Commit one more page in every language."""
        for lang in LANGS:
            text = PAGE.format(title=name.upper(), other="index.md#loop")
            self.tree.write(f"docs/{lang}/{name}.md", text)
        self.tree.edit("mkdocs.yml", "nav: [index.md, ", f"nav: [index.md, {name}.md, ")
        self.commit()

    def publish(self, version: str, alias: str = "", *more: str) -> subprocess.CompletedProcess:
        command = ["tools.publish", version, "--alias", alias, *more]
        return WARM.run(command, self.root, self.env, 120)

    def tip(self) -> str:
        """The commit that is published, nothing before the first."""
        found = self.git("for-each-ref", "--format=%(objectname)", "refs/heads", at=self.remote)
        return found

    def ls(self, path: str = "", commit: str = "gh-pages") -> list[str]:
        return self.git("ls-tree", "--name-only", f"{commit}:{path}", at=self.remote).splitlines()

    def show(self, path: str, commit: str = "gh-pages") -> str:
        return self.git("show", f"{commit}:{path}", at=self.remote)

    def versions(self, lang: str = "en") -> dict[str, list[str]]:
        """The published versions of a language with their aliases, in the order of the list."""
        listed = json.loads(self.show(f"{lang}/versions.json"))
        return {entry["version"]: entry["aliases"] for entry in listed}

    def incomplete(self, version: str) -> list[str]:
        """What the branch lacks of `version`, which was published."""
        faults = []
        for lang in LANGS:
            if version not in self.versions(lang):
                faults.append(f"{lang}: not in the list")
            elif not {"index.html", "amp", "search", "assets"} <= set(self.ls(f"{lang}/{version}")):
                faults.append(f"{lang}: pages are missing")
            if f'href="{version}/"' not in self.show(f"{lang}/versions.html"):
                faults.append(f"{lang}: not among all versions")
        if f'"{version}"' not in self.show("404.html"):
            faults.append("404.html does not know it")
        return faults


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id) -> Path:  # noqa: F811 (it is that fixture)
    """A folder that all workers share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "publish"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def house(tmp_path, shared) -> House:
    """A house, nothing of which is published."""
    return House(tmp_path, shared)


@pytest.fixture(scope="session")
def published(shared) -> House:
    """2.11, then with one more page 2.12 and 2.13, which is latest, then with another page dev.

    Published once, by the first worker that asks. `tips` has the commit of each, and the folder
    `branch` the files at the end.
    """
    folder, kept = shared / "published", shared / "published.json"
    with (shared / "published.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            (folder / "branch").mkdir(parents=True)
            house, tips = House(folder, shared), {}
            for version, page in (("2.11", ""), ("2.12", "ddp"), ("2.13", ""), ("dev", "new")):
                if page:
                    house.add_page(page)
                if version != "dev":
                    house.version(version)
                done = house.publish(version, "" if version == "dev" else "latest")
                assert done.returncode == 0, done.stderr
                tips[version] = house.tip()
            house.git(
                *(f"--git-dir={house.remote}", f"--work-tree={folder / 'branch'}"),
                *("checkout", "--quiet", "--force", "gh-pages", "--", "."),
            )
            kept.write_text(json.dumps(tips))
    house = House(folder, shared)
    house.tips = json.loads(kept.read_text())
    return house


@pytest.fixture(scope="session")
def folder(published) -> Path:
    """The files of the published branch."""
    return published.root.parent / "branch"


@pytest.fixture(scope="session")
def site(folder):
    """The published branch as its host serves it, below /scale/."""
    with preview.server(folder, SITE_ROOT) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, server.address)
        server.shutdown()
