"""The build: what it makes of the pages, and how it says what is wrong with them."""

import json
import re

import pytest

from tools.pins import constraints


def refused(tree, says: str) -> None:
    """Check that the build of the tree fails with a line that matches, and makes nothing."""
    done = tree.run("tools.build")
    assert done.returncode == 1, done.stdout
    assert re.search(says, done.stderr), done.stderr
    assert "nothing was built" in done.stderr
    assert not (tree.root / "site" / "en").exists()


def test_every_language_is_built_with_what_readers_and_machines_need(tree):
    done = tree.run("tools.build")
    assert done.returncode == 0, done.stderr
    site = tree.root / "site"
    for lang in ("en", "fr", "de"):
        page = (site / lang / "amp" / "index.html").read_text("utf-8")
        assert f'<html lang="{lang}"' in page
        assert (
            f'<link rel="canonical" href="https://scale-by-example.github.io/{lang}/amp/"' in page
        )
        assert 'href="../snippets/small/right.py"' in page
        assert (site / lang / "snippets/small/right.py").read_text() == (
            tree.root / "snippets/small/right.py"
        ).read_text()
        assert not (site / lang / "snippets/small/right.out").exists()
        markdown = (site / lang / "amp" / "index.md").read_text("utf-8")
        assert "total += number\n" in markdown and "--8<--" not in markdown
        assert f"[the other page](https://scale-by-example.github.io/{lang}/#loop)" in markdown
        assert f"/{lang}/amp/index.md): A small page." in (site / lang / "llms.txt").read_text()
        assert f"<loc>https://scale-by-example.github.io/{lang}/sitemap.xml</loc>" in (
            (site / "sitemap.xml").read_text()
        )
    root = (site / "index.html").read_text("utf-8")
    assert '<a lang="fr" hreflang="fr" href="fr/">Français</a>' in root
    assert sorted(p.name for p in site.iterdir() if p.name.startswith(".")) == []


def test_a_broken_link_is_told_with_file_and_line(tree):
    tree.edit("docs/fr/amp.md", "index.md#loop", "absent.md")
    refused(tree, r"fr: docs/fr/amp\.md:8: .*'absent\.md'")


def test_a_broken_anchor_is_told_with_file_and_line(tree):
    tree.edit("docs/fr/amp.md", "index.md#loop", "index.md#absent")
    refused(tree, r"fr: docs/fr/amp\.md:8: .*#absent")


def test_an_absolute_link_is_refused(tree):
    tree.edit("docs/en/amp.md", "index.md#loop", "/en/")
    refused(tree, r"docs/en/amp\.md:8: .*absolute link '/en/'")


def test_an_include_that_finds_nothing_is_told_with_file_and_line(tree):
    tree.edit("docs/de/amp.md", "right.py:main", "right.py:man")
    refused(tree, r"de: docs/de/amp\.md:13: .*no such section; it has: main")


def test_front_matter_that_cannot_be_read_is_refused(tree):
    tree.edit("docs/en/amp.md", "title: Lesson", "title: Lesson: one")
    refused(tree, r"en: docs/en/amp\.md:2: not YAML .*; quote text that holds ':' or '#'")


def test_front_matter_without_end_is_refused_in_the_words_of_the_checks(tree):
    tree.edit("docs/en/amp.md", "A small page.\n---\n", "A small page.\n")
    refused(tree, r"docs/en/amp\.md:1: the front matter has no end; close it with a line '---'")


def test_a_page_that_the_navigation_does_not_have_is_refused(tree):
    tree.write("docs/en/stray.md", "# Stray { #stray }\n")
    refused(tree, r"stray\.md")


@pytest.mark.parametrize("opening", ["/// quizz | Why?", "/// quiz"])
def test_a_block_that_nothing_understood_is_told_with_file_and_line(tree, opening):
    page = (tree.root / "docs/en/amp.md").read_text()
    tree.write("docs/en/amp.md", f"{page}\n{opening}\n- [x] a\n///\n")
    refused(tree, rf"docs/en/amp\.md:20: '{re.escape(opening)}' was not understood")


def test_a_malformed_quiz_is_told_with_file_and_line(tree):
    page = (tree.root / "docs/en/amp.md").read_text()
    tree.write("docs/en/amp.md", f"{page}\n/// quiz | Why?\n- [ ] a\n///\n")
    refused(tree, r"docs/en/amp\.md:20: quiz 'Why\?'")


