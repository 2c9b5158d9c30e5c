"""Every page, in every language, as a browser shows it."""

import re

import pytest
from playwright.sync_api import Error

from tests.site.look import (
    accessibility,
    copied,
    head_faults,
    language_faults,
    overflow,
    pages,
    quiz_faults,
    reading_faults,
    source,
    table_faults,
)
from tools.languages import languages
from tools.snippets import SNIPPETS, load

ALL = pages()
LESSONS = [path for path in ALL if "```python" in source(path).read_text("utf-8")]
NOT_FOUND = [f"{lang}/404.html" for lang in languages()]


@pytest.mark.parametrize("path", ALL + NOT_FOUND)
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(open_page, path, width):
    page = open_page(path, width=width)
    if width < 1024 and page.locator(".outline").count():
        page.locator(".outline summary").click()  # so that what it holds is seen as well
    page.evaluate("document.querySelectorAll('main details').forEach(d => d.open = true)")
    page.evaluate("document.querySelectorAll('.quiz input').forEach(i => i.checked = true)")
    faults = accessibility(page)
    assert not faults, "\n".join(faults)


def test_axe_finds_nothing_in_the_open_menu_and_search(open_page):
    page = open_page("en/")
    page.locator("[data-language-menu] summary").click()
    assert not accessibility(page)
    page.locator(".lessons-menu summary").click()
    assert not page.locator("[data-language-menu] ul").is_visible()
    assert not accessibility(page)
    page.locator("[data-open-search]").click()
    page.keyboard.type("scaler")
    page.locator("#found a").first.wait_for()
    assert not accessibility(page)


@pytest.mark.parametrize("width", [360, 1280])
def test_the_course_is_a_menu_that_leads_to_every_page(open_page, site, width):
    page = open_page("de/amp-errors/", width=width)
    menu = page.locator(".lessons-menu")
    menu.locator("summary").click()
    here = menu.locator("[aria-current=page]").all_text_contents()
    assert here == [page.title().removesuffix(" · Scale by Example")]
    there = menu.locator("a").evaluate_all("all => all.map(a => a.href)")
    listed = [f"{site.url}{path}" for path in ALL if path.startswith("de/")]
    assert set(listed) - set(there) == {f"{site.url}de/", f"{site.url}de/checked/"}
    assert not overflow(page)
    nav = menu.locator("nav").bounding_box()
    assert nav["x"] >= 0 and nav["x"] + nav["width"] <= width
    page.keyboard.press("Escape")
    assert not menu.locator("nav").is_visible()


def test_axe_sees_a_pale_word_and_a_nameless_button(open_page):
    bad = (
        "<!doctype html><html lang=en><title>x</title><main><h1>x</h1>"
        "<p style='color:#aaa'>pale</p><button></button></main>"
    )
    faults = accessibility(open_page("en/bad/", bad=bad))
    assert any("color-contrast" in fault for fault in faults)
    assert any("button-name" in fault for fault in faults)


@pytest.mark.parametrize("path", ALL + NOT_FOUND)
def test_no_page_scrolls_sideways_on_a_phone(open_page, path):
    page = open_page(path, width=390)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert not overflow(page)
    page.set_viewport_size({"width": 320, "height": 700})
    assert not overflow(page)


@pytest.mark.parametrize("lang", languages())
def test_a_table_on_a_phone_is_read_without_scrolling(open_page, lang):
    page = open_page(f"{lang}/amp/", width=390)
    assert page.locator(".table").count()
    assert not table_faults(page)
    page.evaluate("document.querySelector('table').removeAttribute('style')")
    assert "table 1" in table_faults(page)[0]


def test_the_contents_stay_at_hand_on_a_phone(open_page):
    page = open_page("en/amp/#clipping", width=390)
    summary = page.locator(".outline summary")
    page.wait_for_function("document.querySelector('.outline summary').dataset.here")
    assert summary.get_attribute("data-here") == page.locator("#clipping").evaluate(
        "heading => heading.firstChild.textContent"
    )
    assert summary.bounding_box()["y"] < 5 < page.locator("#clipping").bounding_box()["y"] - 40
    summary.evaluate("summary => summary.click()")  # Playwright's own click would scroll first
    page.locator(".outline a[href='#resume']").click()
    page.wait_for_function("document.querySelector('.outline [aria-current]')?.hash == '#resume'")
    assert not page.locator(".outline details").evaluate("details => details.open")


