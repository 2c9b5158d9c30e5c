"""A page becomes a notebook: valid, the same twice, in a form that reads well in Jupyter."""

import base64
import json
import os

import nbformat
import pytest

from tests.notebooks import fake
from tools import notebooks, pages
from tools.notebooks import CURRENT, EARLIER, NONE, NotebookError

HERE = "https://lessons.example/en/"
HEAD = """\
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
"""
REAL = notebooks.all_pages()

PAGE = """\
---
title: A lesson
description: A small page.
---

# A lesson { #top-of-it }

See [the loop](amp.md#loop), [home](index.md), [here](#end), [a paper
that is old][paper] and `[no](link.md)`.

!!! note "Mind this"

    It holds `code`.

??? note "Folded"

    Only words.

=== "One"

    First tab.

=== "Two"

    Second tab.

??? note "The program"

    ```python
    --8<-- "x/p.py:a"
    ```

```text
--8<-- "x/p.out"
```

/// quiz | Which?
- [ ] This
  > No.
- [x] That
  > Yes,
  it is.
///

/// figure | formats
Four of them.
///

## The end { #end .reference }

```bash
python p.py
```

[paper]: https://papers.example/1
"""


def program(body: str, keys: str = "") -> str:
    return f'{HEAD}# seconds = 1\n{keys}# ///\n"""X."""\n\n{body}'


def section(name: str, body: str) -> str:
    return f"# --8<-- [start:{name}]\n{body}# --8<-- [end:{name}]\n"


NEW = "a = 1\n# --8<-- [start:new]\nb = a\n# --8<-- [end:new]\nprint(b)\n"


@pytest.fixture
def house(tree):
    """A small house with one lesson that has one of everything."""
    tree.write("docs/en/x.md", PAGE)
    tree.write("snippets/x/p.py", program(section("a", NEW)))
    tree.write("snippets/x/p.out", "1\n")
    formats = (notebooks.ROOT / "snippets/amp/formats.out").read_text("utf-8")
    tree.write("snippets/amp/formats.out", formats)
    tree.write("constraints.txt", "torch==2.13.0\nmatplotlib==3.11.2\nipykernel==7.4.0\n")
    return tree


def page(house, lang="en", name="x"):
    return pages.load(house.root / f"docs/{lang}/{name}.md", house.root)


def woven(house, **where):
    return nbformat.reads(notebooks.weave(page(house, **where), house.root, HERE), as_version=4)


def prose(notebook) -> str:
    return "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")


def code(notebook) -> list[str]:
    return [c.source for c in notebook.cells if c.cell_type == "code"]


def state(house) -> str:
    return woven(house).metadata.lesson.outputs


def test_everything_of_a_page_is_there_in_a_form_that_jupyter_shows(house):
    said = prose(woven(house))
    for part in (
        f"[the loop]({HERE}amp/#loop), [home]({HERE}), [here](#end)",
        "[a paper\nthat is old](https://papers.example/1) and `[no](link.md)`.",
        "> **Mind this**\n>\n> It holds `code`.",
        "<details><summary>Folded</summary>\n\nOnly words.\n\n</details>",
        "**One**\n\nFirst tab.\n\n**Two**\n\nSecond tab.",
        "**The program**",
        "**Question.** Which?\n\n- This\n- That",
        "**Not quite.** No.\n- That  \n  **Right.** Yes, it is.",
        "](attachment:formats.svg)\n\nFour of them.",
        '<a id="end"></a>\n\n## The end',
        "```bash\npython p.py\n```",
    ):
        assert part in said, said
    for sign in ("--8<--", "{ #", "///", '"Folded"\n', "[paper]:"):
        assert sign not in said


def test_the_first_cell_says_what_it_is_what_to_install_and_what_it_was_checked_with(house):
    first = woven(house).cells[0].source
    assert "\n\n# A lesson\n\n> This notebook is woven from the lesson [A lesson](" in first
    assert '`%pip install "torch>=2.11"`' in first
    assert "PyTorch 2.13.0" in first


def test_a_page_whose_title_does_not_come_first_is_woven_all_the_same(house):
    house.edit("docs/en/x.md", "# A lesson", "A word before.\n\n# A lesson")
    first, second, third = woven(house).cells[:3]
    assert first.source.startswith("> This notebook is woven from")
    assert second.source == "A word before."
    assert third.source.split("\n\n")[1] == "# A lesson"


def test_a_figure_is_carried_along_and_readable_on_any_ground(house):
    [cell] = [c for c in woven(house).cells if "attachments" in c]
    svg = base64.b64decode(cell.attachments["formats.svg"]["image/svg+xml"]).decode()
    assert svg.startswith("<svg color=") and 'fill="#fbfaf6"' in svg
    assert "Four number formats, bit by bit" in cell.source


