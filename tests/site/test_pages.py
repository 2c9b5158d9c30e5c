"""Every page, in every language, as a browser shows it."""

import re

import pytest
from playwright.sync_api import Error

from tests.site.look import (
    accessibility,
    copied,
    head_faults,
    language_faults,
    lessons,
    overflow,
    pages,
    quiz_faults,
    reading_faults,
    table_faults,
)
from tools.languages import languages
from tools.snippets import SNIPPETS, load

NOT_FOUND = [f"{lang}/404.html" for lang in languages()]


def test_axe_finds_nothing(page, known):
    faults = accessibility(page, 1280, 390, known=known)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("path", NOT_FOUND)
def test_axe_finds_nothing_where_no_page_is(open_page, path, known):
    assert not accessibility(open_page(path), 1280, 390, known=known)


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
    listed = [f"{site.url}{path}" for path in pages() if path.startswith("de/")]
    assert set(listed) - set(there) == {f"{site.url}de/", f"{site.url}de/checked/"}
    assert not overflow(page)
    nav = menu.locator("nav").bounding_box()
    assert nav["x"] >= 0 and nav["x"] + nav["width"] <= width
    page.keyboard.press("Escape")
    assert not menu.locator("nav").is_visible()
    page.keyboard.press("Enter")
    for _ in there:
        page.keyboard.press("Tab")
        assert menu.locator("nav").is_visible()
    page.keyboard.press("Tab")  # and on: the menu must not lie over what comes next
    assert not menu.locator("nav").is_visible()


PLANTED = """<!doctype html><html lang=en><title>x</title>
<style>
  body { background: #fff; color: #000 } p { font: 16px sans-serif }
  a { color: inherit; display: inline-block; min-width: 30px }
  @media (prefers-color-scheme: dark) {
    body { background: #000; color: #fff } .dark { color: #333 }
  }
  @media (max-width: 500px) { .narrow { color: #aaa } .box { width: 5em; overflow: auto } }
  @media (max-width: 500px) and (prefers-color-scheme: dark) { .both { color: #333 } }
  @media (min-width: 501px) { .phone { display: none } } .gray a { color: #888 }
  #far + p { color: #8a8a8a }
  .tiny { width: 9px; height: 9px; padding: 0; border: 0 }
  .low { height: 9px; padding: 0; border: 0; font-size: 9px }
</style>
<main><h1>x</h1><p>fine<p>fine<p id=same style='color:#aaa'>pale<p id=behind>fine</p>
<div><p>fine</div><div style='background:#333'><div><p id=ground>pale</div></div>
<div style='opacity:.3'><p id=through>pale</p></div>
<p class=dark>fine<p class=narrow>fine<p class=both>fine
<p id=large style='font-size:30px;color:#888'>fine</p><p id=small style='color:#888'>pale</p>
<pre><code><span>one</span> <span>two</span>
<span id=word style='color:#aaa'>pale</span></code></pre>
<ul><li><a href=x id=fine>fine</a><li><a href=x id=silent> </a></ul>
<div class=gray><ul><li><a href=x id=inside>pale</a></ul></div>
<div class=box id=short><pre>long</pre></div><div class=box id=long><pre>long long long</pre></div>
<div id=far><button class=low>long words</button> <button class=low>long words</button></div>
<p id=after>pale<div id=near><button class=low>i</button> <button class=low>j</button></div>
<div><button aria-label=fine></button></div><div><button aria-label=''></button></div>
<button class=phone></button><div class=phone><button class=tiny>x</button><button class=tiny>y
</button></div></main>"""


# Looked at before: of the forms and looks of what is at fault, but not at fault.
FINE = """<p>fine<ul><li><a href=x id=fine>fine</a></ul>
<div class=box id=short><pre>long</pre></div>
<div id=far><button class=low>long words</button> <button class=low>long words</button></div>"""


@pytest.mark.parametrize("before", [None, PLANTED.partition("<p>")[0] + FINE])
def test_axe_sees_what_is_planted(open_page, before):
    known = {}
    if before:
        assert not accessibility(open_page("en/fine/", bad=before), 1280, 390, known=known)
        assert known["forms"] and known["looks"]
    page, then = open_page("en/bad/", bad=PLANTED), known.copy()
    html = page.content()
    faults = "\n".join(accessibility(page, 1280, 390, known=known))
    pale = "#same #ground #through .dark .narrow .both #small #word #inside #after"
    for where in pale.split():
        assert re.search(f"color-contrast: {where}: ", faults), (where, faults)
    for fault in (
        r'button-name: button\[aria-label=""\]: ',
        r"button-name: \.phone",
        r"link-name: #silent: ",
        r"scrollable-region-focusable: #long: ",
        r"target-size: \.tiny",
        r"target-size: (#near > )?\.low:nth-child\(2\): ",
    ):
        assert re.search(fault, faults), (fault, faults)
    assert "#large" not in faults and "#behind" not in faults
    assert page.content() == html
    assert known == then  # what has a fault is looked at again


