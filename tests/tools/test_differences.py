"""The difference of two programs: what is compared, how a page shows it, and who counts it."""

import re
import shutil
import xml.etree.ElementTree as etree

import markdown
import pytest
import yaml

from tools import checks, differences, gate, llms, pages, translations
from tools.differences import DifferenceError, Row
from tools.languages import words
from tools.markdown import PageFault
from tools.snippets import ROOT, SnippetError, load

PROGRAM = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.lesson]
# seconds = {seconds}
# ///
"""{docstring}"""

# --8<-- [start:data]
points = 5
# --8<-- [end:data]

# --8<-- [start:loop]
{loop}
# --8<-- [end:loop]
'''
OLD = 'for step in range(points):\n    print(f"{step} < 3")'
NEW = (
    'rank = 1\nfor step in range(points):\n    text = """\n    <b>\n    """\n    print(step, text)'
)
BLOCK = "/// difference | small/old.py -> small/new.py\nWhat *changes*.\n///\n"
ROWS = """\
 points = 5

+rank = 1
 for step in range(points):
-    print(f"{step} < 3")
+    text = \"""
+    <b>
+    \"""
+    print(step, text)
"""


@pytest.fixture
def root(tmp_path):
    """A folder of snippets with two programs, one of them wrong, and a copy of the one."""
    folder = tmp_path / "snippets"
    (folder / "small/wrong").mkdir(parents=True)
    old = PROGRAM.format(seconds=1, docstring="One.", loop=OLD)
    (folder / "small/old.py").write_text(old)
    (folder / "small/same.py").write_text(
        PROGRAM.format(seconds=2, docstring="Another\n\nsentence.", loop=OLD)
    )
    (folder / "small/new.py").write_text(PROGRAM.format(seconds=3, docstring="Two.", loop=NEW))
    (folder / "small/wrong/new.py").write_text(
        PROGRAM.format(seconds=3, docstring="Two.", loop=NEW)
    )
    (folder / "small/broken.py").write_text(old.replace("points = 5", "points = "))
    return folder


def between(root, argument):
    return differences.between(*differences.sides(argument), root)


def text(root, argument="small/old.py -> small/new.py", lang="en", **options):
    return "\n".join(differences.lines(between(root, argument), words(lang), **options)) + "\n"


# --- what is compared


def test_programs_are_compared_without_metadata_markers_and_docstring(root):
    assert text(root) == ROWS


def test_sections_of_programs_are_compared(root):
    assert text(root, "small/old.py:loop -> small/new.py:loop") == ROWS.partition("\n\n")[2]
    assert text(root, "small/old.py:data->small/old.py:loop").startswith("-points = 5\n+for")


def test_a_line_that_came_or_went_says_so_to_whoever_has_it_read_out(root):
    said = text(root, labels=True)
    assert 'removed: -    print(f"{step} < 3")\n' in said and "added: +rank = 1\n" in said
    assert "hinzugefügt: +rank = 1\n" in text(root, lang="de", labels=True)


def test_lines_far_from_a_change_are_counted_and_left_out():
    before = [str(n) for n in range(20)]
    after = ["new", *before[:9], "other", *before[10:]]
    assert differences.rows(before, after) == [
        Row("+", new=0),
        *(Row(" ", n, n + 1) for n in range(3)),
        Row("", hidden=3),
        *(Row(" ", n, n + 1) for n in range(6, 9)),
        Row("-", old=9),
        Row("+", new=10),
        *(Row(" ", n, n + 1) for n in range(10, 13)),
        Row("", hidden=7),
    ]


def test_a_single_line_is_shown_and_not_counted():
    before = [str(n) for n in range(9)]
    rows = differences.rows(before, ["new", *before[1:8], "last"])
    assert all(row.sign for row in rows) and len(rows) == 11


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("small/old.py", "is no difference; write two programs"),
        ("small/old.py -> small/old.out", "is no difference; write two programs"),
        ("small/../small/old.py -> small/new.py", "is no difference; write two programs"),
        ("../tools/pages.py -> small/new.py", "is no difference; write two programs"),
        ("/small/old.py -> small/new.py", "is no difference; write two programs"),
        ("small/old.py -> small/same.py", "do not differ; name two that do"),
        ("small/old.py -> small/new.py:lop", "has no section 'lop'; it has: data, loop"),
    ],
)
def test_what_can_not_be_compared_is_refused(root, argument, message):
    with pytest.raises(DifferenceError, match=re.escape(message)):
        between(root, argument)


def test_a_program_that_is_missing_or_malformed_is_refused(root):
    with pytest.raises(SnippetError, match=r"snippets/small/non.py:1: no such snippet"):
        between(root, "small/old.py -> small/non.py")
    with pytest.raises(SnippetError, match=r"snippets/small/broken.py:\d+: not Python"):
        between(root, "small/broken.py -> small/old.py")


# --- the block


def settings(root):
    source = re.sub(r"!\S+", "", (ROOT / "mkdocs.yml").read_text("utf-8"))
    extensions = yaml.safe_load(source)["markdown_extensions"]
    extensions["pymdownx.snippets"]["base_path"] = [str(root)]
    own = {"root": str(root), "records": str(root / "verification")}
    extensions["tools.markdown.code"] |= own
    extensions["tools.markdown.difference"] |= own
    return extensions


def html(root, text=BLOCK):
    extensions = settings(root)
    return markdown.markdown(text, extensions=list(extensions), extension_configs=extensions)


def block(root, text=BLOCK):
    return etree.fromstring(html(root, text))


def test_the_block_links_both_programs_and_has_its_caption(root):
    figure = block(root)
    links = figure.findall("./div/div[@class='listing-title']/a")
    assert [(link.get("href"), link.text) for link in links] == [
        ("snippets/small/old.py", "small/old.py"),
        ("snippets/small/new.py", "small/new.py"),
    ]
    assert "".join(figure.find("figcaption").itertext()).strip() == "What changes."


def test_the_block_is_colored_python_with_a_sign_and_a_word_on_each_changed_line(root):
    code = block(root).find(".//code")
    assert "".join(code.itertext()) == text(root, labels=True)
    gone = code.find("del")
    assert "".join(gone.itertext()) == 'removed: -    print(f"{step} < 3")\n'
    assert gone[0].get("class") == "visually-hidden"
    assert gone.find("span[@class='nb']").text == "print"
    # a string over several lines is colored on each of them
    assert [line.find("span[@class='s2']") is not None for line in code.findall("ins")][1:4] == [
        True,
        True,
        True,
    ]


def test_the_block_says_which_program_is_wrong_and_what_is_on_record_of_both(root):
    figure = block(root, BLOCK.replace("small/new", "small/wrong/new"))
    assert [e.text for e in figure.findall(".//span[@class='listing-label']")] == [
        "Wrong on purpose"
    ]
    fold = figure.find(".//details")
    assert fold.find("summary").text == "Not verified"
    assert [p.text for p in fold.findall("p")] == ["small/old.py", "small/wrong/new.py"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BLOCK.replace("new.py", "non.py"), "no such snippet"),
        (BLOCK.replace("new.py", "new.py:lop"), "has no section 'lop'"),
        (BLOCK.replace("new.py", "same.py"), "do not differ"),
        (BLOCK.replace("->", "to"), "is no difference"),
        (BLOCK.replace("What *changes*.\n", ""), "it has no caption"),
        (BLOCK.replace("\n///", "\n\nMore.\n///"), "closing `///` missing"),
        (BLOCK.replace("\n///\n", "\n"), "is not closed"),
    ],
)
def test_a_mistake_of_the_page_is_refused_and_can_be_found_in_it(root, text, message):
    with pytest.raises(PageFault, match=message) as caught:
        html(root, text)
    assert caught.value.near in text


# --- the page as data, and as rendered


def page(text=BLOCK, lang="en", name="x"):
    head = "---\ntitle: T\ndescription: D\n---\n"
    return pages.parse(head + text, lang, name, f"docs/{lang}/{name}.md")


def said(faults):
    return "\n".join(map(str, faults))


def test_a_page_knows_its_differences():
    read = page(f"Text.\n\n{BLOCK}")
    assert [(one.line, one.argument) for one in read.differences] == [
        (7, "small/old.py -> small/new.py")
    ]
    assert read.sections[0].embeds == ["difference small/old.py -> small/new.py"]
    assert "small/old" not in said(read.sections[0].prose)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("small/old.py -> small/new.py", ""),
        ("small/old.py", "docs/en/x.md:5: 'small/old.py' is no difference; write two"),
        ("small/old.py -> small/same.py", "docs/en/x.md:5: small/old.py and small/same.py do not"),
        ("small/old.py -> small/non.py", "docs/en/x.md:5: snippets/small/non.py does not exist; "),
        ("small/old.py -> small/new.py:lop", "docs/en/x.md:5: snippets/small/new.py has no sec"),
        ("small/broken.py -> small/new.py", ""),  # reported once, for the program itself
    ],
)
def test_a_difference_that_is_none_is_a_fault_with_its_line(root, argument, message):
    found = said(checks.check_differences(page(f"/// difference | {argument}\nX.\n///\n"), root))
    assert found.startswith(message) and bool(found) == bool(message)


def test_a_program_in_a_difference_is_shown(root):
    programs = [load("small/new.py", root)]
    assert "no page shows this program" in said(checks.check_unshown([page("")], programs))
    found = said(checks.check_unshown([page()], programs))
    assert "no page shows this program" not in found
    assert "no page shows the section 'loop'" in found  # only what changes in it is shown


def test_a_translation_has_the_same_differences():
    other = BLOCK.replace("old.py ->", "old.py:loop ->")
    assert not checks.check_translation(page(), page(BLOCK.replace("What", "Was"), "de"))
    found = said(checks.check_translation(page(), page(other, "de")))
    assert (
        "#top: shows difference small/old.py:loop -> small/new.py, in English difference" in found
    )
    assert "shows nothing, in English difference" in said(
        checks.check_translation(page(), page("Nichts.\n", "de"))
    )


def rendered(root, made, source=BLOCK):
    return said(checks.check_rendered(made, page(source), root, set()))


def test_the_rendered_difference_is_accounted_for(root):
    assert rendered(root, html(root)) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rank = <", "runk = <"),
        ("added: ", "removed: "),
        (">+rank", ">-rank"),
        ("<code> points", "<code>print(1)\n points"),
    ],
)
def test_a_rendered_difference_with_another_line_is_a_fault(root, old, new):
    made = html(root)
    assert old in made
    found = rendered(root, made.replace(old, new, 1))
    assert "docs/en/x.md:5: a block is not the difference small/old.py -> small/new.py" in found


def test_code_that_only_says_it_is_a_difference_is_a_fault(root):
    planted = '<div data-difference="{}"><pre>print(1)</pre></div>'
    found = rendered(root, planted.format("small/old.py -> small/new.py"), "")
    assert "a block is not the difference" in found
    assert "shows difference small/old.py -> small/new.py, its source has nothing" in found
    assert "do not differ" in rendered(root, planted.format("small/old.py -> small/same.py"), "")
    assert "is no difference" in rendered(root, planted.format("x"), "")


def test_a_difference_that_the_reader_does_not_see_is_a_fault(root):
    assert "shows nothing, its source has difference small" in rendered(root, "<p>Text.</p>")


def test_the_gate_counts_both_programs_as_shown(root):
    shown = gate.Shown()
    for one in checks.read_html(html(root)).blocks:
        shown.add(one, "docs/en/x.md")
    assert shown.programs == {
        "small/old.py": ["docs/en/x.md"],
        "small/new.py": ["docs/en/x.md"],
    }
    assert shown.blocks["docs/en/x.md"] == {("small/old.py", None), ("small/new.py", None)}


# --- translations and Markdown copies


@pytest.mark.parametrize("name", ["old", "new"])
def test_a_change_of_either_program_makes_the_translation_stale(root, name):
    def fingerprint():
        def read(path):
            file = root.parent / path
            return file.read_text() if file.is_file() else None

        return translations.sources(page(), read)["top"].fingerprint

    first, program = fingerprint(), root / f"small/{name}.py"
    whole = program.read_text()
    program.write_text(whole.replace("seconds = ", "seconds = 1"))  # no reader sees this
    assert fingerprint() == first
    program.write_text(whole.replace("points = 5", "points = 6"))
    assert fingerprint() != first
    program.unlink()
    assert fingerprint() != first


def test_the_markdown_copy_has_the_difference_as_a_fence(root):
    made = llms.compare(f"One.\n\n{BLOCK}\nTwo.\n", root, words("en"))
    assert made == (
        f"One.\n\n```diff\n--- small/old.py\n+++ small/new.py\n{ROWS}```\n\nWhat *changes*.\n\n"
        "Two.\n"
    )


def test_a_built_house_shows_a_difference_and_refuses_a_wrong_one(tree):
    for lang in ("en", "fr", "de"):
        with (tree.root / f"docs/{lang}/amp.md").open("a") as file:
            file.write(f"\n## What changes {{ #changes }}\n\n{BLOCK}")
    for name, loop in (("old", OLD), ("new", NEW)):
        program = PROGRAM.format(seconds=1, docstring="One.", loop=loop)
        tree.write(f"snippets/small/{name}.py", program)
    built = tree.run("tools.build")
    assert built.returncode == 0, built.stderr
    assert "```diff\n--- small/old.py\n" in (tree.root / "site/fr/amp/index.md").read_text()
    page = (tree.root / "site/fr/amp/index.html").read_text()
    assert 'href="../snippets/small/new.py"' in page and "ajouté\u00a0: </span>+rank" in page
    index = (tree.root / "site/fr/search/search_index.json").read_text()
    assert "What <em>changes" in index or "What changes" in index
    assert "ajouté" not in index
    shutil.copy(tree.root / "snippets/small/old.py", tree.root / "snippets/small/new.py")
    built = tree.run("tools.build", "--lang", "de")
    line = (tree.root / "docs/de/amp.md").read_text().split("\n").index(BLOCK.split("\n")[0]) + 1
    assert f"de: docs/de/amp.md:{line}: " in built.stderr and "do not differ" in built.stderr