def test_a_wide_image_is_seen_to_scroll_the_page(open_page):
    bad = "<!doctype html><html><body><div id=wide style='width:900px'>x</div>"
    assert "div#wide" in overflow(open_page("en/bad/", width=390, bad=bad))[0]


@pytest.mark.parametrize("path", ALL)
def test_the_head_says_what_search_engines_and_shared_links_need(site, path):
    assert not head_faults((site.folder / path / "index.html").read_text("utf-8"), path, site)


@pytest.mark.parametrize(
    ("spoiled", "seen"),
    [
        (('name="description" content="', 'name="description" content="" x="'), "description"),
        (('rel="canonical" href="', 'rel="canonical" href="x'), "canonical"),
        (('hreflang="fr" href="', 'hreflang="fr" href="x'), "hreflang"),
        (("index.md", "absent.md"), "Markdown"),
        (("assets/social/", "assets/absent/"), "og:image"),
        (("assets/social/amp.png", "assets/images/favicon.png"), "1200 × 630"),
        (('<html lang="en"', '<html lang="fr"'), "<html lang"),
    ],
)
def test_a_spoiled_head_is_seen(site, spoiled, seen):
    html = (site.folder / "en/amp/index.html").read_text("utf-8")
    assert spoiled[0] in html
    faults = head_faults(html.replace(*spoiled), "en/amp/", site)
    assert any(seen in fault for fault in faults), faults


def test_the_sitemap_has_every_page_with_its_languages(site):
    for lang in languages():
        text = (site.folder / lang / "sitemap.xml").read_text("utf-8")
        for path in (path for path in ALL if path.startswith(f"{lang}/")):
            assert f"<loc>{site.root}{path}</loc>" in text
            for other in languages():
                rest = path.partition("/")[2]
                assert f'hreflang="{other}" href="{site.root}{other}/{rest}"' in text


def test_nothing_is_served_that_no_page_uses(site):
    unused = [
        file.relative_to(site.folder)
        for file in site.folder.rglob("*")
        if file.suffix == ".map" or "lunr" in file.parts or file.match("bundle.*.js")
    ]
    assert not unused


