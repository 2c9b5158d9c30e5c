"""The pages of the notebooks in the browser: they are held to what the other pages are."""

import pytest

from tests.site.conftest import turned
from tests.site.look import accessibility, copied, language_faults, overflow
from tools import notebooks
from tools.snippets import load

# What makes them is the same in all languages: each page is looked at in one.
LANGS = ["en", "fr", "de"]
PATHS = [
    f"{LANGS[number % 3]}/{name}/notebook/"
    for number, name in enumerate(sorted(notebooks.all_pages()["en"]))
]


@pytest.fixture(params=PATHS)
def page(tab, request, site):
    """Each page in turn; it may ask no other host, and nothing may fail."""
    yield from turned(tab, request.param, site)


def test_it_is_accessible_and_fits_a_phone(page, known):
    assert not accessibility(page, 1280, 390, known=known)  # leaves open all that folds
    page.set_viewport_size({"width": 320, "height": 700})
    assert not overflow(page)


def test_a_plot_has_words_for_who_cannot_see_it_and_the_color_of_the_text(open_page):
    for scheme in ("light", "dark"):
        page = open_page("de/amp/notebook/", scheme=scheme)
        plots = page.locator(".plot svg[role=img]")
        assert plots.count() == 2
        for number in range(2):
            assert plots.nth(number).get_attribute("aria-label")
            text = plots.nth(number).locator("text").first
            color = "e => getComputedStyle(e).fill"
            assert text.evaluate(color) == page.evaluate("getComputedStyle(document.body).color")


def test_the_copy_button_gives_the_cell(open_page):
    page = open_page("en/amp/notebook/")
    listing = page.locator(".listing:has(a)").first
    shown = load("amp/train_fp32.py").sections["data"].text
    assert copied(listing).rstrip("\n") == shown.rstrip("\n")


def test_a_change_of_language_keeps_page_and_place(open_page):
    assert not language_faults(open_page("en/amp/notebook/#loop"), "fr")


def test_the_download_is_the_notebook(open_page, site):
    page = open_page("en/amp/notebook/")
    with page.expect_download() as download:
        page.locator("a[download]").click()
    assert download.value.suggested_filename == "amp.ipynb"
    there = (site.folder / "en/amp/notebook/amp.ipynb").read_bytes()
    assert download.value.path().read_bytes() == there
