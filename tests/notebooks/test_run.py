"""The code of every notebook runs, top to bottom, and prints what its lesson shows."""

import nbformat
import pytest

from tests.notebooks import run as runs
from tests.notebooks.test_weave import HEAD, at, house, page, program, section  # noqa: F401
from tools import notebooks
from tools.notebooks import CURRENT, NotebookError

REAL = notebooks.all_pages()["en"]
FENCE = '\n```python\n--8<-- "x/{}.py:a"\n```\n'


@pytest.mark.parametrize("name", REAL)
def test_the_notebook_runs_and_prints_what_its_lesson_shows(name):
    page = REAL[name]
    assert page.name in runs.run(page)  # raises for a cell that fails, and for another output
    notebook = nbformat.reads(notebooks.weave(page), as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.lesson.outputs == CURRENT
    code = [cell for cell in notebooks.cells(page) if cell.kind == "code"]
    shown = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert runs.faults(page, code, [cell.outputs for cell in shown]) == []
    for one, cell in zip(code, shown, strict=True):
        plots = [o for o in cell.outputs if "image/svg+xml" in o.get("data", {})]
        assert len(plots) == bool(one.figure and one.part == "plot")
        for plot in plots:
            svg = plot.data["image/svg+xml"]
            assert 'role="img" aria-label="' in svg and "currentColor" in svg
            assert "#000" not in svg


@pytest.fixture
def quick(house, monkeypatch):  # noqa: F811
    """The small house; what its notebooks run with is what is installed."""
    found = {name: runs.metadata.version(name) for name in ("matplotlib", "ipykernel")}
    pins = "".join(f"{name}=={version}\n" for name, version in found.items())
    house.write("constraints.txt", pins)
    return house


def append(house, *names) -> None:  # noqa: F811
    with (house.root / "docs/en/x.md").open("a") as file:
        file.write("".join(map(FENCE.format, names)))


def test_a_program_that_fails_on_purpose_shows_its_error_and_the_next_cell_runs(quick):
    wrong = section("a", "print('so far')\n1 / 0\n")
    quick.write("snippets/x/wrong/w.py", program(wrong, '# raises = "ZeroDivisionError"\n'))
    quick.write("snippets/x/wrong/w.out", "so far\nZeroDivisionError: division by zero\n")
    quick.write("snippets/x/q.py", program(section("a", "import os\nprint(os.listdir())\n")))
    quick.write("snippets/x/q.out", "[]\n")  # a clean folder
    append(quick, "wrong/w", "q")
    assert runs.run(page(quick), quick.root) == "ran        x"
    assert runs.run(page(quick), quick.root) == "unchanged  x"
    shown = nbformat.reads(notebooks.weave(page(quick), quick.root), as_version=4)
    error = [o for c in shown.cells for o in c.get("outputs", []) if o.output_type == "error"]
    assert error[0].traceback == ["ZeroDivisionError: division by zero\n"]
    # What a program prints is compared, even if nothing else has changed.
    quick.write("snippets/x/wrong/w.out", "so far\nZeroDivisionError: by zero\n")
    with pytest.raises(NotebookError, match=r"#end: x/wrong/w\.py: its cells print some.* w\.out"):
        runs.run(page(quick), quick.root)


@pytest.mark.parametrize("torchrun", [False, True], ids=["forked", "torchrun"])
def test_a_program_of_several_ranks_is_launched(quick, torchrun):
    """By torchrun itself too: it is what a reader does."""
    two = section("a", "import os\n\nrank = os.environ['RANK']\nprint(f'rank {rank}: here')\n")
    quick.write("snippets/x/q.py", program(two, "# ranks = 2\n"))
    quick.write("snippets/x/q.out", "rank 0: here\nrank 1: here\n")
    append(quick, "q")
    assert runs.run(page(quick), quick.root, torchrun) == "ran        x"
    shown = nbformat.reads(notebooks.weave(page(quick), quick.root), as_version=4)
    [launch] = [c for c in shown.cells if c.source.startswith("!torchrun")]
    assert sorted(launch.outputs[0].text.splitlines()) == ["rank 0: here", "rank 1: here"]


def test_a_rank_that_fails_is_told(quick):
    two = section("a", "import os\n\nassert os.environ['RANK'] == '0'\n")
    quick.write("snippets/x/q.py", program(two, "# ranks = 2\n"))
    quick.write("snippets/x/q.out", "")
    append(quick, "q")
    with pytest.raises(
        NotebookError, match=r"x/q\.py: its cells .*(\n.*)*rank 1 ended with Assert"
    ):
        runs.run(page(quick), quick.root)


def test_a_cell_that_raises_is_told_with_page_section_and_cell(quick):
    quick.write("snippets/x/q.py", program(section("a", "print(1)\nraise KeyError('k')\n")))
    append(quick, "q")
    line = at(quick, "x/q.py") - 1
    says = rf"docs/en/x\.md:{line}: #end: cell 2 of the notebook \(x/q\.py:a\) fails: KeyError: 'k'"
    with pytest.raises(NotebookError, match=says):
        runs.run(page(quick), quick.root)
    assert not list((quick.root / "build/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("import os\nos._exit(3)\n", "ended the whole kernel"),
        ("while True:\n    pass\n", "did not end within 2 s"),
    ],
    ids=["dies", "hangs"],
)
def test_a_cell_that_takes_the_kernel_with_it_or_hangs_is_told(quick, monkeypatch, body, says):
    monkeypatch.setattr(runs, "LIMIT", 2)
    quick.write("snippets/x/q.py", program(section("a", body)))
    append(quick, "q")
    with pytest.raises(NotebookError, match=rf"cell 2 of the notebook \(x/q\.py:a\) {says}"):
        runs.run(page(quick), quick.root)


def test_a_program_that_should_fail_and_does_not_is_a_fault(quick):
    fine = program(section("a", "print('so far')\n"), '# raises = "ZeroDivisionError"\n')
    quick.write("snippets/x/wrong/w.py", fine)
    quick.write("snippets/x/wrong/w.out", "so far\nZeroDivisionError: division by zero\n")
    append(quick, "wrong/w")
    with pytest.raises(NotebookError, match="expected 'ZeroDivisionError: division by zero'"):
        runs.run(page(quick), quick.root)


def test_other_versions_than_the_pinned_ones_run_nothing(quick):
    quick.edit("constraints.txt", "ipykernel==", "ipykernel==0.")
    with pytest.raises(NotebookError, match=r"constraints\.txt:1: ipykernel 0\..* is to run"):
        runs.run(page(quick), quick.root)


def test_what_is_of_one_machine_is_left_out():
    text = "/tmp/ipykernel_12/345.py:3: UserWarning: no\n\x1b[31mred\x1b[0m /a/b/site-packages/c.py"
    assert runs.clean(text) == "<cell>:3: UserWarning: no\nred site-packages/c.py"


def test_ctrl_c_is_told_in_a_line(monkeypatch, capsys):
    def stopped(page, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "run", stopped)
    assert runs.main(["amp"]) == 130
    assert capsys.readouterr().err == "stopped; what had run is kept\n"