@pytest.mark.parametrize(
    "block", ["/// quiz | Why?\n- [x] a\n  > x\n- [ ] b\n  > y\n", "/// figure | loop\nThe loop.\n"]
)
def test_a_block_that_is_not_closed_is_told_with_file_and_line(tree, block):
    page = (tree.root / "docs/en/amp.md").read_text()
    tree.write("docs/en/amp.md", f"{page}\n{block}\n## Next {{ #next }}\n\nText.\n")
    refused(tree, r"docs/en/amp\.md:20: '/// .*' is not closed; add `///` after its last line")


def test_messages_that_cannot_be_read_are_told_with_file_and_line(tree):
    tree.edit("locales/fr/messages.yml", "output: Sortie", "output: [Sortie")
    refused(tree, r"locales/fr/messages\.yml:\d+: not YAML")


def test_a_word_that_one_language_lacks_is_told_once_with_its_file(tree):
    tree.edit("locales/de/messages.yml", "quiz_right:", "quiz_rigth:")
    done = tree.run("tools.build")
    assert done.returncode == 1
    assert re.sub(r":\d+:", ":N:", done.stderr).splitlines() == [
        "locales/de/messages.yml: 'quiz_right' is missing (English has it); is 'quiz_rigth' meant?",
        "locales/de/messages.yml:N: 'quiz_rigth' is not in English; remove it, or mend its name",
        "2 faults: nothing was built",
    ]


@pytest.mark.parametrize(
    "path", ["docs/fr/amp.md", "locales/fr/messages.yml", "snippets/small/right.out"]
)
def test_a_file_that_is_not_utf_8_is_told_with_its_line(tree, path):
    file = tree.root / path
    file.write_bytes(file.read_bytes() + b"caf\xe9\n")
    line = file.read_bytes().count(b"\n")
    refused(tree, rf"^{re.escape(path)}:{line}: not UTF-8; save it as UTF-8\n")


def test_a_place_that_can_not_be_written_is_told(tree):
    tree.write("site", "a file, no folder")
    done = tree.run("tools.build")
    assert done.returncode == 1
    assert re.fullmatch(r"cannot write .*/site: File exists\n", done.stderr), done.stderr


@pytest.mark.parametrize("address", ["", "here", "https:///"])
def test_a_site_without_an_address_is_refused(tree, monkeypatch, address):
    monkeypatch.setenv("SITE_ROOT", address)
    refused(tree, r"en: mkdocs\.yml: .* is no address of a site; .*SITE_ROOT")


def test_a_template_that_cannot_be_read_is_told_with_file_and_line(tree):
    tree.write("theme/main.html", '{% extends "base.html" %}\n{% block content %}\n{% endblok %}\n')
    refused(tree, r"theme/main\.html:3: ")


def test_a_configuration_that_cannot_be_read_is_refused(tree):
    tree.edit("locales/de/mkdocs.yml", "INHERIT: ../../mkdocs.yml", "INHERIT: ../../absent.yml")
    refused(tree, r"de: .*absent\.yml")


def test_a_language_without_pages_is_refused(tree):
    tree.write("locales/it/mkdocs.yml", "INHERIT: ../../mkdocs.yml\n")
    (tree.root / "locales/it/messages.yml").write_text(
        (tree.root / "locales/en/messages.yml").read_text().replace("English", "Italiano")
    )
    refused(tree, r"it: docs/it: no such folder")


def test_a_failed_build_leaves_the_site_as_it_was(tree):
    assert tree.run("tools.build").returncode == 0
    tree.edit("docs/en/amp.md", "index.md#loop", "absent.md")
    tree.edit("docs/fr/amp.md", "A small page.", "Une page mise à jour.")
    assert tree.run("tools.build").returncode == 1
    assert "mise à jour" not in (tree.root / "site/fr/amp/index.html").read_text("utf-8")
    assert (tree.root / "site/en/amp/index.html").exists()


def test_the_pins_are_what_pip_resolved_and_what_is_held():
    report = {
        "install": [
            {"metadata": {"name": "Mark_down", "version": "3.1"}},
            {"metadata": {"name": "torch", "version": "2.13.0+cpu"}},
        ]
    }
    lines = constraints(json.loads(json.dumps(report)), ["pip==26.3"]).splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "mark-down==3.1",
        "pip==26.3",
        "torch==2.13.0",
    ]
