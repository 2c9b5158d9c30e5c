"""What is kept of the costly tests: left out where nothing has changed, and never otherwise."""

import subprocess
import sys
import textwrap

import pytest

from tests import passed
from tests.conftest import ROOT, Tree
from tests.passed import Passed, apart

GOOD = {"setup": "passed", "call": "passed", "teardown": "passed"}
SITE, PUBLISH = "tests/site/test_pages.py", "tests/publish/test_gate.py"


@pytest.fixture
def house(tmp_path) -> Tree:
    house = Tree(tmp_path / "house")
    for path in ("docs/en/amp.md", "theme/page.html", SITE, PUBLISH, "tests/site/look.py"):
        house.write(path, "as it was")
    house.write(".gitignore", "build/\n")
    house.git("init", "-q")
    yield house
    passed.forget()


def ran(house, *tests, during=lambda: None, **ended) -> list[str]:
    """Run the tests that must be; return which were left out."""
    kept = Passed(house.root / "build" / "passed", house.root)
    kept.start()
    left_out = [test for test in tests if kept.has(test, "test_it")]
    for test in tests:
        if test not in left_out:
            for when, outcome in (GOOD | ended).items():
                kept.see(test, "test_it", when, outcome)
                during()
    kept.end()
    return left_out


def test_what_has_passed_is_left_out_until_something_changes_that_it_looks_at(house):
    assert ran(house, SITE, PUBLISH) == []
    assert ran(house, SITE, PUBLISH) == [SITE, PUBLISH]
    for path, left_out in {
        "docs/en/amp.md": [PUBLISH],
        "docs/fr/amp.md": [PUBLISH],  # new, and not committed
        "build/notebooks/amp.ipynb": [SITE, PUBLISH],
        "theme/page.html": [],
        "tests/site/look.py": [],
        PUBLISH: [SITE],
        SITE: [PUBLISH],
    }.items():
        house.write(path, "another")
        assert ran(house, SITE, PUBLISH) == left_out, path
        assert ran(house, SITE, PUBLISH) == [SITE, PUBLISH], path
    (house.root / "theme/page.html").unlink()
    assert ran(house, SITE, PUBLISH) == []


def test_it_is_repeated_with_another_version_or_browser(house, monkeypatch):
    ran(house, SITE)
    for module, name in ((passed.platform, "platform"), (passed, "find")):
        monkeypatch.setattr(module, name, lambda: "another")
        passed._versions.cache_clear()
        assert ran(house, SITE) == []
        assert ran(house, SITE) == [SITE]
    monkeypatch.undo()
    passed._versions.cache_clear()


@pytest.mark.parametrize("when", GOOD)
@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_what_has_not_passed_is_repeated(house, when, outcome):
    for _ in range(2):
        assert ran(house, SITE, **{when: outcome}) == []


def test_one_that_fails_is_forgotten_and_the_others_stay(house):
    ran(house, SITE, PUBLISH)
    kept = Passed(house.root / "build" / "passed", house.root)
    kept.start()
    kept.see(SITE, "test_it", "setup", "failed")
    kept.end()
    assert ran(house, SITE, PUBLISH) == [PUBLISH]


def test_an_edit_while_they_run_counts(house):
    assert ran(house, SITE, during=lambda: house.write("docs/en/amp.md", "edited")) == []
    assert ran(house, SITE) == []
    assert ran(house, SITE) == [SITE]


def test_a_damaged_file_counts_for_nothing(house):
    ran(house, SITE)
    house.write("build/passed", '{"tests": "half"')
    assert ran(house, SITE) == []


def test_without_git_nothing_is_left_out(house):
    ran(house, SITE)
    (house.root / ".git").rename(house.root / "no-git")
    assert ran(house, SITE) == []


def test_only_what_is_named_is_left_out(house):
    assert apart("tests/snippets/test_amp.py") is None
    assert ran(house, "tests/snippets/test_amp.py") == []
    assert ran(house, "tests/snippets/test_amp.py") == []
    for path in passed.COSTLY:
        assert (ROOT / path).exists(), path


PLANTED = """
    from pathlib import Path

    from tests import passed

    passed.COSTLY["test_it.py"] = ("docs",)
    passed.PASSED.file = Path(__file__).with_name("passed")
"""
TESTS = """
    from tests.conftest import ROOT

    def test_good():
        assert (ROOT / "mkdocs.yml").read_text()

    def test_bad():
        assert not "bad"

    def test_looks():
        assert (ROOT / "docs/en/index.md").read_text()
"""


def test_pytest_leaves_them_out_and_says_so_and_sees_one_that_looks_where_it_must_not(tmp_path):
    (tmp_path / "planted.py").write_text(textwrap.dedent(PLANTED))
    (tmp_path / "test_it.py").write_text(textwrap.dedent(TESTS))
    command = f"import sys; sys.path.append({str(tmp_path)!r}); import pytest; pytest.main()"

    def run(*options) -> str:
        plugins = "-p", "tests.conftest", "-p", "planted", "-p", "no:cacheprovider"
        options = "-q", "--kept", *plugins, f"--rootdir={tmp_path}", *options, tmp_path
        done = subprocess.run(
            [sys.executable, "-c", command, *options], cwd=ROOT, capture_output=True, text=True
        )
        return done.stdout

    for options in (), ("-n", "1"):
        (tmp_path / "passed").unlink(missing_ok=True)
        first = run(*options)
        assert "1 failed, 2 passed, 1 error" in first, first
        assert "does not look at" in first and "docs/en/index.md" in first
        assert "kept:" not in first
        again = run(*options)
        assert "::test_good" not in again and "1 failed, 1 passed, " in again, again
        assert "1 error" in again
        assert "kept: 1 costly tests have passed before" in again
