"""The course around the pages: lessons, what belongs to them, and what is not translated yet."""

import re
from types import SimpleNamespace

import pytest

from tools.hooks import course, untranslated, without

LESSON = """\
---
title: {title}
description: A small page.
{more}---

# {title} {{ #title }}

Text.
"""
ORDER = ["index", "choose", "dp", "dp-errors", "ddp", "ddp-errors", "amp", "expect"]
LESSONS = {"dp": 15, "ddp": 30, "amp": 10}


def page(name: str) -> SimpleNamespace:
    meta = {"minutes": LESSONS[name]} if name in LESSONS else {}
    return SimpleNamespace(file=SimpleNamespace(src_uri=f"{name}.md"), meta=meta)


def test_a_page_with_minutes_is_a_lesson_and_what_is_named_after_it_belongs_to_it():
    groups = course([page(name) for name in ORDER])
    assert [
        (g.page.file.src_uri, g.number, [p.file.src_uri for p in g.beneath]) for g in groups
    ] == [
        ("index.md", None, []),
        ("choose.md", None, []),
        ("dp.md", 1, ["dp-errors.md"]),
        ("ddp.md", 2, ["ddp-errors.md"]),
        ("amp.md", 3, []),
        ("expect.md", None, []),
    ]


def test_what_is_not_translated_leaves_the_navigation_whatever_its_form():
    nav = ["index.md", {"Lessons": ["dp.md", {"Two": "ddp.md"}]}, "expect.md"]
    assert without(nav, {"ddp.md", "expect.md"}) == ["index.md", {"Lessons": ["dp.md"]}]
    assert without(nav, {"dp.md", "ddp.md"}) == ["index.md", "expect.md"]
    assert without(nav, set()) == nav
    assert without(None, {"dp.md"}) is None


@pytest.fixture
def house(tree):
    """A small house with a whole course, of which German has one page less."""
    for name in ORDER[1:]:
        more = f"minutes: {LESSONS[name]}\n" if name in LESSONS else ""
        for lang in ("en", "fr", "de"):
            text = LESSON.format(title=f"The page {name}", more=more)
            tree.write(f"docs/{lang}/{name}.md", text)
    for lang in ("en", "fr", "de"):
        tree.edit(f"docs/{lang}/index.md", "amp.md", "choose.md")
    (tree.root / "docs/de/ddp-errors.md").unlink()
    tree.edit("mkdocs.yml", "nav: [index.md, amp.md]", f"nav: [{'.md, '.join(ORDER)}.md]")
    return tree


def test_each_page_says_where_in_the_course_it_stands(house):
    done = house.run("tools.build")
    assert done.returncode == 0, done.stderr

    def eyebrow(path: str) -> str:
        html = (house.root / "site" / path / "index.html").read_text()
        return re.sub(r"<[^>]+>", "|", re.search(r'<p class="eyebrow">(.*?)</p>', html, re.S)[1])

    assert re.findall(r"[^|\n]+", eyebrow("en/ddp")) == [
        "Lesson 2 of 3",
        "30 minutes",
        "This page as Markdown",
    ]
    assert re.findall(r"[^|\n]+", eyebrow("en/ddp-errors"))[:2] == ["Lesson 2 of 3", "The page ddp"]
    assert re.findall(r"[^|\n]+", eyebrow("de/amp"))[:2] == ["Lektion 3 von 3", "10 Minuten"]
    assert re.findall(r"[^|\n]+", eyebrow("fr/expect")) == ["Cette page en Markdown"]

    html = (house.root / "site/en/dp-errors/index.html").read_text()
    around = re.findall(r'<a rel="(\w+)" href="([^"]+)"', html)
    assert around == [("prev", "../dp/"), ("next", "../ddp/")]
    menu = re.search(r'<nav aria-label="Lessons">(.*?)</nav>', html, re.S)[1]
    assert re.findall(r'href="([^"]+)"( aria-current="page")?', menu) == [
        (
            f"../{name}/" if name != "dp-errors" else "./",
            ' aria-current="page"' * (name == "dp-errors"),
        )
        for name in ORDER[1:]
    ]
    assert re.search(r'dp/"[^>]*>.*?<ul>\s*<li><a href="./"', menu, re.S)


def test_a_page_that_only_english_has_is_left_out_elsewhere_and_no_link_leads_to_it(house):
    assert untranslated(house.root) == {"en": set(), "fr": set(), "de": {"ddp-errors.md"}}
    done = house.run("tools.build")
    assert done.returncode == 0, done.stderr
    site = house.root / "site"
    assert not (site / "de/ddp-errors").exists() and (site / "fr/ddp-errors").exists()
    assert "ddp-errors" not in (site / "de/ddp/index.html").read_text()
    english = (site / "en/ddp-errors/index.html").read_text()
    assert "de/ddp-errors" not in english and 'href="../../de/"' in english
    assert 'hreflang="fr" href="https://scale-by-example.github.io/fr/ddp-errors/"' in english
    assert 'href="../../de/ddp/"' in (site / "en/ddp/index.html").read_text()


def test_a_page_of_the_navigation_that_english_has_not_is_refused(house):
    house.edit("mkdocs.yml", "expect.md", "expekt.md")
    done = house.run("tools.build", "--lang", "en")
    assert done.returncode == 1 and "expekt.md" in done.stderr
