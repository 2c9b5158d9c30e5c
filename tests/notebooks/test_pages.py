"""The page of a notebook on the site: what it holds, what it weighs, and what it costs."""

import dataclasses
import gzip
import json
import re
import subprocess
import sys

import nbformat
import pytest

from tests.conftest import small_house
from tests.notebooks import fake
from tools import checks, notebook_pages, notebooks
from tools.languages import ROOT

ADDRESS = "https://scale-by-example.github.io/"
PLACES = [ADDRESS + "{lang}/2.13/", ADDRESS + "{lang}/"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A small house, built with a run of its notebook."""
    house = small_house(tmp_path_factory.mktemp("notebooks") / "house")
    house.write("constraints.txt", "torch==2.13.0\nipykernel==7.4.0\n")
    fake.all_runs(house.root)
    done = house.run("tools.build")
    assert done.returncode == 0, done.stderr
    return house


def html(house, lang="en", page="amp/notebook/") -> str:
    return (house.root / f"site/{lang}/{page}index.html").read_text("utf-8")


@pytest.mark.parametrize("lang", ["en", "fr", "de"])
def test_the_lesson_leads_to_the_notebook_and_the_notebook_to_where_it_runs(built, lang):
    assert 'href="notebook/"' in html(built, lang, "amp/")
    page = html(built, lang)
    assert re.search(r'href="amp\.ipynb"[^>]* download', page)
    branch = "scale-by-example/scale-by-example/blob/gh-pages"
    colab = (
        f"https://colab.research.google.com/github/{branch}/{lang}/latest/amp/notebook/amp.ipynb"
    )
    assert f'href="{colab}"' in page
    assert 'href="../">' in page and "jupyter lab amp.ipynb" in page
    file = built.root / f"site/{lang}/amp/notebook/amp.ipynb"
    notebook = nbformat.reads(file.read_text("utf-8"), as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.lesson.language == lang


def test_the_page_shows_code_and_output_in_the_markup_of_the_site(built):
    page = html(built)
    assert "total += number  <span" in page and "total: 3\n</code>" in page
    assert '<h2 id="loop">The loop<a class="headerlink" title="Link to this section"' in page
    assert 'href="../../snippets/small/right.py"' in page
    assert '<a href="../../">the other page</a>' in re.sub('#loop"', '"', page)
    assert "jp-" not in page and "<style" not in page and "cdnjs" not in page
    assert not checks.check_links(built.root / "site", ADDRESS)


def test_only_the_lesson_is_found_by_search_and_by_machines(built):
    site = built.root / "site/en"
    assert "notebook" not in (site / "search/search_index.json").read_text("utf-8")
    for name in ("llms.txt", "sitemap.xml"):
        assert "notebook/" not in (site / name).read_text("utf-8")
    assert f'<link rel="canonical" href="{ADDRESS}en/amp/">' in html(built)


def test_without_github_there_is_no_colab(built):
    assert notebook_pages.colab("https://git.example/a/b", "en", "2.13", "amp") is None
    there = notebook_pages.colab("https://github.com/a/b/", "en", "2.13", "amp")
    assert there.endswith("/a/b/blob/gh-pages/en/2.13/amp/notebook/amp.ipynb")


def test_what_was_made_before_is_taken_without_starting_jupyter(built):
    code = (
        "import sys; from pathlib import Path; from tools import notebook_pages as n;"
        "made = n.made(Path('docs/en/amp.md').absolute(), sys.argv[1], Path.cwd());"
        "assert '.ipynb' not in made.text and made.state == 'current';"
        "print([m for m in ('nbformat', 'nbconvert', 'jupytext', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, ADDRESS + "en/"],
        cwd=built.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def made(house) -> notebook_pages.Made:
    return notebook_pages.made(house.root / "docs/en/amp.md", ADDRESS + "en/", house.root)


def test_what_was_made_before_and_is_not_whole_is_made_again(built):
    before = made(built)
    for content in ("", "[]", "{}"):
        for kept in (built.root / notebook_pages.KEPT).glob("en-amp-*.json"):
            kept.write_text(content)
        assert made(built) == before


@pytest.mark.parametrize(
    ("path", "old", "new", "again"),
    [
        ("snippets/small/right.py", "range(3)", "range(4)", True),
        ("docs/en/amp.md", "## The loop", "A line.\n\n## The loop", True),
        ("docs/en/index.md", "See", "Read", False),
        ("snippets/small/other.py", "", "1", True),  # beside one that is read
        ("locales/en/messages.yml", "notebook_woven: ", "notebook_woven: X ", True),
        ("locales/en/messages.yml", "output: ", "output: X", False),
        ("locales/en/figures.yml", "numbers:", "unused: {}\nnumbers:", False),
        ("constraints.txt", "torch==2.13.0", "torch==2.13.1", True),
    ],
)
def test_it_is_made_again_if_something_changes_that_it_is_made_of(house, path, old, new, again):
    before = made(house)
    file = house.root / path
    text = file.read_text("utf-8") if file.exists() else ""
    assert old in text
    file.write_text(text.replace(old, new, 1) if old else new)
    mark = dataclasses.replace(before, title="as it was kept")
    for kept in (house.root / notebook_pages.KEPT).glob("en-amp-*.json"):
        kept.write_text(json.dumps(dataclasses.asdict(mark)))
    assert (made(house) != mark) is again


def test_an_edit_while_it_is_made_counts(house, monkeypatch):
    for kept in (house.root / notebook_pages.KEPT).glob("en-amp-*.json"):
        kept.unlink()
    whole = notebook_pages.render

    def edited(*arguments):
        rendered = whole(*arguments)
        house.edit("docs/en/amp.md", "## The loop", "A line.\n\n## The loop")
        return rendered

    monkeypatch.setattr(notebook_pages, "render", edited)
    assert "A line." not in made(house).text
    monkeypatch.undo()
    assert "A line." in made(house).text


def test_a_word_in_the_frame_of_a_cell_is_put_in_when_the_page_is_built(built):
    assert ">Cell 1</span>" in html(built) and ">Output</span>" in html(built)
    assert not re.search("[\ue000\ue001]", html(built))


@pytest.fixture
def house(built, tmp_path):
    """A copy of the built house, to be spoiled."""
    import shutil

    from tests.conftest import Tree

    shutil.copytree(built.root, tmp_path / "house")
    return Tree(tmp_path / "house")


def faults(house, **options) -> list[str]:
    return list(notebook_pages.check(house.root / "site", PLACES, house.root, **options))


def test_a_sound_site_has_no_fault(house):
    assert faults(house) == []


def test_an_edited_page_makes_its_notebook_stale(house):
    house.edit("docs/fr/amp.md", "See [the", "See now [the")
    [fault] = faults(house)
    says = "docs/fr/amp.md:1: its notebook is not woven from the page as it is now (cell top_2); "
    assert fault == says + "build the site again"


@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("amp.ipynb", lambda t: t[: len(t) // 2], r"not woven .*\(it is no notebook\)"),
        ("amp.ipynb", lambda t: t.replace("total: 3", "total: 4"), r"not woven .*\(cell loop_2\)"),
        ("amp.ipynb", lambda t: t.replace('"en"', '"fr"'), r"not woven .*\(its metadata\)"),
        ("index.html", lambda t: t.replace("total: 3", "total: 4"), "has other blocks than"),
    ],
)
def test_a_spoiled_notebook_is_refused(house, file, change, says):
    path = house.root / "site/en/amp/notebook" / file
    text = path.read_text("utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")
    [fault] = faults(house)
    assert re.match(rf"docs/en/amp\.md:1: its notebook .*{says}.*; build the site again", fault)


def test_a_notebook_that_is_not_there_is_refused(house):
    (house.root / "site/de/amp/notebook/amp.ipynb").unlink()
    assert faults(house) == ["docs/de/amp.md:1: its notebook was not built; build the site again"]


def test_a_notebook_without_a_run_is_refused_where_it_is_published_alone(house):
    for run in (house.root / notebooks.RUNS).glob("*.ipynb"):
        run.unlink()
    assert house.run("tools.build").returncode == 0
    assert faults(house, run=False) == []
    assert [f.partition(";")[0] for f in faults(house)] == [
        f"docs/{lang}/amp.md:1: its notebook has no run of its code as it is now"
        for lang in ("de", "en", "fr")
    ]


def test_a_run_that_cannot_be_read_stops_the_build(house):
    [run] = (house.root / notebooks.RUNS).glob("*.ipynb")
    run.write_text("{", encoding="utf-8")
    done = house.run("tools.build")
    assert done.returncode == 1
    says = rf"build/notebooks/{run.name}:1: no notebook of a run \(.*; remove it, then run: make no"
    assert re.search(says, done.stderr), done.stderr


@pytest.mark.parametrize("name", notebooks.all_pages()["en"])
def test_a_page_weighs_little_beside_its_figures(name):
    """What the reader loads, as servers compress it."""
    page = notebook_pages.made(ROOT / f"docs/en/{name}.md", ADDRESS + "en/")
    without = re.sub(r"<svg.*?</svg>", "", page.html, flags=re.S)
    assert "<svg" not in without
    assert len(gzip.compress(without.encode())) < 40_000 - 6_000  # with the frame of the page
    ids = re.findall(r'\sid="([^"]+)"', page.html)
    assert len(ids) == len(set(ids))
    json.loads(page.text)
