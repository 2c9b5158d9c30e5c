"""What is kept of the runs of programs: taken where nothing has changed, and never otherwise."""

import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

from tests import conftest, kept
from tests.conftest import ROOT
from tests.kept import Runs
from tests.snippets import runner
from tools.snippets import load

HEAD = '# /// script\n# requires-python = ">=3.11"\n# dependencies = ["torch>=2.11"]\n#\n'
HEAD += '# [tool.lesson]\n# seconds = 5\n# ///\n"""X."""\n'


class Made:
    """Counts how often it was asked."""

    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1
        return f"made {self.count}"


def started(folder, code="code") -> Runs:
    runs = Runs(folder, code)
    runs.start()
    return runs


def test_what_a_passed_test_has_run_is_not_repeated(tmp_path):
    make = Made()
    for taken in (0, 1):
        runs = started(tmp_path)
        assert runs.get(["source"], make) == "made 1"
        assert runs.taken == taken
        runs.end(passed=True)
    assert started(tmp_path).get(["other source"], make) == "made 2"


def test_a_failure_is_never_kept_and_throws_away_what_it_took(tmp_path):
    make = Made()
    runs = started(tmp_path)
    runs.get(["source"], make)
    runs.end(passed=False)
    assert runs.get(["source"], make) == "made 2"
    runs.end(passed=True)
    assert runs.get(["source"], make) == "made 2"
    runs.end(passed=False)
    assert runs.get(["source"], make) == "made 3"


def test_what_is_not_good_is_not_kept_though_its_test_passes(tmp_path):
    runs, make = started(tmp_path), Made()
    for number in (1, 2):
        assert runs.get(["source"], make, lambda made: False) == f"made {number}"
        runs.end(passed=True)


def test_a_test_that_compares_two_runs_gets_two(tmp_path):
    make = Made()
    for _ in range(2):
        runs = started(tmp_path)
        assert [runs.get(["source"], make) for _ in range(2)] == ["made 1", "made 2"]
        runs.end(passed=True)


def test_other_code_or_versions_start_anew_and_remove_what_is_old(tmp_path):
    make = Made()
    for code in ("one", "other", "one"):
        runs = started(tmp_path, code)
        runs.get(["source"], make)
        runs.end(passed=True)
        assert [folder.name for folder in tmp_path.iterdir()] == [code]
    assert make.count == 3


def test_an_entry_that_is_not_whole_is_run_again(tmp_path):
    make = Made()
    runs = started(tmp_path)
    runs.get(["source"], make)
    runs.end(passed=True)
    [file] = tmp_path.rglob("*-1")
    for content in (file.read_bytes()[:-1], b""):
        file.write_bytes(content)
        assert runs.get(["source"], make) == f"made {make.count}"
        runs.end(passed=False)
    assert make.count == 3


def test_without_the_option_nothing_is_read_or_written(tmp_path):
    make = Made()
    runs = Runs(tmp_path, "code")
    for number in (1, 2):
        assert runs.get(["source"], make) == f"made {number}"
        runs.end(passed=True)
    assert not list(tmp_path.iterdir())


def house(root):
    for name in ("constraints.txt", "tests/snippets/a.py", "tests/pages/b.py", "tools/x/c.py"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1\n")
    return root


@pytest.mark.parametrize("name", ["constraints.txt", "tests/snippets/a.py", "tools/x/c.py"])
def test_a_changed_file_of_the_tests_or_tools_or_pins_is_other_code(tmp_path, name):
    before = kept.base(house(tmp_path))
    assert kept.base(tmp_path) == before
    (tmp_path / name).write_text("2\n")
    assert kept.base(tmp_path) != before


def test_another_version_is_other_code(tmp_path, monkeypatch):
    before = kept.base(house(tmp_path))
    monkeypatch.setattr(kept.metadata, "version", lambda name: "0")
    assert kept.base(tmp_path) != before
    monkeypatch.undo()
    monkeypatch.setattr(kept.sys, "version", "4")
    assert kept.base(tmp_path) != before


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Kept runs of the test's own."""
    runs = started(tmp_path / "runs")
    monkeypatch.setattr(kept, "RUNS", runs)
    return runs


def ahead():
    print("ahead")


def test_a_program_is_run_again_when_anything_it_is_run_with_changes(tmp_path, runs):
    file = tmp_path / "amp/a.py"
    file.parent.mkdir()
    file.write_text(HEAD + "x = 1\nprint(x)\n")

    def taken(**options) -> bool:
        count = runs.taken
        result, _ = kept.run_ranks(load("amp/a.py", tmp_path), **options)
        assert result.text.endswith("1\n")
        runs.end(passed=True)
        return runs.taken > count

    assert [taken(), taken()] == [False, True]
    assert [taken(count=2), taken(count=2)] == [False, True]
    for probe in (runner.Probe(["x"]), runner.Probe(["x"], ahead)):
        assert [taken(probe=probe), taken(probe=probe)] == [False, True]
    assert [taken(folder=tmp_path / "work") for _ in range(2)] == [False, False]
    file.write_text(file.read_text().replace("seconds = 5", "seconds = 6"))
    assert not taken()
    file.write_text(file.read_text() + "print(x)\n")
    assert [taken(), taken()] == [False, True]
    file.write_text(file.read_text() + "# a comment\n")
    assert taken()
    file.write_text(file.read_text() + "import traceback\n")
    assert not taken()
    file.write_text(file.read_text() + "# a comment\n")
    assert not taken()


def test_a_program_that_fails_is_not_kept(tmp_path, runs):
    (tmp_path / "amp").mkdir()
    (tmp_path / "amp/a.py").write_text(HEAD + "1 / 0\n")
    for _ in range(2):
        result, _ = kept.run_ranks(load("amp/a.py", tmp_path))
        assert result.exception == "ZeroDivisionError"
        runs.end(passed=True)
    assert runs.taken == 0


TESTS = """
    from tests.kept import RUNS

    def test_a(pytestconfig):
        assert RUNS.get(["a", pytestconfig.rootpath], lambda: 1) == {wanted}

    def test_b(pytestconfig):
        assert RUNS.get(["b", pytestconfig.rootpath], lambda: 1) == 1
"""


def test_pytest_says_how_many_were_not_repeated(tmp_path):
    def run(*options, wanted=1) -> str:
        (tmp_path / "test_it.py").write_text(textwrap.dedent(TESTS.format(wanted=wanted)))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", *options]
        done = subprocess.run(
            [*command, f"--rootdir={tmp_path}", "-p", "no:cacheprovider", tmp_path],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        return done.stdout

    assert "kept:" not in run("--kept", wanted=2)  # a fails
    assert "kept: 1 runs of programs" in run("--kept", "-n", "1")
    assert "kept: 2 runs of programs" in run("--kept")


@pytest.mark.parametrize(("device", "on"), [("cuda", False), ("cpu", True)])
def test_on_another_device_none_is_taken(runs, monkeypatch, device, on):
    runs.on = False
    monkeypatch.setattr(conftest, "RUNS", runs)
    chosen = {"--kept": True, "--device": device}
    conftest.pytest_configure(SimpleNamespace(getoption=lambda name, *_: chosen[name]))
    assert runs.on is on
