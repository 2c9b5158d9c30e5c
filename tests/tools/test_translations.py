"""The record of the translations: what makes a section stale, and who is told."""

import re
import subprocess

import markdown
import pytest

from tests.conftest import PROGRAM
from tools import checks, pages, translations
from tools.markdown.stale import address
from tools.translations import TranslationError

ENGLISH = """\
---
title: Lesson
description: A small page.
---

# Lesson { #lesson }

The lead.

## The loop { #loop }

One sentence,
and another.

```python
--8<-- "small/right.py:main"
```

```text
--8<-- "small/right.out"
```

## The end { #end }

That is all.
"""
FRENCH = ENGLISH.replace("One sentence,\nand another.", "Une phrase, puis une autre.")
WORDS = "stale: Changé depuis.\nstale_link: Lire l’anglais\n"


class House:
    """A small repository of its own, with its history."""

    def __init__(self, root):
        self.root = root

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")

    def read(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        assert old in self.read(path)
        self.write(path, self.read(path).replace(old, new))

    def git(self, *command: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        done = subprocess.run(
            ["git", "-C", self.root, *who, *command], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", ".")
        self.git("commit", "-qm", "x")
        return self.git("rev-parse", "--short", "HEAD")

    def stale(self) -> list[str]:
        return [s.id for s in translations.all_sections(self.root)["fr"] if s.stale]

    def faults(self) -> str:
        return "\n".join(map(str, checks.check_records(pages.load_all(self.root), self.root)))

    def render(self, path: str = "docs/fr/lesson.md") -> str:
        text = self.read(path).split("---\n", 2)[2]
        options = {"lang": path.split("/")[1], "root": str(self.root)}
        return markdown.markdown(
            text,
            extensions=["attr_list", "md_in_html", "pymdownx.superfences", "tools.markdown.stale"],
            extension_configs={"tools.markdown.stale": options},
        )


@pytest.fixture
def house(tmp_path) -> House:
    """A page in English and in French, recorded as up to date and committed."""
    made = House(tmp_path)
    made.write("docs/en/lesson.md", ENGLISH)
    made.write("docs/fr/lesson.md", FRENCH)
    made.write("locales/fr/mkdocs.yml", "")
    made.write("locales/fr/messages.yml", WORDS)
    made.write("snippets/small/right.py", PROGRAM.format(more=""))
    made.write("snippets/small/right.out", "total: 3\n")
    made.git("init", "-q")
    translations.done(["fr"], tmp_path)
    made.commit()
    return made


# --- what is stale


def test_nothing_is_stale_at_first(house):
    assert house.stale() == []
    assert house.faults() == ""
    assert "note" not in house.render()
    assert checks.stale_notices(house.root) == []


@pytest.mark.parametrize(
    ("path", "old", "new", "stale"),
    [
        ("docs/en/lesson.md", "One sentence", "Two sentences", ["loop"]),
        ("docs/en/lesson.md", "## The loop", "## A loop", ["loop"]),
        ("docs/en/lesson.md", "A small page", "A page", ["top"]),
        ("docs/en/lesson.md", "That is all.", "That is all.\n\n[x]: y.md", ["end"]),
        ("snippets/small/right.py", "total = 0", "total = 1", ["loop"]),
        ("snippets/small/right.out", "3", "4", ["loop"]),
        # How it is broken into lines, what no page shows and the translation itself don't count.
        ("docs/en/lesson.md", "sentence,\nand", "sentence, and", []),
        ("snippets/small/right.py", "Print a sum", "Print the sum", []),
        ("docs/fr/lesson.md", "Une phrase", "La phrase", []),
    ],
)
def test_a_section_is_stale_when_its_english_text_or_code_has_changed(house, path, old, new, stale):
    house.edit(path, old, new)
    assert house.stale() == stale


def test_the_indentation_of_code_counts(house):
    house.edit("snippets/small/right.py", "print(f", "    print(f")
    assert house.stale() == ["loop"]


# --- the command


def test_the_command_shows_each_stale_section_with_what_changed(house, capsys):
    then = house.git("rev-parse", "--short", "HEAD")
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    house.edit("snippets/small/right.out", "3", "4")
    house.commit()
    house.edit("docs/en/lesson.md", "Two sentences", "Many sentences")
    house.commit()
    assert translations.main([], house.root) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "docs/fr/lesson.md:10: section 'loop' was translated from another English text; bring it "
        "up to date with docs/en/lesson.md:10, then run: "
        'make translations DONE="fr/lesson#loop"\n'
    )
    assert f"--- docs/en/lesson.md#loop ({then})\n+++ docs/en/lesson.md#loop (now)\n" in said
    assert "\n-One sentence,\n+Many sentences,\n" in said
    assert f"--- snippets/small/right.out ({then})" in said
    assert "\n-total: 3\n+total: 4\n" in said
    assert "That is all" not in said
    assert said.endswith("fr: 3 of 4 sections are up to date\n")


def test_the_command_shows_a_section_without_record(house, capsys):
    house.edit("locales/fr/sections.yml", "lesson#end", "lesson#gone")
    assert translations.main([], house.root) == 0
    said = capsys.readouterr().out
    assert "docs/fr/lesson.md:22: section 'end' has no record of the English text" in said
    assert 'compare it with docs/en/lesson.md:23, then run: make translations DONE="fr' in said


def test_a_shallow_clone_says_how_to_get_the_history(house, tmp_path_factory, capsys):
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    house.commit()
    clone = tmp_path_factory.mktemp("clone")
    house.git("clone", "-q", "--depth=1", f"file://{house.root}", str(clone))
    assert translations.main([], clone) == 0
    said = capsys.readouterr().out
    assert "section 'loop' was translated from another English text" in said
    assert "can't be shown: this clone holds no older commits; run `git fetch --unshallow`" in said


def test_a_text_that_was_never_committed_can_not_be_shown(house, capsys):
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    translations.done(["fr"], house.root)
    house.edit("docs/en/lesson.md", "Two sentences", "Three sentences")
    assert translations.main([], house.root) == 0
    assert "can't be shown: no commit holds it" in capsys.readouterr().out


def test_without_git_the_section_is_listed_all_the_same(house, monkeypatch, capsys):
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    monkeypatch.setenv("PATH", "")
    assert translations.main([], house.root) == 0
    said = capsys.readouterr().out
    assert "section 'loop'" in said
    assert "can't be shown: there is no git history here" in said


@pytest.mark.parametrize("target", ["fr/lesson#loop", "fr/lesson", "fr"])
def test_a_section_a_page_or_a_language_is_recorded_as_up_to_date(house, target, capsys):
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    before = house.read("locales/fr/sections.yml").splitlines()
    assert translations.main(["--done", target], house.root) == 0
    assert capsys.readouterr().out.endswith(f"up to date: {target}\n")
    after = house.read("locales/fr/sections.yml").splitlines()
    assert [new[:12] for old, new in zip(before, after, strict=True) if old != new] == [
        "lesson#loop:"
    ]
    assert house.stale() == []
    assert sorted(after[2:]) == after[2:]
    assert [f.name for f in (house.root / "locales/fr").iterdir() if f.name[0] not in "sm"] == []


def test_only_what_is_named_is_recorded(house):
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    house.edit("docs/en/lesson.md", "That is all", "That is it")
    translations.done(["fr/lesson#end"], house.root)
    assert house.stale() == ["loop"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("it", "it: no translation 'it'; there are: fr"),
        ("en/lesson", "en/lesson: no translation 'en'; there are: fr"),
        ("fr/lessen", "fr/lessen: no page 'lessen' in fr; did you mean lesson?"),
        (
            "fr/lesson#lop",
            "no section 'lop' in docs/fr/lesson.md; did you mean loop or top?",
        ),
        ("fr#loop", "fr#loop: no translation"),
    ],
)
def test_an_unknown_name_is_refused_and_nothing_is_written(house, target, message, capsys):
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    before = house.read("locales/fr/sections.yml")
    assert translations.main(["--done", "fr/lesson#loop", target], house.root) == 1
    assert message in capsys.readouterr().err
    assert house.read("locales/fr/sections.yml") == before


# --- the checks


def test_a_language_without_record_is_a_fault(house):
    (house.root / "locales/fr/sections.yml").unlink()
    assert house.faults() == (
        "locales/fr/sections.yml:1: no record of what was translated; "
        'compare docs/fr with docs/en, then run: make translations DONE="fr"'
    )


def test_a_section_without_record_is_a_fault(house):
    text = house.read("locales/fr/sections.yml")
    house.write("locales/fr/sections.yml", "".join(text.splitlines(True)[:-1]))
    assert house.faults() == (
        "docs/fr/lesson.md:1: the section #top is not recorded as translated; "
        'compare it with docs/en/lesson.md:1, then run: make translations DONE="fr/lesson#top"'
    )


def test_a_record_of_no_section_is_a_fault_and_goes_with_the_next_record(house):
    text = house.read("locales/fr/sections.yml")
    house.write("locales/fr/sections.yml", text + 'lesson#old: "0123456789ab"\n')
    assert house.faults() == (
        "locales/fr/sections.yml:7: there is no section lesson#old; remove the line"
    )
    translations.done(["fr/lesson#end"], house.root)
    assert house.read("locales/fr/sections.yml") == text


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("lesson#loop: 0123456789ab", "is no entry"),
        ('lesson: "0123456789ab"', "is no entry"),
        ('lesson#loop: "0123"', "is no entry"),
        ("<<<<<<< HEAD", "is no entry"),
        ('lesson#loop: "0123456789ab"', "is there twice"),
    ],
)
def test_a_line_that_is_no_entry_is_a_fault(house, line, what, capsys):
    house.write("locales/fr/sections.yml", house.read("locales/fr/sections.yml") + line + "\n")
    message = f"locales/fr/sections.yml:7: {line!r} {what}; remove the line, and record the section"
    assert house.faults().startswith(message)
    assert translations.main([], house.root) == 1
    assert message in capsys.readouterr().err
    with pytest.raises(TranslationError, match="remove the line"):
        house.render()


