"""Each program runs, without a warning, in the time it states, and prints its ``.out``."""

import pytest

from tests import kept
from tests.snippets import compare
from tests.snippets.conftest import ROOT, skip_if_too_few
from tools.snippets import load_all

PROGRAMS = load_all(ROOT)


def pytest_generate_tests(metafunc):
    if "snippet" in metafunc.fixturenames:
        device = metafunc.config.getoption("--device", "cpu")
        able = [snippet for snippet in PROGRAMS if device in snippet.lesson["devices"]]
        metafunc.parametrize("snippet", able, ids=lambda snippet: snippet.path)


def test_program_prints_its_out(snippet, device):
    skip_if_too_few(snippet, device)
    result, _ = kept.run_ranks(snippet, device)
    found = compare.faults(snippet, result)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_no_output_is_left_without_its_program():
    known = {snippet.file.with_suffix("") for snippet in PROGRAMS}
    left = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.out")
        if path.with_suffix("") not in known
        and path.with_suffix("").with_suffix("") not in known  # name.device.out
    ]
    assert not left, f"{left}: no program of that name; remove the files or rename the programs"