def test_new_lines_are_marked_by_a_comment_and_by_nothing_else(house):
    assert code(woven(house)) == ["a = 1\nb = a  # <--\nprint(b)"]
    assert notebooks.unmarked(code(woven(house))[0]) == "a = 1\nb = a\nprint(b)"
    assert notebooks.marked("a = 1\nb = 2\n", (1, 2)) == "a = 1\nb = 2"
    text = 'a = 1\nb = """\nc\n"""\n'
    assert notebooks.marked(text, (3, 4)).split("\n")[2:] == ["c", '"""  # <--']


@pytest.mark.parametrize(("lang", "name"), [(lang, n) for lang in REAL for n in REAL[lang]])
def test_each_page_gives_a_valid_notebook_with_the_code_of_english(lang, name):
    notebook = nbformat.reads(notebooks.weave(REAL[lang][name], address=HERE), as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.lesson.language == lang
    assert notebook.metadata.lesson.versions["torch"]
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))
    english = [c.source for c in notebooks.cells(REAL["en"][name]) if c.kind == "code"]
    assert code(notebook) == english


def test_a_second_weave_is_byte_for_byte_the_first(house):
    fake.run(page(house), house.root)
    one, other = (notebooks.weave(page(house), house.root, HERE) for _ in range(2))
    assert one == other
    real = REAL["fr"]["amp"]
    assert notebooks.weave(real, address=HERE) == notebooks.weave(real, address=HERE)


@pytest.mark.parametrize("name", REAL["en"])
def test_each_code_cell_of_a_page_is_its_section(name):
    at = [
        (f.include.path, f.include.section) for f in REAL["en"][name].fences if f.lang == "python"
    ]
    made = [c for c in notebooks.cells(REAL["en"][name]) if c.kind == "code" and c.program]
    own = [c for c in made if c.part not in ("run", "show")]
    assert [(c.program, c.part) for c in own] == at
    for cell in own:
        shown = notebooks.load(cell.program).sections[cell.part].text
        assert notebooks.unmarked(cell.source) == shown.rstrip("\n")


def test_a_program_of_several_ranks_is_written_to_a_file_and_launched(house):
    two = section("a", "import os\n") + section("b", "print(os.environ['RANK'])\n")
    house.write("snippets/x/p.py", program(two, "# ranks = 2\n"))
    house.edit(
        "docs/en/x.md",
        '"x/p.py:a"\n',
        '"x/p.py:a"\n    ```\n\n    ```python\n    --8<-- "x/p.py:b"\n',
    )
    assert code(woven(house)) == [
        "%%writefile p.py\nimport os",
        "%%writefile -a p.py\nprint(os.environ['RANK'])",
        "!torchrun --nproc-per-node 2 p.py",
    ]


def test_programs_of_the_same_name_get_files_of_their_own(house):
    for folder in ("x", "y"):
        house.write(f"snippets/{folder}/p.py", program(section("a", "pass\n"), "# ranks = 2\n"))
    with (house.root / "docs/en/x.md").open("a") as file:
        file.write('\n```python\n--8<-- "y/p.py:a"\n```\n')
    files = [source.split("\n")[0] for source in code(woven(house)) if "%%" in source]
    assert files == ["%%writefile x_p.py", "%%writefile y_p.py"]


def test_a_cell_that_is_to_fail_says_so_to_jupyter(house):
    house.write(
        "snippets/x/wrong/w.py",
        program(section("a", "1 / 0\n"), '# raises = "ZeroDivisionError"\n'),
    )
    house.edit("docs/en/x.md", "x/p.py:a", "x/wrong/w.py:a")
    notebook = woven(house)
    [cell] = [c for c in notebook.cells if c.cell_type == "code"]
    assert cell.metadata.tags == ["raises-exception"]
    assert "fail on purpose" in notebook.cells[0].source


def test_a_plot_comes_once_its_programs_have_printed(house):
    house.write("tools/plots/formats.py", "show(printed_p.stdout)\n")
    text = (house.root / "docs/en/x.md").read_text()
    figure = text[text.index("/// figure") : text.index("## The end")]
    house.write(
        "docs/en/x.md", text.replace(figure, "").replace('??? note "The', figure + '??? note "The')
    )
    made = code(woven(house))
    assert made[0].startswith("%%capture printed_p\na = 1")
    assert made[1] == "printed_p.show()"
    assert "def show(" in made[2] and made[3] == "show(printed_p.stdout)"


