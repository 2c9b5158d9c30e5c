"""A copy of the house with small pages, for tests that build it, serve it or spoil it."""

import atexit
import compileall
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tests import passed
from tests.kept import RUNS
from tests.passed import PASSED
from tests.warm import Parent

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
ROOT = Path(__file__).resolve().parents[1]
WARM = Parent()
# Where it is set, as in many containers, print writes a line and its end apart, and the lines of
# two ranks run into each other. What the tests start prints as it does in a reader's shell.
os.environ.pop("PYTHONUNBUFFERED", None)

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

    def git(self, *command: str) -> str:
        """Run git in the copy; return what it says."""
        own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        who = ["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *who, *command],
            cwd=self.root,
            env=own,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self) -> None:
        """Commit all of the copy."""
        if not (self.root / ".git").exists():
            self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "All of it")

    def run(self, *command: str) -> subprocess.CompletedProcess:
        """Run `python -m ...` in the copy."""
        return WARM.run(command, self.root, os.environ | {"NO_MKDOCS_2_WARNING": "1"}, 120)


def pytest_addoption(parser):
    parser.addoption(
        "--kept",
        action="store_true",
        help="don't repeat a run of a program, or a costly test, that has passed with the same "
        "code and versions",
    )


def pytest_configure(config):
    config.not_repeated, config.passed_before = 0, 0
    if config.getoption("--kept") and config.getoption("--device", "cpu") == "cpu":
        RUNS.start()
        if "SITE" not in os.environ:  # tests/site/conftest.py: it may have changed
            PASSED.start()


_opened: set[tuple[str, str]] = set()  # (folder at the top of the repository, path)


def _see(event: str, arguments: tuple) -> None:
    """Note which files and folders of the repository the tests look at."""
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str | Path):
        name = str(arguments[0])  # a bare name belongs to an open folder: shutil.rmtree
        path = os.path.abspath(name) if "/" in name else ""
        if path.startswith(f"{ROOT}/"):
            _opened.add((path[len(f"{ROOT}/") :].partition("/")[0], path))


sys.addaudithook(_see)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    _opened.clear()
    return (yield)


@pytest.fixture(autouse=True)
def looks_only_where_it_is_said(request):
    """Fail a costly test that looks at what is said not to count for it."""
    yield
    not_seen = passed.apart(request.node.location[0]) or ()
    seen = sorted(path for top, path in _opened if top in not_seen)
    assert not seen, f"tests/passed.py says that this test does not look at {seen}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" or not report.passed:
        RUNS.end(report.passed)
    return report


def pytest_runtest_logreport(report):
    PASSED.see(report.location[0], report.location[2], report.when, report.outcome)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    told = getattr(node, "workeroutput", {})
    node.config.not_repeated += told.get("taken", 0)
    node.config.passed_before = max(node.config.passed_before, told.get("before", 0))  # all alike


def pytest_terminal_summary(terminalreporter, config):
    if config.passed_before:
        terminalreporter.write_line(
            f"kept: {config.passed_before} costly tests have passed before, with nothing changed "
            "that they look at, and were not repeated (rm -r build/cache/passed, and they are)"
        )
    if taken := config.not_repeated + RUNS.taken:
        terminalreporter.write_line(
            f"kept: {taken} runs of programs have passed before with the same code and versions "
            "and were not repeated (rm -r build/cache/runs, and they are)"
        )


@pytest.hookimpl(trylast=True)  # after xdist
def pytest_collection_modifyitems(config, items) -> None:
    """Keep the groups of --dist loadgroup together; leave out what need not be repeated.

    xdist 3.8 writes a test's group to where pytest 9.2 does not read it (pytest-xdist#1386).
    """
    for item in items:
        if named := vars(item).get("_nodeid"):
            item._id = type(item.id).parse(named)
    before = {item for item in items if PASSED.has(item.location[0], item.location[2])}
    if before:
        config.passed_before = len(before)
        config.hook.pytest_deselected(items=list(before))
        items[:] = [item for item in items if item not in before]


def pytest_sessionfinish(session) -> None:
    """End what this process has started; a worker tells what it took from the kept."""
    WARM.end()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput |= {
            "taken": RUNS.taken,
            "before": session.config.passed_before,
        }
    elif PASSED.on:
        PASSED.end()


@cache
def _house() -> Path:
    """Make the house once, with what its builds would make again: bytecode, pictures, notebooks."""
    folder = Path(tempfile.mkdtemp(prefix="house-"))
    atexit.register(shutil.rmtree, folder)
    house = Tree(folder / "house")
    # The record of the translations speaks of the real pages.
    ignore = shutil.ignore_patterns("__pycache__", "sections.yml")
    for name in ("locales", "theme", "tools"):
        shutil.copytree(ROOT / name, house.root / name, ignore=ignore)
    for name in ("pyproject.toml", "constraints.txt", ".gitignore"):
        shutil.copy(ROOT / name, house.root)
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    nav = re.compile(r"^nav:\n(?: +- .*\n)+", re.M)
    house.write("mkdocs.yml", nav.sub("nav: [index.md, amp.md]\n", settings))
    for lang in ("en", "fr", "de"):
        house.write(f"docs/{lang}/index.md", PAGE.format(title="Home", other="amp.md"))
        house.write(f"docs/{lang}/amp.md", PAGE.format(title="Lesson", other="index.md#loop"))
    house.write("snippets/small/right.py", PROGRAM.format(more=""))
    house.write("snippets/small/right.out", "total: 3\n")
    compileall.compile_dir(house.root / "tools", quiet=1)
    house.run("tools.build")  # where this fails, so do the tests
    shutil.rmtree(house.root / "site", ignore_errors=True)
    shutil.rmtree(house.root / "build" / "cache", ignore_errors=True)
    return house.root


def small_house(root: Path) -> Tree:
    """Make the copy in the folder `root`."""
    shutil.copytree(_house(), root)
    return Tree(root)


@pytest.fixture
def tree(tmp_path) -> Tree:
    """The copy, to be changed at will."""
    return small_house(tmp_path / "house")


@pytest.fixture(scope="session")
def worker_id(request) -> str:
    """The name of this worker, `master` without any."""
    return getattr(request.config, "workerinput", {}).get("workerid", "master")


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a worker: a second Playwright in one process is refused."""
    from playwright.sync_api import sync_playwright  # not there where only programs are tested

    from tools.browser import find

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, site):
    """A function that opens a page of the site and fails the test for what goes wrong there.

    open_page("en/amp/", width=390, scheme="dark", javascript=False); `bad=html` puts a planted
    page in its place, and `page.faults` is what the watch has seen; only then it isn't an error.
    """
    from tests.site.look import watch

    contexts, pages = [], []

    def open_page(path, width=1280, scheme="light", javascript=True, bad=None):
        context = browser.new_context(
            viewport={"width": width, "height": 844 if width < 500 else 900},
            color_scheme=scheme,
            java_script_enabled=javascript,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.faults = watch(page, site.url)
        if bad is None:
            pages.append(page)
        else:
            # Not the browser's own request for an icon of a page without one.
            icon = '<link rel="icon" href="data:,">'
            page.route(
                site.url + path,
                lambda route: route.fulfill(body=icon + bad, content_type="text/html"),
            )
        page.goto(path if ":" in path else site.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    faults = [fault for page in pages for fault in page.faults]
    assert not faults, "\n".join(faults)