def test_a_file_that_is_not_utf_8_is_told(house, capsys):
    file = house.root / "locales/fr/sections.yml"
    file.write_bytes(file.read_bytes() + b"# caf\xe9\n")
    assert translations.main([], house.root) == 1
    line = len(file.read_bytes().splitlines())
    assert f"locales/fr/sections.yml:{line}: not UTF-8; save it as UTF-8" in capsys.readouterr().err


def test_a_stale_section_is_a_notice_and_no_fault(house):
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    assert house.faults() == ""
    assert checks.stale_notices(house.root) == [
        "notice: 1 stale section in docs/fr; `make translations` shows what has changed"
    ]


def test_an_id_that_means_the_start_of_the_page_is_a_fault():
    page = pages.parse("# Lesson { #top }\n", "en", "x", "docs/en/x.md")
    assert "docs/en/x.md:1: heading 'Lesson' has the id 'top', which means the start" in "\n".join(
        map(str, checks.check_headings(page))
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Il y en a 3.", "13: #loop: numbers not in English: 3; compare"),
        ("Vraiment ?", "13: no no-break space before '?'"),
        ("[La note][note].", "13: the link [note] is defined nowhere"),
    ],
)
def test_a_section_with_a_fault_is_not_recorded(house, capsys, text, message):
    before = house.read("locales/fr/sections.yml")
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    house.edit("docs/en/lesson.md", "That is", "Indeed that is")
    house.edit("docs/fr/lesson.md", "Une phrase, puis une autre.", f"Une phrase.\n{text}")
    assert translations.main(["--done", "fr/lesson#end", "fr/lesson#loop"], house.root) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"docs/fr/lesson.md:{message}")
    assert said.endswith("\n1 fault: nothing was recorded\n")
    assert house.read("locales/fr/sections.yml") == before
    assert translations.main(["--done", "fr/lesson#end"], house.root) == 0


