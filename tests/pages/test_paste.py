"""The blocks of each page, pasted top to bottom into one session, do what the page shows."""

import functools

import pytest

from tests.pages import paste
from tools import pages

PAGES = [page for theirs in pages.load_all().values() for page in theirs.values()]
HEAD = '# /// script\n# requires-python = ">=3.11"\n# dependencies = []\n#\n# [tool.lesson]\n'


@functools.cache
def _faults(blocks: tuple[tuple[str, str | None, str | None], ...]) -> tuple[str, ...]:
    """Run the blocks once for all languages that show the same; places are given by number."""
    found = [paste.Step(f"@{n}", *block) for n, block in enumerate(blocks)]
    return tuple(paste.run_aside(found))


def _place(fault: str, found: list[paste.Step]) -> str:
    if fault.startswith("@"):
        number, rest = fault[1:].split(":", 1)
        return f"{found[int(number)].where}:{rest}"
    return fault


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.xdist_group(f"paste-{p.name}"), id=p.file) for p in PAGES],
)
def test_page_pastes(page):
    try:
        found = paste.steps(page)
    except paste.PasteError as error:
        pytest.fail(str(error), pytrace=False)
    faults = _faults(tuple((s.program, s.code, s.out) for s in found))
    if faults:
        pytest.fail("\n".join(_place(fault, found) for fault in faults), pytrace=False)


@pytest.fixture
def plant(tmp_path):
    """Write programs (and outputs), and a page that shows them; return the faults of pasting."""

    def write(page, **programs):
        for name, (body, out, keys) in programs.items():
            folder = tmp_path / ("amp/wrong" if keys else "amp")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.py").write_text(
                f'{HEAD}# seconds = 1\n{keys}# ///\n"""X."""\n{body}'
            )
            if out is not None:
                (folder / f"{name}.out").write_text(out)
        read = pages.parse(page, "en", "x", "docs/en/x.md")
        return "\n".join(paste.run_aside(paste.steps(read, tmp_path), tmp_path, limit=20))

    return write


def section(name, body):
    return f"# --8<-- [start:{name}]\n{body}# --8<-- [end:{name}]\n"


def fence(include, kind="python"):
    return f'```{kind}\n--8<-- "{include}"\n```\n'


TWO = section("a", "x = 1\nprint('x', x)\n") + section("b", "print('y', x + 1)\n")


def test_sections_in_order_print_the_out(plant):
    page = fence("amp/p.py:a") + fence("amp/p.py:b") + fence("amp/p.out", "text")
    assert plant(page, p=(TWO, "x 1\ny 2\n", "")) == ""


def test_a_block_that_needs_what_was_not_shown_is_a_fault(plant):
    page = "Text.\n\n" + fence("amp/p.py:b")
    found = plant(page, p=(TWO, "x 1\ny 2\n", ""))
    assert "docs/en/x.md:3: amp/p.py:b: pasted, line 1 of the block fails" in found
    assert "NameError: name 'x' is not defined" in found


def test_an_output_that_the_shown_blocks_do_not_print_is_a_fault(plant):
    page = fence("amp/p.py:a") + fence("amp/p.out", "text")
    found = plant(page, p=(TWO, "x 1\ny 2\n", ""))
    assert "docs/en/x.md:4: amp/p.out: the blocks above it, pasted, print something else" in found
    assert "expected 'y 2'" in found


def test_blocks_below_feel_what_blocks_above_left_behind(plant):
    page = fence("amp/q.py:a") + fence("amp/p.py:a") + fence("amp/p.py:b")
    spoil = section("a", "print = None\n")
    assert "not callable" in plant(page, p=(TWO, None, ""), q=(spoil, None, ""))


def test_a_declared_error_is_shown_and_the_next_block_runs(plant):
    page = fence("amp/wrong/w.py:a") + fence("amp/wrong/w.out", "text") + fence("amp/p.py:a")
    wrong = section("a", "print('so far')\n1 / 0\n")
    out = "so far\nZeroDivisionError: division by zero\n"
    keys = '# raises = "ZeroDivisionError"\n'
    assert plant(page, w=(wrong, out, keys), p=(TWO, None, "")) == ""


def test_a_declared_error_that_does_not_come_is_a_fault(plant):
    wrong = section("a", "print('all is well')\n")
    found = plant(fence("amp/wrong/w.py:a"), w=(wrong, None, '# raises = "ZeroDivisionError"\n'))
    assert "pasted it does not show it" in found


