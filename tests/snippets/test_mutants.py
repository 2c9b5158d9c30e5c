"""The mutants find a statement that nobody would miss, and no other."""

import subprocess
import sys
import time

import pytest

from tests.snippets import mutants, runner
from tools.snippets import ROOT, load

HEAD = '# /// script\n# requires-python = ">=3.11"\n# dependencies = []\n#\n# [tool.lesson]\n'
PROGRAM = f'''{HEAD}# seconds = 1
# ///
"""A planted program."""

# --8<-- [start:main]
import math

print("numbers")
dead = 1
weight = 2
for step in range(2):
    # --8<-- [start:new]
    weight = weight * 2
    dead = dead + step
    # --8<-- [end:new]
print("weight:", weight)
claimed = 5
# --8<-- [end:main]
'''
CLAIM = """
def test_claim(program):
    assert program("amp/planted.py")["claimed"] == 5
"""
# The claim tests of a planted folder need the fixtures of this one.
CONFTEST = "from tests.snippets.conftest import *  # noqa: F403\n"


@pytest.fixture
def planted(tmp_path):
    (tmp_path / "snippets/amp").mkdir(parents=True)
    (tmp_path / "snippets/amp/planted.py").write_text(PROGRAM)
    (tmp_path / "snippets/amp/planted.out").write_text("numbers\nweight: 8\n")
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims/conftest.py").write_text(CONFTEST)
    (tmp_path / "claims/test_planted.py").write_text(CLAIM)
    return tmp_path


def run(planted, only=""):
    return mutants.main(only, planted / "snippets", planted / "survivors.yml", planted / "claims")


def test_a_dead_statement_survives_and_is_named(planted, capsys):
    assert run(planted) == 1
    out = capsys.readouterr().out
    assert "snippets/amp/planted.py:19: dead = dead + step" in out
    assert "weight" not in out, "the output misses these"
    assert "claimed" not in out, "a claim misses this"
    assert "1 to look at" in out


def test_a_listed_survivor_is_no_fault_while_it_survives(planted, capsys):
    entry = "- {{program: amp/planted.py, statement: '{}', reason: shows a habit}}\n"
    (planted / "survivors.yml").write_text(entry.format("dead = dead + step"))
    assert run(planted, "amp/planted") == 0
    (planted / "survivors.yml").write_text(
        entry.format("dead = dead + step") + entry.format("weight = 2")
    )
    assert run(planted, "amp") == 1
    assert "'weight = 2' does not survive; remove the entry" in capsys.readouterr().out


@pytest.mark.parametrize(
    "entries", ["- {program: amp/planted.py, statement: weight = 2}\n", "a: b\n", "- [\n"]
)
def test_a_survivor_without_a_reason_is_an_error(planted, entries, capsys):
    (planted / "survivors.yml").write_text(entries)
    assert run(planted) == 1
    assert "survivors.yml:" in capsys.readouterr().err


def test_a_name_that_no_program_has_is_an_error(planted, capsys):
    assert run(planted, "amp/none") == 1
    assert "no program is called 'amp/none'" in capsys.readouterr().err


def test_every_mutant_keeps_its_section_markers_and_lines(planted):
    snippet = load("amp/planted.py", planted / "snippets")
    made = list(mutants.mutants(snippet))
    assert [m.statement for m in made if m.line == 16] == ["for step in range(2):"]
    for mutant in made:
        assert mutant.source.count("--8<--") == snippet.source.count("--8<--")
        assert mutant.source.count("\n") == snippet.source.count("\n")
    assert not any("import" in m.statement or '"numbers"' in m.statement for m in made)


FIXTURES = """
import pytest


@pytest.fixture
def ran(program):
    return program("amp/a.py")


@pytest.fixture
def number(ran):
    return ran["number"]


def test_a(ran):
    pass


def test_b(number):
    pass


def test_c(program):
    pass
"""


def test_claims_are_found_by_the_program_they_name(tmp_path):
    file = tmp_path / "test_x.py"
    file.write_text("def test_a(program):\n    program('amp/a.py')\n\n\ndef test_b():\n    pass\n")
    assert mutants.claims_of("amp/a.py", tmp_path) == [f"{file}::test_a"]
    assert mutants.claims_of("amp/b.py", tmp_path) == []
    file.write_text("ALL = ['amp/a.py']\n\n\ndef test_a():\n    pass\n")
    assert mutants.claims_of("amp/a.py", tmp_path) == [str(file)]
    file.write_text(FIXTURES)
    assert mutants.claims_of("amp/a.py", tmp_path) == [f"{file}::test_a", f"{file}::test_b"]
    file.write_text(FIXTURES.replace("fixture\n", "fixture(autouse=True)\n"))
    assert mutants.claims_of("amp/a.py", tmp_path) == [str(file)]


def test_the_marks_of_the_claims_are_known_without_xdist():
    command = [sys.executable, "-m", "pytest", "--markers", "-p", "no:xdist"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "@pytest.mark.xdist_group(name)" in shown


RANKS = f'''{HEAD}# seconds = 1
# ranks = 2
# ///
"""A planted program."""

# --8<-- [start:main]
import os
from pathlib import Path

rank = int(os.environ["RANK"])
there = Path("there")
if rank == 0:
    there.touch()
while not there.exists():
    pass
claimed = rank
print(f"rank {{rank}}")
# --8<-- [end:main]
'''
RANKS_CLAIM = """
def test_claim(ranks):
    found = ranks("amp/planted.py", names=["claimed"])
    assert [one["claimed"] for one in found] == [0, 1]
"""


def test_mutants_of_several_ranks_that_wait_or_break_a_claim_are_found(planted):
    (planted / "snippets/amp/planted.py").write_text(RANKS)
    (planted / "snippets/amp/planted.out").write_text("rank 0\nrank 1\n")
    (planted / "claims/test_planted.py").write_text(RANKS_CLAIM)
    snippet = load("amp/planted.py", planted / "snippets")
    made = {mutant.statement: mutant for mutant in mutants.mutants(snippet)}
    ids = mutants.claims_of("amp/planted.py", planted / "claims")
    assert mutants.time_for(runner.run(snippet)) < 15
    started = time.monotonic()
    assert not mutants.survives(made["there.touch()"], snippet, [], limit=2)
    assert time.monotonic() - started < runner.PATIENCE, "the limit of the mutant, not its own"
    assert mutants.survives(made["claimed = rank"], snippet, [], limit=10)
    assert not mutants.survives(made["claimed = rank"], snippet, ids, limit=10)