def test_the_copy_button_gives_exactly_the_section(page, path):
    blocks = page.locator(".highlight[data-section]:visible")
    count = blocks.count()
    assert bool(count) == (path in lessons())
    for number in sorted({0, count // 2, count - 1} if count else ()):
        block = blocks.nth(number)
        snippet, section = block.evaluate("b => [b.dataset.snippet, b.dataset.section]")
        shown = load(snippet).sections[section].text
        assert copied(block).rstrip("\n") == shown.rstrip("\n")


def printed(output: str) -> str:
    """Return an output as a page shows it: Markdown makes spaces of tabs."""
    return (SNIPPETS / output).read_text("utf-8").expandtabs(4)


def test_every_block_holds_exactly_its_section_or_output(page):
    blocks = page.locator(".highlight").evaluate_all(
        "all => all.map(b => [b.dataset.snippet, b.dataset.section, b.dataset.output,"
        " b.querySelector('pre > code').textContent])"
    )
    for snippet, section, output, text in blocks:
        if snippet and section:
            assert text.rstrip("\n") == load(snippet).sections[section].text.rstrip("\n")
        elif output:
            assert text.rstrip("\n") == printed(output).rstrip("\n")


def test_the_title_of_a_block_leads_to_the_whole_program(site, page, path):
    links = page.locator(".listing-title > a").evaluate_all(
        "all => all.map(a => [a.href, a.textContent])"
    )
    assert bool(links) == (path in lessons())
    for href, name in set(map(tuple, links)):
        file = site.folder / href.removeprefix(site.url)
        assert file.read_bytes() == (SNIPPETS / name).read_bytes()


# Last of what is asked of each page: at another width it is drawn anew.
def wide(page) -> list[str]:
    """Open all that can be opened on the page; return what then makes it, or a table, scroll."""
    found = []
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        page.evaluate(
            """async () => {
              for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
              for (const details of document.querySelectorAll('details')) details.open = true;
            }"""
        )
        found += overflow(page) + (table_faults(page) if width == 390 else [])
    page.evaluate("document.querySelectorAll('header details').forEach(d => d.open = false)")
    return found


def test_no_page_and_no_table_scrolls_sideways_on_a_phone(page):
    assert not wide(page)


@pytest.mark.parametrize("path", NOT_FOUND)
def test_where_no_page_is_nothing_scrolls_sideways_on_a_phone(open_page, path):
    assert not wide(open_page(path))


def test_a_table_that_is_cut_off_is_seen(open_page):
    page = open_page("en/amp/", width=390)
    assert page.locator(".table").count()
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
    assert "div#wide" in wide(open_page("en/bad/", bad=bad))[0]


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
        for path in (path for path in pages() if path.startswith(f"{lang}/")):
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


@pytest.mark.parametrize(
    ("does", "seen"),
    [("navigator.clipboard.writeText('>>> a = 1')", ">>> a = 1"), ("0", None)],
)
@pytest.mark.parametrize("over", ["", "<p style='position:fixed;inset:0'>x"])
def test_a_copy_button_that_adds_something_or_cannot_be_pressed_is_seen(
    open_page, does, seen, over
):
    bad = (
        "<!doctype html><title>x</title><div class=listing><pre><code>a = 1</code></pre>"
        f'<button class=copy onclick="{does}">x</button></div>{over}'
    )
    page = open_page("en/bad/", bad=bad)
    assert copied(page.locator(".listing")) == (None if over else seen)


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


def outline_faults(html: str) -> list[str]:
    """Return headings out of order, ids that stand twice, and names of ids that are not there."""
    levels = [int(level) for level in re.findall(r"<h([1-6])\b", html)]
    faults = [] if levels[:1] == [1] and levels.count(1) == 1 else [f"h1: {levels}"]
    steps = zip(levels, levels[1:], strict=False)
    faults += [f"h{after} after h{before}" for before, after in steps if after > before + 1]
    ids = re.findall(r'\sid="([^"]+)"', html)
    faults += [f"twice: {i}" for i in sorted(set(ids)) if ids.count(i) > 1]
    named = re.findall(r'\s(?:for|aria-(?:labelledby|describedby|controls))="([^"]+)"', html)
    return faults + [f"absent: {i}" for i in " ".join(named).split() if i not in ids]


def test_headings_are_in_order_and_ids_are_single_and_there(site, path):
    assert not outline_faults((site.folder / path / "index.html").read_text("utf-8"))


@pytest.mark.parametrize(
    ("bad", "seen"),
    [
        ("<h2>x</h2><h1>x</h1>", "h1: [2, 1]"),
        ("<h1>x</h1><h1>x</h1>", "h1: [1, 1]"),
        ("<h1>x</h1><h3>x</h3>", "h3 after h1"),
        ('<h1 id="a">x</h1><h2 id="a">x</h2>', "twice: a"),
        ('<h1 id="a">x</h1><p aria-labelledby="a b">x</p>', "absent: b"),
    ],
)
def test_an_outline_that_misleads_is_seen(bad, seen):
    assert outline_faults(bad) == [seen]