def test_a_warning_is_a_fault(plant):
    warning = section("a", "import warnings\nwarnings.warn('old')\n")
    assert "UserWarning: old" in plant(fence("amp/p.py:a"), p=(warning, None, ""))


def test_a_block_that_hangs_is_a_fault(tmp_path):
    found = [paste.Step("docs/en/x.md:1: a", "a.py", code="while True: pass\n")]
    (tmp_path / "a.py").write_text(f'{HEAD}# seconds = 1\n# ///\n"""X."""\n')
    assert "did not end within 1 s" in paste.run_aside(found, tmp_path, limit=1)[0]


RANKS = "# ranks = 2\n"
RANK = section("a", "import os\n\nrank = os.environ['RANK']\n")
TWO_RANKS = RANK + section("b", "print('rank', rank)\n")


def test_blocks_of_several_ranks_are_a_file_of_their_own(plant):
    page = fence("amp/q.py:a") + fence("amp/wrong/p.py:a") + fence("amp/q.py:b")
    page += (
        fence("amp/wrong/p.py:b") + fence("amp/wrong/p.out", "text") + fence("amp/q.out", "text")
    )
    programs = {"p": (TWO_RANKS, "rank 0\nrank 1\n", RANKS), "q": (TWO, "x 1\ny 2\n", "")}
    assert plant(page, **programs) == ""


def test_blocks_of_several_ranks_do_not_see_the_others(plant):
    page = fence("amp/q.py:a") + fence("amp/wrong/p.py:a")
    uses = section("a", "import torch\nprint(x)\n")
    found = plant(page, p=(uses, None, RANKS), q=(TWO, None, ""))
    assert "docs/en/x.md:4: amp/wrong/p.py:a: as a file on 2 ranks, line 2 of the block" in found
    assert "fails on rank 0: 'print(x)'" in found and "name 'x' is not defined" in found


def test_what_several_ranks_do_not_print_is_a_fault(plant):
    page = fence("amp/wrong/p.py:a") + fence("amp/wrong/p.out", "text")
    found = plant(page, p=(TWO_RANKS, "rank 0\nrank 1\n", RANKS))
    assert "docs/en/x.md:4: amp/wrong/p.out: the blocks above it, as a file on 2 ranks" in found
    assert "expected 'rank 1'" in found
    found = plant(fence("amp/wrong/p.out", "text") + fence("amp/wrong/p.py:a"))
    assert "docs/en/x.md:1: amp/wrong/p.out: no block above it" in found


def test_a_block_that_hangs_on_one_rank_is_a_fault(plant, monkeypatch):
    monkeypatch.setattr(paste.runner, "PATIENCE", -8)
    hangs = RANK + section("b", "while rank == '1':\n    pass\n")
    page = fence("amp/wrong/p.py:a") + fence("amp/wrong/p.py:b")
    found = plant(page, p=(hangs, None, RANKS))
    assert (
        "docs/en/x.md:1: amp/wrong/p.py:a: pasted into a file: amp/wrong/p.py: rank 1 was" in found
    )


@pytest.mark.parametrize(
    "spelling",
    [
        "~~~python\n{}\n~~~\n",
        "<!--pytest.mark.skip(reason='later')-->\n```python\n{}\n```\n",
        "```python\nprint('typed in')\n```\n",
        "<!--pytest-codeblocks:skipfile-->\n\n```python\n{}\n```\n",
    ],
)
def test_a_block_that_the_runner_would_pass_over_is_a_fault(plant, spelling):
    with pytest.raises(paste.PasteError, match=r"docs/en/x\.md:\d+: .*(open each|embed)"):
        plant(spelling.format('--8<-- "amp/p.py:a"'), p=(TWO, None, ""))


@pytest.mark.parametrize(
    "spelling",
    [
        '```python title="x"\n{}\n```\n',
        "```{{ .python .annotate }}\n{}\n```\n",
        "```py\n{}\n```\n",
        "- a list\n\n    ```python\n    {}\n    ```\n",
        '!!! note "x"\n\n    ```python\n    {}\n    ```\n',
    ],
)
def test_a_block_of_another_spelling_is_run_all_the_same(plant, spelling):
    bad = section("a", "1 / 0\n")
    found = plant(spelling.format('--8<-- "amp/p.py:a"'), p=(bad, None, ""))
    assert "ZeroDivisionError" in found