# --- the note on the page


def test_a_stale_section_says_so_beneath_its_heading_and_leads_to_the_english(house):
    house.edit("docs/en/lesson.md", "One sentence", "Two sentences")
    shown = house.render()
    assert (
        '<h2 id="loop">The loop</h2>\n'
        '<div class="admonition stale" data-search-exclude="" role="note">'
        '<p>Changé depuis. <a href="../../en/lesson/#loop" hreflang="en">Lire l’anglais</a></p>'
    ) in shown
    assert shown.count('role="note"') == 1
    assert 'role="note"' not in house.render("docs/en/lesson.md")
    translations.done(["fr/lesson#loop"], house.root)
    assert 'role="note"' not in house.render()


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("old", ["A small page", "The lead."])
def test_the_start_of_a_page_has_one_note_after_its_lead(house, old, wrapped):
    if wrapped:  # the title within a block of its own, as on the home page
        house.edit("docs/fr/lesson.md", "# Lesson", '<div class="hero" markdown>\n\n# Lesson')
        house.edit("docs/fr/lesson.md", "The lead.", "The lead.\n\n</div>")
    for text in {old, "A small page"}:
        house.edit("docs/en/lesson.md", text, "Something else.")
    shown = house.render()
    assert shown.count('role="note"') == 1
    assert shown.index("The lead.") < shown.index('role="note"') < shown.index('id="loop"')
    link = "../../en/lesson/" + "#lesson" * (old == "The lead.")
    assert f'href="{link}"' in shown


