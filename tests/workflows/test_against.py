"""The snippets are run against the torch that was asked for."""

import re
import subprocess
import sys

import pytest

from tools import against
from tools.languages import ROOT
from tools.snippets import load_all

PINS = "# pins\naccelerate==1.2\npytest==9.2.0\ntorch==2.13.0\ntorchvision==0.1\n"


def test_the_oldest_torch_is_the_one_that_the_programs_claim():
    claimed = set()
    for snippet in load_all():
        head = snippet.source.split("# ///")[1]
        claimed |= set(re.findall(r'"torch>=([\d.]+)', head))
    assert claimed == {against.OLDEST}


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("newest", ["--upgrade", "torch", "accelerate"]),
        ("oldest", ["torch==2.11.*", "accelerate"]),
        ("2.12", ["torch==2.12.*", "accelerate"]),
        ("2.12.1", ["torch==2.12.1", "accelerate"]),
    ],
)
def test_what_pip_is_asked_for(name, asks):
    assert against.wanted(name) == asks


@pytest.mark.parametrize("name", ["", "new", "2", "2.x", "../x", "2.11;ls"])
def test_another_name_is_refused(name):
    with pytest.raises(ValueError, match="is no torch: say newest, oldest or a version"):
        against.wanted(name)


def test_only_what_the_run_is_about_is_free_of_its_pin():
    assert against.constraints("oldest", PINS) == PINS.replace("torch==2.13.0\n", "")
    free = PINS.replace("torch==2.13.0\n", "").replace("accelerate==1.2\n", "")
    assert against.constraints("newest", PINS) == free


def test_a_wrong_name_ends_before_anything_is_installed():
    done = subprocess.run(
        [sys.executable, "-m", "tools.against", "newer"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith("say newest, oldest or a version such as 2.12")