@pytest.mark.parametrize(
    ("old", "new", "near", "says"),
    [
        ("x/p.py:a", "x/no.py:a", "x/no.py", r"snippets/x/no\.py does not exist; the programs"),
        ("x/p.py:a", "x/p.py:b", "x/p.py:b", r"snippets/x/p\.py has no section 'b'; it has: a"),
        ("x/p.out", "x/q.out", "x/q.out", r"snippets/x/q\.out does not exist; run 'make outputs'"),
        ('--8<-- "x/p.py:a"', "a = 1", "```python", "the block is no include; embed a section"),
        ("them.\n///", "them.", "/// figure", "the block is not closed; add `///`"),
        ("/// quiz", "/// poll", "/// poll", "a notebook can't show the block 'poll'; use another"),
        ("Only words.", "<div></div>", "<div>", "a notebook can't show '<div></div>'; write it"),
        ("See [", "<!-- #endregion -->\n\nSee [", "", "jupytext reads this cell otherwise"),
    ],
)
def test_what_cannot_be_woven_is_told_with_file_and_line(house, old, new, near, says):
    house.edit("docs/en/x.md", old, new)
    line = at(house, near) if near else r"\d+"
    with pytest.raises(NotebookError, match=rf"docs/en/x\.md:{line}: {says}"):
        notebooks.weave(page(house), house.root, HERE)


def at(house, near: str) -> int:
    """The line of the page that holds `near`."""
    lines = (house.root / "docs/en/x.md").read_text("utf-8").split("\n")
    return next(n for n, line in enumerate(lines, 1) if near in line)


def test_a_plot_without_its_programs_is_a_picture(house):
    house.write("tools/plots/formats.py", "show(printed_other.stdout)\n")
    assert [c for c in woven(house).cells if "attachments" in c]
    assert "%%capture" not in "".join(code(woven(house)))


# --- runs ----------------------------------------------------------------------------------------


def test_without_a_run_there_are_no_outputs_and_it_is_said(house):
    notebook = woven(house)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert notebook.metadata.lesson.outputs == NONE
    assert "no outputs yet" in notebook.cells[0].source


def test_a_run_gives_its_outputs_to_every_language(house):
    house.write("docs/fr/x.md", PAGE)
    fake.run(page(house), house.root)
    for lang in ("en", "fr"):
        notebook = woven(house, lang=lang)
        assert notebook.metadata.lesson.outputs == CURRENT
        [cell] = [c for c in notebook.cells if c.cell_type == "code"]
        assert cell.outputs[0].text == "1\n" and cell.execution_count == 1
    assert "Python 3.11.7, on a CPU" in woven(house).cells[0].source


def test_other_code_and_other_versions_make_another_run(house):
    fake.run(page(house), house.root)
    assert state(house) == CURRENT
    house.edit("constraints.txt", "2.13.0", "2.14.0")
    assert state(house) == EARLIER
    house.edit("constraints.txt", "2.14.0", "2.13.0")
    house.edit("snippets/x/p.py", "print(b)", "print(b + 1)")
    assert state(house) == EARLIER


def test_of_an_earlier_run_only_cells_that_are_the_same_have_outputs(house):
    more = section("a", NEW) + section("c", "print('more')\n")
    house.write("snippets/x/p.py", program(more))
    fence = '\n```python\n--8<-- "x/p.py:c"\n```\n'
    with (house.root / "docs/en/x.md").open("a") as file:
        file.write(fence)
    fake.run(page(house), house.root)
    house.edit("snippets/x/p.py", "print(b)", "print(a)")
    notebook = woven(house)
    first, last = [c for c in notebook.cells if c.cell_type == "code"]
    assert not first.outputs and last.outputs[0].text == "1\n"
    assert "of an earlier run" in notebook.cells[0].source


def test_the_newest_of_earlier_runs_is_shown(house):
    for number, text in enumerate(("old\n", "new\n")):
        house.write("snippets/x/p.out", text)
        file = fake.run(page(house), house.root)
        os.utime(file, (1000 + number, 1000 + number))
        file.rename(file.with_name(f"x-{number:016}.ipynb"))
    [cell] = [c for c in woven(house).cells if c.cell_type == "code"]
    assert cell.outputs[0].text == "new\n"


def spoil(file, old, new) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("plant", "says"),
    [
        (lambda f: spoil(f, "print(b)", "print(a)"), "a run of other code than its name says"),
        (lambda f: spoil(f, "2.13.0", "2.12.0"), r"ran with torch 2\.12\.0, constraints\.txt has"),
        (lambda f: f.write_text(f.read_text()[:300]), "no notebook of a run"),
        (lambda f: f.write_text(""), "no notebook of a run"),
        (lambda f: spoil(f, '"output_type": "stream"', '"output_type": "steam"'), "no notebook"),
        (lambda f: f.write_text(json.dumps({"cells": []})), "no notebook of a run"),
    ],
    ids=["stale", "versions", "half", "empty", "corrupt", "other"],
)
def test_a_run_that_cannot_be_believed_is_refused(house, plant, says):
    file = fake.run(page(house), house.root)
    plant(file)
    cure = r"; remove it, then run: make notebooks"
    with pytest.raises(NotebookError, match=rf"build/notebooks/x-\w+\.ipynb:1: .*{says}.*{cure}"):
        woven(house)
