"""What is kept of rendered pages: taken where nothing has changed, and never where anything has."""

import hashlib
import json
import subprocess
import sys

import pytest

from tests.conftest import small_house

#: Builds, in one process as the server's are, the languages it is told to after each edit.
DRIVER = """
import json, sys
from pathlib import Path
from tools.build import build_language
site = Path("site").absolute()
for line in sys.stdin:
    edits, lang = json.loads(line)
    for path, old, new in edits:
        file = Path(path)
        text = file.read_text("utf-8") if file.exists() else ""
        assert old in text, (path, old)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(old, new) if old else new, "utf-8")
    print(json.dumps(build_language(lang, site, "http://127.0.0.1/").faults), flush=True)
"""
BLOCKS = """
/// figure | scale-path
The scale.
///

/// difference | small/right.py -> small/other.py
What changes.
///
"""


class House:
    """A small house, and a process that builds it."""

    def __init__(self, root):
        self.tree = small_house(root)
        for name in ("en", "fr"):
            with (root / f"docs/{name}/amp.md").open("a") as page:
                page.write(BLOCKS)
        program = (root / "snippets/small/right.py").read_text()
        self.tree.write("snippets/small/other.py", program.replace("range(3)", "range(4)"))
        self.tree.write(
            "snippets/amp/scale_path.out",
            "".join(f"step  {n}: scale 2^1{n}  stepped\n" for n in range(1, 8)),
        )
        self.tree.git("init", "-q")
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def build(self, *edits, lang="en") -> list[str]:
        """Make the edits, build, return the faults."""
        self.process.stdin.write(json.dumps([edits, lang]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def kept(self, lang="en", page="amp"):
        return self.tree.root / f"build/cache/pages/{lang}/{page}.md.pickle"

    def mark(self, lang="en", page="amp") -> None:
        """Put the mark into what is kept of a page, as if it had been rendered so."""
        whole = self.kept(lang, page).read_bytes()
        entry = whole[32:].replace(b'">The loop<', b'">THE LOOP<')
        assert b"THE LOOP" in entry
        self.kept(lang, page).write_bytes(hashlib.sha256(entry).digest() + entry)

    def shown(self, lang="en", page="amp/") -> str:
        return (self.tree.root / f"site/{lang}/{page}index.html").read_text()

    def taken(self, lang="en", page="amp/") -> bool:
        """Whether the page was taken from what is kept."""
        return "THE LOOP" in self.shown(lang, page)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """The house, built once, so that its pages are kept."""
    made = House(tmp_path_factory.mktemp("kept") / "house")
    yield made
    made.process.stdin.close()
    assert made.process.wait(timeout=60) == 0
    made.process.stdout.close()


def settle(house, lang: str) -> None:
    """Build until the page is kept (what has just been edited is not), and mark it."""
    for _ in range(20):
        assert house.build(lang=lang) == []
        house.mark(lang)
        assert house.build(lang=lang) == []
        if house.taken(lang):
            return
    raise AssertionError("the page is never kept")


EDITS = {
    "the page": ("en", [("docs/en/amp.md", "See [", "Look at [")], "Look at"),
    "its front matter": ("en", [("docs/en/amp.md", "A small page.", "Small.")], 'content="Small."'),
    "a program": ("en", [("snippets/small/right.py", "total = 0", "total = 1")], "total = "),
    "a program that is compared": (
        "en",
        [("snippets/small/other.py", "range(4)", "range(5)")],
        '<span class="mi">5</span>',
    ),
    "an output": ("en", [("snippets/small/right.out", "total: 3", "total: 33")], "total: 33"),
    "what a figure is drawn from": (
        "en",
        [
            (
                "snippets/amp/scale_path.out",
                "step  7: scale 2^17  stepped",
                "step  7: scale 2^17  skipped",
            )
        ],
        "",
    ),
    "a word": ("en", [("locales/en/messages.yml", "output: Output", "output: Printed")], "Printed"),
    "a word of a figure": (
        "en",
        [("locales/en/figures.yml", "scale-path:\n", "scale-path:\n  unused: x\n")],
        "",
    ),
    "a record": ("en", [("build/verification/cpu.json", "", "{}")], ""),
    "what must be on record": (
        "en",
        [("pyproject.toml", 'required-devices = ["cpu", "cuda"]', 'required-devices = ["mps"]')],
        "MPS: ",
    ),
    "a setting": (
        "en",
        [("mkdocs.yml", "permalink_title: Link to this section", "permalink_title: Mine")],
        "Mine",
    ),
    "the pages that there are": (
        "en",
        [
            ("docs/en/more.md", "", "---\ntitle: M\ndescription: M\n---\n\n# M { #m }\n"),
            ("mkdocs.yml", "[index.md, amp.md]", "[index.md, amp.md, more.md]"),
        ],
        "",
    ),
    "what stands beside a program": (
        "en",
        [("snippets/small/right.cuda.out", "", "total: 4\n")],
        "",
    ),
    "the English page of a translation": (
        "fr",
        [("docs/en/amp.md", "## The loop", "A line.\n\n## The loop")],
        "",
    ),
    "the record of a translation": (
        "fr",
        [("locales/fr/sections.yml", "", 'amp#loop: "000000000000"\n')],
        "Lire la version anglaise",
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_page_is_taken_until_something_that_it_is_made_of_changes(house, what):
    lang, edits, shown = EDITS[what]
    settle(house, lang)
    assert house.build(*edits, lang=lang) == []
    assert not house.taken(lang), f"{what} has changed, and the page is as it was"
    assert shown in house.shown(lang)


def test_an_edit_of_one_page_leaves_the_others_taken(house):
    settle(house, "en")
    assert house.build(("docs/en/index.md", "See", "Read")) == []
    assert house.taken("en", "amp/")


def test_a_word_of_the_frame_is_shown_and_leaves_the_page_taken(house):
    settle(house, "en")
    assert house.build(("locales/en/messages.yml", "skip: Skip", "skip: Jump")) == []
    assert house.taken("en")
    assert "Jump to the content" in house.shown("en")


def test_a_word_of_another_figure_leaves_the_page_taken(house):
    settle(house, "en")
    words = "locales/en/figures.yml", "memory:\n", "memory:\n  unused: x\n"
    assert house.build(words) == []
    assert house.taken("en")


def test_a_page_that_is_taken_is_in_the_search_as_if_it_were_not(house):
    def search() -> list[dict]:
        file = house.tree.root / "site/fr/search/search_index.json"
        return json.loads(file.read_text())["docs"]

    settle(house, "fr")
    taken = search()
    house.kept("fr").unlink()
    assert house.build(lang="fr") == []
    again = search()
    assert {entry["location"] for entry in again} >= {"amp/", "amp/#loop"}
    assert [e | {"title": e["title"].lower()} for e in taken] == [
        e | {"title": e["title"].lower()} for e in again
    ]


def test_what_is_kept_and_spoiled_is_not_taken(house):
    settle(house, "en")
    whole = house.kept().read_bytes()
    house.kept().write_bytes(whole[:-1])
    assert house.build() == [] and not house.taken()
    settle(house, "en")
    house.kept().write_bytes(b"")
    assert house.build() == [] and not house.taken()


def test_a_warning_is_given_by_each_build(house):
    for _ in range(3):
        faults = house.build(("docs/en/amp.md", "(index.md#loop)", "(absent.md)"))
        assert ["absent.md" in fault for fault in faults] == [True]
        house.build(("docs/en/amp.md", "(absent.md)", "(index.md#loop)"))


def test_a_broken_anchor_of_a_page_that_is_taken_is_told(house):
    settle(house, "en")
    faults = house.build(("docs/en/index.md", "{ #loop }", "{ #lop }"))
    assert ["does not contain an anchor '#loop'" in fault for fault in faults] == [True]
    assert house.taken()
    assert house.build(("docs/en/index.md", "{ #lop }", "{ #loop }")) == []


EDITED = """
import sys
from pathlib import Path
from tools import llms
from tools.build import build_language

whole, words = llms.whole, Path("locales/en/messages.yml")

def edited(page, config):
    if sys.argv[1:]:
        words.write_text(words.read_text("utf-8").replace("output: Output", "output: Printed"))
    return whole(page, config)

llms.whole = edited
assert build_language("en", Path("site").absolute(), "http://127.0.0.1/").faults == []
"""


def test_a_page_is_not_kept_if_words_are_edited_while_it_is_rendered(tree):
    """One part of it may show the old words, another the new ones."""
    file = tree.root / "build/cache/pages/en/amp.md.pickle"
    for edit, kept in (["edit"], False), ([], True):
        (tree.root / "site").mkdir(exist_ok=True)
        subprocess.run([sys.executable, "-c", EDITED, *edit], cwd=tree.root, check=True)
        assert file.exists() == kept


def test_other_code_does_not_read_what_was_kept(tree):
    """Code that was loaded before an edit must not say that it rendered with the new one."""
    assert tree.run("tools.build", "--lang", "en").returncode == 0
    file = tree.root / "build/cache/pages/en/amp.md.pickle"
    first = file.read_bytes()
    tree.edit("tools/markdown/code.py", '"class": "listing"', '"class": "changed"')
    assert tree.run("tools.build", "--lang", "en").returncode == 0
    assert 'class="changed"' in (tree.root / "site/en/amp/index.html").read_text()
    assert file.read_bytes()[32:96] != first[32:96]


def test_a_version_that_is_published_is_rendered_anew(tree):
    assert tree.run("tools.build", "--lang", "en").returncode == 0
    file = tree.root / "build/cache/pages/en/amp.md.pickle"
    entry = file.read_bytes()[32:].replace(b'">The loop<', b'">THE LOOP<')
    file.write_bytes(hashlib.sha256(entry).digest() + entry)
    build = "from pathlib import Path; from tools.build import build_all; "
    for version, taken in (("", True), ("dev", False)):
        run = f"{build}assert not build_all(Path('{version or 'home'}'), ['en'], '{version}')"
        subprocess.run([sys.executable, "-c", run], cwd=tree.root, check=True)
        page = (tree.root / (version or "home") / "en/amp/index.html").read_text()
        assert ("THE LOOP" in page) == taken
