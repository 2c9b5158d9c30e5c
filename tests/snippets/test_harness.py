"""The harness sees each way a program can be wrong, and says what to do.

Each test plants one bad program.
"""

import os
import subprocess
import sys
import time

import pytest

from tests.snippets import compare, outputs, planted, runner
from tests.snippets.planted import faults
from tools.snippets import ROOT, SnippetError, load_all

HEAD = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = 2
{keys}# ///
"""A planted program."""

'''


@pytest.fixture
def plant(tmp_path):
    """Write a program (and its .out) into an empty snippets folder and load it."""

    def write(body, out=None, keys=(), name="amp/planted.py"):
        return planted.write(tmp_path, name, HEAD, body, out, keys)

    return write


def test_right_program_has_no_fault(plant):
    assert faults(plant("print('loss:', 0.25)\n", "loss: 0.25\n")) == ""


def test_wrong_number_is_a_fault(plant):
    found = faults(plant("print('loss:', 0.27)\n", "loss: 0.25\n"))
    assert "line 1: expected 'loss: 0.25', printed 'loss: 0.27'" in found
    assert "make outputs" in found


def test_wrong_whole_number_is_a_fault(plant):
    assert "expected 'steps: 3', printed 'steps: 4'" in faults(
        plant("print('steps:', 4)\n", "steps: 3\n")
    )


def test_wrong_text_is_a_fault(plant):
    assert "expected 'dtype: float16'" in faults(
        plant("print('dtype: float32')\n", "dtype: float16\n")
    )


def test_line_too_many_and_too_few_is_a_fault(plant):
    assert "expected '', printed 'b'" in faults(plant("print('a')\nprint('b')\n", "a\n"))
    assert "(no such line)" in faults(plant("print('a')\n", "a\nb\n"))


def test_missing_out_is_a_fault(plant):
    assert "has no planted.out; run 'make outputs'" in faults(plant("print(1)\n"))


def test_warning_is_a_fault(plant):
    found = faults(plant("import warnings\nwarnings.warn('old spelling')\n", ""))
    assert "ended with UserWarning" in found and "without warnings" in found
    assert "planted.py" in found and "warnings.warn('old spelling')" in found


def test_warning_of_torch_is_a_fault(plant):
    assert "ended with FutureWarning" in faults(
        plant("import torch\ntorch.cuda.amp.autocast()\n", "")
    )


def test_unexpected_error_is_a_fault_with_its_line(plant):
    found = faults(plant("x = 1\nx / 0\n", ""))
    assert "ended with ZeroDivisionError" in found and "line 11" in found
    assert "runner.py" not in found, "the traceback starts in the program"


def test_exit_is_a_fault(plant):
    assert "ended with SystemExit" in faults(plant("raise SystemExit(0)\n", ""))


def test_death_of_the_process_is_a_fault(plant):
    assert "died with code" in faults(plant("import os\nos.abort()\n", ""))
    found = faults(plant("import os\nprint(1, flush=True)\nos._exit(0)\nprint(2)\n", "1\n"))
    assert "died with code 0, before the program's end" in found


def test_what_a_page_cannot_show_is_a_fault(plant):
    assert "printed '\\r'; a page" in faults(plant("print('1\\r2')\n", "1\n2\n"))
    assert "printed '\\x1b'" in faults(plant("print('\\x1b[1mloss')\n", "\x1b[1mloss\n"))
    found = faults(plant("import os\nos.write(1, b'\\xff\\n')\n", "\ufffd\n"))
    assert "printed '\\ufffd'" in found


def test_out_that_is_not_utf_8_is_a_fault(plant, tmp_path):
    snippet = plant("print(1)\n")
    (tmp_path / "amp/planted.out").write_bytes(b"\xff\n")
    assert "planted.out can't be read" in faults(snippet)
    assert outputs.main(["--root", str(tmp_path)]) == 0
    assert faults(snippet) == ""


def test_what_a_program_leaves_running_ends_with_it(plant):
    body = "import os, time\npid = os.fork()\nif not pid:\n    time.sleep(60)\nprint(pid)\n"
    pid = int(runner.run(plant(body)).text)
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(pid, 0)
            time.sleep(0.1)


def test_output_without_end_is_a_fault_of_a_few_lines(plant):
    found = faults(plant("while True:\n    print('x' * 2**16)\n", "x\n"))
    assert "; it may print, or write to a file, 128 MiB at most" in found
    found = faults(plant("for _ in range(99):\n    print('x' * 9999)\n", "x\n"))
    assert "and so on" in found and "more lines" in found and len(found) < 10_000


def test_hang_is_a_fault_with_all_stacks(plant):
    found = faults(plant("import time\nwhile True:\n    time.sleep(1)\n", ""), limit=1)
    assert "was stopped" in found and "planted.py" in found and "line 12" in found


def test_reading_standard_input_does_not_hang(plant):
    assert "ended with EOFError" in faults(plant("input()\n", ""))


def test_slower_than_stated_is_a_fault(plant):
    body = "import time\nwhile time.process_time() < 2.5 + start:\n    pass\n"
    found = faults(plant("import time\nstart = time.process_time()\n" + body, ""))
    assert "processor time; make it faster or raise 'seconds'" in found


def test_output_to_standard_error_is_a_fault(plant):
    assert "wrote to standard error" in faults(
        plant("import sys\nprint('x', file=sys.stderr)\n", "")
    )
    assert "wrote to standard error" in faults(plant("import os\nos.write(2, b'x')\n", ""))


def test_declared_error_stands_at_the_end(plant):
    snippet = plant(
        "print('before')\nraise ValueError('no')\n",
        "before\nValueError: no\n",
        ['raises = "ValueError"'],
        "amp/wrong/planted.py",
    )
    assert faults(snippet) == ""


def test_declared_error_that_does_not_come_is_a_fault(plant):
    snippet = plant("print(1)\n", "1\n", ['raises = "ValueError"'], "amp/wrong/planted.py")
    assert 'declares raises = "ValueError" but ended without an error' in faults(snippet)


def test_another_error_than_declared_is_a_fault(plant):
    snippet = plant("1 / 0\n", "1\n", ['raises = "ValueError"'], "amp/wrong/planted.py")
    assert "ended with ZeroDivisionError; it declares" in faults(snippet)


def test_declared_warning_stands_in_its_place(plant):
    snippet = plant(
        "import warnings\nprint('a')\nwarnings.warn('old', FutureWarning)\nprint('b')\n",
        "a\nFutureWarning: old\nb\n",
        ['warns = "FutureWarning"'],
        "amp/wrong/planted.py",
    )
    assert faults(snippet) == ""


def test_declared_warning_that_does_not_come_is_a_fault(plant):
    snippet = plant("print(1)\n", "1\n", ['warns = "FutureWarning"'], "amp/wrong/planted.py")
    assert "but nothing warned" in faults(snippet)


def test_another_warning_than_declared_is_a_fault(plant):
    snippet = plant(
        "import warnings\nwarnings.warn('old')\n",
        "",
        ['warns = "FutureWarning"'],
        "amp/wrong/planted.py",
    )
    assert "ended with UserWarning" in faults(snippet)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["second = 2"], "unknown key 'second'; the keys are seconds"),
        (['ranks = "2"'], "wrong type"),
        (['raises = "ValueError"'], "move the program into wrong/"),
        (["rtol = 1 2"], "no TOML"),
        (['varies = ["("]'], "no regular expression"),
        (['varies = ["x*"]'], "'x*' matches nothing at all"),
        (["devices = []"], "are not devices; there are cpu, cuda"),
        (['devices = ["gpu"]'], "are not devices; there are cpu, cuda"),
        (['raises = ""'], "is no name of an error"),
        (["ranks = 0"], "is less than 1"),
        (["ranks = 1000"], "is more than 16, the most"),
        (["rtol = 10.0"], "is not between 0 and 1"),
    ],
)
def test_bad_metadata_is_an_error_with_its_line(plant, keys, message):
    with pytest.raises(SnippetError) as caught:
        plant("", keys=keys)
    assert message in str(caught.value)
    assert caught.value.line == 7


def test_no_metadata_is_an_error(tmp_path):
    (tmp_path / "a.py").write_text('"""Bare."""\n')
    with pytest.raises(SnippetError, match="0 PEP 723 blocks"):
        load_all(tmp_path)


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("import warnings\n\nwarnings.simplefilter('ignore')\n", 12, "hides a warning"),
        ("from warnings import catch_warnings\n", 10, "hides a warning"),
        ("try:\n    x = 1\nexcept (OSError, UserWarning):\n    pass\n", 12, "hides a warning"),
        ("# --8<-- [start:a]\nx = 1\n", 10, "'a' has no end marker"),
        ("x = 1\n# --8<-- [end:a]\n", 11, "'a' ends but never starts"),
        ("# --8<-- [start:a]\n# --8<-- [end:a]\n", 10, "'a' is empty"),
        (
            "# --8<-- [start:a]\nx = 1\n# --8<-- [end:a]\n# --8<-- [start:a]\n",
            13,
            "a second section 'a'",
        ),
        (
            "# --8<-- [start:a]\n# --8<-- [start:b]\nx = 1\n# --8<-- [end:a]\n",
            13,
            "'a' ends inside 'b'",
        ),
        ("# --8<-- [start:new]\nx = 1\n# --8<-- [end:new]\n", 10, "stands in no section"),
        ("x = 1  # --8<-- [start:a]\n", 10, "can't be read"),
        ("x = (\n", 10, "not Python"),
    ],
)
def test_bad_programs_are_errors_with_their_line(plant, body, line, message):
    with pytest.raises(SnippetError) as caught:
        plant(body)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_section_knows_its_lines_and_the_new_ones(plant):
    body = (
        "# --8<-- [start:loop]\n"
        "for i in range(2):\n"
        "    # --8<-- [start:new]\n"
        "    print(i)\n"
        "    # --8<-- [end:new]\n"
        "# --8<-- [end:loop]\n"
    )
    section = plant(body).sections["loop"]
    assert section.text == "for i in range(2):\n    print(i)"
    assert section.new == (2,)
    assert section.lines == (11, 13)


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("loss 0.7150", "loss 0.7151", True),
        ("loss 0.7150", "loss 0.7152", False),
        ("loss 1.2e-05", "loss 1.3e-05", True),
        ("loss 1.2e-05", "loss 1.2e-04", False),
        ("loss 0.0e+00", "loss 1.0e-01", False),
        ("scale 65536", "scale 65535", False),
        ("loss nan", "loss inf", False),
        ("loss   9.99", "loss  10.00", True),
        ("loss 9.99", "loss  9.99", False),
        ("tensor([3., 1.])", "tensor([4., 1.])", False),
        ("tensor([3., 1.])", "tensor([3., 1.])", True),
        ("tensor(65504.)", "tensor(65504)", False),
        ("float16", "float32", False),
        ("2 of 3", "2 in 3", False),
        ("0.5 x", "0.5", False),
    ],
)
def test_lines_are_compared_by_text_and_tolerant_numbers(expected, actual, equal):
    assert compare.lines_equal(expected, actual) is equal


def test_rtol_widens_the_tolerance():
    assert compare.lines_equal("loss 0.500", "loss 0.504", rtol=0.01)
    assert not compare.lines_equal("loss 0.500", "loss 0.506", rtol=0.01)


def test_a_varying_line_is_compared_by_what_its_pattern_matches():
    varies = [r"device: ", r"time: .*(?= ms)"]
    assert not compare.differences("device: cpu", "device: Some GPU", varies)
    assert compare.differences("device: cpu", "machine: cpu", varies)
    assert compare.differences("time: 1.00 ms", "time: 2.00 ms", varies)
    assert compare.differences("a", "b", ["(?=a|b)"])


def test_outputs_writes_a_missing_file_and_says_so(plant, tmp_path, capsys):
    plant("print(1)\n")
    assert outputs.main(["--root", str(tmp_path)]) == 0
    assert (tmp_path / "amp/planted.out").read_text() == "1\n"
    assert "new        amp/planted.out" in capsys.readouterr().out


def test_outputs_keeps_a_file_that_holds(plant, tmp_path, capsys):
    plant("print(0.25)\n", "0.26\n")
    assert outputs.main(["--root", str(tmp_path)]) == 0
    assert (tmp_path / "amp/planted.out").read_text() == "0.26\n"
    assert "changed" not in capsys.readouterr().out


def test_outputs_names_the_lines_of_the_pages_that_show_what_changed(plant, tmp_path, capsys):
    plant("print(0.25)\n", "0.35\n", name="snippets/amp/planted.py")
    page = tmp_path / "docs/fr/x.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        'A\n\n```python\n--8<-- "amp/planted.py:main"\n```\n\n'
        '```text\n--8<-- "amp/planted.out"\n```\n\n```text\n--8<-- "amp/planted_more.out"\n```\n'
    )
    assert outputs.main(["--root", str(tmp_path / "snippets")]) == 0
    assert (
        "changed    amp/planted.out\nread what the pages say around amp/planted.py:\n"
        "  docs/fr/x.md:4\n  docs/fr/x.md:8\n1 program ran"
    ) in capsys.readouterr().out


def test_outputs_keeps_the_file_of_a_program_that_fails(plant, tmp_path, capsys):
    plant("print(1)\n1 / 0\n", "0\n")
    assert outputs.main(["--root", str(tmp_path)]) == 1
    assert (tmp_path / "amp/planted.out").read_text() == "0\n"
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_outputs_names_a_program_that_is_not_there(tmp_path, capsys):
    assert outputs.main(["--root", str(tmp_path), "amp/none.py"]) == 1
    assert "amp/none.py:1: no such snippet" in capsys.readouterr().err


def test_device_that_is_not_there_fails_the_session():
    """No skip: a run on a GPU that runs nothing must not look like a success."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/snippets/test_programs.py", "--device", "xpu"],
        cwd=ROOT,
        env=os.environ | {"ZE_AFFINITY_MASK": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 4, done.stdout + done.stderr
    assert "--device xpu: torch finds no xpu on this machine" in done.stderr


def test_no_program_at_all_fails_the_session(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/snippets/test_programs.py"],
        cwd=ROOT,
        env=os.environ | {"SNIPPETS_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode != 0, done.stdout
    assert "Empty parameter set in 'test_program_prints_its_out'" in done.stdout


def test_program_leaves_torch_as_it_was(tmp_path, monkeypatch, request):
    """What a program changes for the whole process must not reach the next claim."""
    import torch

    from tests.snippets import conftest

    (tmp_path / "amp").mkdir()
    body = (
        "import torch\ntorch.manual_seed(5)\ntorch.set_default_dtype(torch.float64)\n"
        "torch.set_grad_enabled(False)\ntorch.set_autocast_enabled('cpu', True)\nkept = 7\n"
    )
    (tmp_path / "amp/planted.py").write_text(HEAD.format(keys="") + body + "print(kept)\n")
    monkeypatch.setattr(conftest, "ROOT", tmp_path)
    before = torch.get_rng_state()
    found = request.getfixturevalue("program")("amp/planted.py")
    assert (found["kept"], found["__stdout__"], found["__exception__"]) == (7, "7\n", None)
    assert torch.equal(before, torch.get_rng_state())
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")


def test_program_raises_what_is_not_declared(tmp_path, monkeypatch, request):
    from tests.snippets import conftest

    (tmp_path / "amp").mkdir()
    (tmp_path / "amp/planted.py").write_text(HEAD.format(keys="") + "1 / 0\n")
    monkeypatch.setattr(conftest, "ROOT", tmp_path)
    with pytest.raises(ZeroDivisionError):
        request.getfixturevalue("program")("amp/planted.py")