@pytest.mark.parametrize(
    ("name", "id", "link"),
    [
        ("index", "home", "../en/#home"),
        ("index", "top", "../en/"),
        ("amp", "memory", "../../en/amp/#memory"),
        ("extra/amp", "memory", "../../../en/extra/amp/#memory"),
        ("extra/index", "memory", "../../en/extra/#memory"),
    ],
)
def test_the_link_leads_from_each_page_to_the_english_one(name, id, link):
    assert address(pages.parse("", "fr", name, "x"), id) == link
    published = re.sub(r"((?:\.\./)+)en/", r"../\1en/2.13/", link)
    assert address(pages.parse("", "fr", name, "x"), id, "2.13") == published


def test_a_stale_section_that_does_not_say_so_is_a_fault(house):
    for old in ("One sentence", "A small page"):
        house.edit("docs/en/lesson.md", old, "Something")
    page = pages.load(house.root / "docs/fr/lesson.md", house.root)
    shown = house.render()
    assert checks.check_notes(shown, page, {"loop", "top"}) == []
    assert (
        "docs/fr/lesson.md:22: #end is stale and does not say so; is tools.markdown.stale"
        in str(checks.check_notes(shown, page, {"loop", "end"})[0])
    )
    assert [f.line for f in checks.check_notes("", page, {"loop", "top"})] == [1, 10]


def test_the_built_page_has_the_note_and_its_link_is_good(tree):
    for lang in ("fr", "de"):
        tree.write(f"locales/{lang}/sections.yml", 'amp#loop: "0123456789ab"\n')
    done = tree.run("tools.build")
    assert done.returncode == 0, done.stderr
    said = (tree.root / "site/de/amp/index.html").read_text("utf-8")
    assert said.count('class="admonition stale" role="note"') == 1
    assert 'href="../../en/amp/#loop" hreflang="en"' in said
    assert "data-search-exclude" not in said
    assert checks.check_links(tree.root / "site", "https://scale-by-example.github.io/") == []
    index = (tree.root / "site/de/search/search_index.json").read_text("utf-8")
    assert "Dieser Abschnitt hat sich" not in index