@pytest.mark.parametrize("path", LESSONS)
def test_the_copy_button_gives_exactly_the_section(open_page, path):
    page = open_page(path)
    blocks = page.locator(".highlight[data-section]:visible")
    count = blocks.count()
    assert count
    for number in dict.fromkeys([0, count // 2, count - 1]):
        block = blocks.nth(number)
        shown = load(block.get_attribute("data-snippet")).sections[
            block.get_attribute("data-section")
        ]
        listing = block.locator("xpath=..")
        assert copied(page, listing).rstrip("\n") == shown.text.rstrip("\n")


def printed(output: str) -> str:
    """Return an output as a page shows it: Markdown makes spaces of tabs."""
    return (SNIPPETS / output).read_text("utf-8").expandtabs(4)


@pytest.mark.parametrize("path", LESSONS)
def test_every_block_holds_exactly_its_section_or_output(open_page, path):
    blocks = (
        open_page(path)
        .locator(".highlight")
        .evaluate_all(
            "all => all.map(b => [b.dataset.snippet, b.dataset.section, b.dataset.output,"
            " b.querySelector('pre > code').textContent])"
        )
    )
    for snippet, section, output, text in blocks:
        if snippet and section:
            assert text.rstrip("\n") == load(snippet).sections[section].text.rstrip("\n")
        elif output:
            assert text.rstrip("\n") == printed(output).rstrip("\n")


@pytest.mark.parametrize("path", LESSONS)
def test_the_title_of_a_block_leads_to_the_whole_program(site, open_page, path):
    page = open_page(path)
    links = page.locator(".listing-title > a").evaluate_all(
        "all => all.map(a => [a.href, a.textContent])"
    )
    assert links
    for href, name in set(map(tuple, links)):
        file = site.folder / href.removeprefix(site.url)
        assert file.read_bytes() == (SNIPPETS / name).read_bytes()


def test_a_change_of_language_keeps_page_and_place(open_page):
    page = open_page("en/amp/#loop")
    for lang in ("de", "fr", "en"):
        assert not language_faults(page, lang)
    page.evaluate("location.hash = 'memory'")  # as a click in the contents does
    page.wait_for_function("document.querySelector('a[hreflang=de]').hash === '#memory'")
    assert not language_faults(page, "de")


@pytest.mark.parametrize("href", ["../../fr/#loop", "../../fr/amp/", "../../fr/amp/#absent"])
def test_a_language_link_that_loses_page_or_place_is_seen(open_page, href):
    bad = (
        "<!doctype html><html lang=en><title>x</title><h1 id=loop>x</h1><details"
        f" data-language-menu><summary>x</summary><a hreflang=fr href='{href}'>x</a></details>"
    )
    assert language_faults(open_page("en/amp/", bad=bad), "fr")


def test_the_choice_of_colors_is_kept(open_page):
    page = open_page("en/amp/", scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.locator("[data-toggle-scheme]").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.goto(page.url.replace("/amp/", "/"))
    assert page.evaluate(ground) == dark
    page.locator("[data-toggle-scheme]").click()
    assert page.evaluate(ground) == light
    assert page.evaluate("localStorage.scheme") == ""


@pytest.mark.parametrize("lang", languages())
def test_a_quiz_is_answered_by_keyboard(open_page, lang):
    assert not quiz_faults(open_page(f"{lang}/amp/"))


@pytest.mark.parametrize("lang", languages())
def test_reading_and_quizzes_need_no_javascript(open_page, lang):
    page = open_page(f"{lang}/amp/", javascript=False)
    assert not reading_faults(page)
    quiz = page.locator(".quiz").last
    quiz.locator(".quiz-choice--wrong label").first.click()
    assert quiz.locator(".quiz-why > div:visible").count() == 1


@pytest.mark.parametrize(
    ("spoiled", "seen"),
    [
        (('type="radio"', 'type="hidden"'), "by keyboard"),
        (('class="quiz-choice ', 'class="'), "0 explanations"),
        (('role="status"', ""), "screen reader"),
        (('class="quiz-why"', 'class="quiz-why" style="display:none"'), "0 explanations"),
        (("<input", "<b"), "takes the keyboard"),
    ],
)
def test_a_quiz_that_cannot_be_answered_is_seen(site, open_page, spoiled, seen):
    html = (site.folder / "en/amp/index.html").read_text("utf-8")
    start = html.index('<div class="quiz"')
    quiz = html[start : html.index("</fieldset>", start)].replace(*spoiled)
    style = '<link rel="stylesheet" href="../assets/site.css">'
    page = open_page("en/bad/", bad=f"<!doctype html><html lang=en>{style}{quiz}")
    page.set_default_timeout(1000)
    try:
        faults = quiz_faults(page)
    except Error as error:  # nothing there that could be focused
        faults = [f"by keyboard: {error}"]
    assert any(seen in fault for fault in faults), faults


def test_a_page_that_needs_javascript_is_seen(open_page):
    bad = "<!doctype html><title>x</title><main></main><button class=needs-js>x</button>"
    faults = "\n".join(reading_faults(open_page("en/bad/", javascript=False, bad=bad)))
    for seen in ("the text", ".listing pre", "does nothing without JavaScript"):
        assert seen in faults


def test_a_copy_button_that_adds_something_is_seen(open_page):
    bad = (
        "<!doctype html><title>x</title><div class=listing><pre><code>a = 1</code></pre>"
        "<button class=copy onclick=\"navigator.clipboard.writeText('>>> a = 1')\">x</button>"
    )
    page = open_page("en/bad/", bad=bad)
    assert copied(page, page.locator(".listing")) != page.locator("code").text_content()


def test_a_page_from_a_file_is_read_and_answered(open_page, site):
    page = open_page((site.folder / "en/amp/index.html").as_uri())
    page.faults.clear()  # a browser lets no file load a font; the text is there without
    page.locator(".quiz label").first.click()
    assert page.locator(".quiz-why > div:visible").count() == 1
    assert not page.locator("[data-open-search]").is_visible()


def test_the_watch_sees_console_errors_other_hosts_and_missing_files(open_page):
    bad = (
        "<!doctype html><title>x</title><img src=absent.png><script>console.error('oh')</script>"
        "<img src=http://localhost:9/x.png><script>throw Error('ouch')</script>"
    )
    faults = "\n".join(open_page("en/bad/", bad=bad).faults)
    for seen in ("404 for", "console error: oh", "another host: http://localhost:9/", "ouch"):
        assert seen in faults


@pytest.mark.parametrize("path", ALL)
def test_headings_are_in_order_and_ids_are_single(site, path):
    html = (site.folder / path / "index.html").read_text("utf-8")
    levels = [int(level) for level in re.findall(r"<h([1-6])\b", html)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids)), sorted(i for i in set(ids) if ids.count(i) > 1)
