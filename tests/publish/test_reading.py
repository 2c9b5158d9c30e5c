"""The published branch in a browser, below /scale/ as project pages are; and the offline copies."""

import re
import threading
import zipfile
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from tests.publish.conftest import LANGS
from tests.site.conftest import SITE_ROOT
from tests.site.look import accessibility, overflow, search, watch
from tools import preview
from tools.languages import words
from tools.offline import name

PAGES = {
    "2.11": ("", "amp/"),
    "2.12": ("", "amp/", "ddp/"),
    "2.13": ("", "amp/", "ddp/"),
    "latest": ("", "amp/", "ddp/"),
    "dev": ("", "amp/", "ddp/", "new/"),
}
VERSIONS = [version for version in PAGES if version != "latest"]


def go(page, menu: str, link: str) -> None:
    """Follow a link of the language or the version menu."""
    page.locator(f"[data-{menu}-menu] summary").click()
    with page.expect_navigation():
        page.locator(f"[data-{menu}-menu] a").filter(has_text=re.compile(link)).click()


def listed(page) -> None:
    """Wait until the version menu has been filled."""
    page.wait_for_function("document.querySelectorAll('[data-version-menu] li').length > 2")


@pytest.fixture
def visit(browser, site):
    """A function that opens a path of the site, for pages that are not there; watches nothing."""
    contexts = []

    def visit(path, javascript=True, languages="en"):
        context = browser.new_context(java_script_enabled=javascript, locale=languages)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.goto(site.url + path)
        return page

    yield visit
    for context in contexts:
        context.close()


@pytest.mark.parametrize("version", PAGES)
def test_switching_language_keeps_version_page_and_anchor(open_page, site, version):
    page = open_page(f"en/{version}/amp/#loop")
    for lang in ("fr", "de", "en"):
        go(page, "language", words(lang)["language"])
        assert page.url == f"{site.url}{lang}/{version}/amp/#loop"
        assert page.locator("html").get_attribute("lang") == lang
    for path in PAGES[version]:
        page.goto(f"{site.url}de/{version}/{path}")
        go(page, "language", "Français")
        assert page.url.partition("#")[0] == f"{site.url}fr/{version}/{path}"


@pytest.mark.parametrize("lang", LANGS)
def test_switching_version_keeps_language_and_page_and_says_kindly_where_that_is_not_there(
    open_page, site, lang
):
    said = words(lang)
    page = open_page(f"{lang}/latest/ddp/#loop")
    for version in [*VERSIONS, "2.13"]:
        page.goto(f"{site.url}{lang}/latest/ddp/#loop")
        listed(page)
        go(page, "version", f"^{version}")
        note = page.locator("[data-page-absent]")
        if version == "2.11":
            assert page.url == f"{site.url}{lang}/2.11/"
            wanted = said["version_page_absent"].replace("{version}", "2.11")
            assert note.text_content() == wanted.replace("{title}", "DDP")
            assert note.is_visible()
            page.reload()
        else:
            assert page.url == f"{site.url}{lang}/{version}/ddp/#loop"
        assert note.is_hidden()
    # The menu tells before the click.
    listed(page)
    items = page.locator("[data-version-menu] li").all_text_contents()
    assert items[:4] == [
        "dev",
        f"2.13 {said['version_is_newest']}",
        "2.12",
        f"2.11 {said['version_without_page']}",
    ]
    assert page.locator("[data-version-menu] a[aria-current]").text_content().startswith("2.13")


@pytest.mark.parametrize("version", PAGES)
def test_only_a_version_that_is_not_the_newest_says_so_and_leads_to_it(open_page, site, version):
    page = open_page(f"fr/{version}/amp/#loop")
    listed(page)
    notices = page.locator(".notice:visible")
    if version in ("2.13", "latest"):
        assert notices.count() == 0
        return
    key = "version_unreleased" if version == "dev" else "version_old"
    assert words("fr")[key].replace("{version}", version) in notices.text_content()
    with page.expect_navigation():
        notices.locator("a").click()
    assert page.url == f"{site.url}fr/latest/amp/#loop"


def test_a_page_that_the_newest_version_lacks_leads_to_its_home_page(open_page, site):
    page = open_page("de/dev/new/")
    listed(page)
    with page.expect_navigation():
        page.locator(".notice:visible a").click()
    assert page.url == f"{site.url}de/latest/"
    assert "„NEW“" in page.locator("[data-page-absent]").text_content()


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("version", ["2.11", "latest"])
def test_search_stays_in_language_and_version(open_page, site, lang, version):
    page = open_page(f"{lang}/{version}/amp/")
    found = search(page, "loop")
    assert found
    with page.expect_navigation():
        page.locator("#found a").first.click()
    assert page.url.startswith(f"{site.url}{lang}/{version}/")
    # a page that only newer versions have
    found = [address for address, _ in search(page, "DDP")]
    assert bool(found) == (version == "latest")


@pytest.mark.parametrize("width", [390, 1280])
def test_what_versions_add_to_a_page_fits_and_is_accessible(open_page, width):
    page = open_page("de/2.11/amp/", width=width)
    listed(page)
    assert overflow(page) == []
    page.locator("[data-version-menu] summary").click()
    assert page.locator("[data-version-menu] ul").is_visible()
    box = page.locator("[data-version-menu] ul").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert overflow(page) == []
    assert accessibility(page) == []


def test_without_javascript_language_and_version_can_still_be_switched(open_page, site):
    page = open_page("fr/2.12/ddp/", javascript=False)
    go(page, "language", "Deutsch")
    assert page.url == f"{site.url}de/2.12/ddp/"
    go(page, "version", words("de")["all_versions"])
    assert page.url == f"{site.url}de/versions.html"
    with page.expect_navigation():
        page.get_by_role("link", name="2.11").click()
    assert page.url == f"{site.url}de/2.11/"
    page.goto(f"{site.url}de/dev/amp/")
    assert words("de")["version_unreleased"] in page.locator(".notice:visible").text_content()


def test_the_root_sends_a_reader_to_their_language_and_remembers_their_choice(visit, site):
    page = visit("", languages="de-AT")
    page.wait_for_url(f"{site.url}de/latest/")
    go(page, "language", "Français")
    assert page.url == f"{site.url}fr/latest/"
    page.goto(site.url)
    page.wait_for_url(f"{site.url}fr/latest/")
    page = visit("", languages="ja")
    page.wait_for_url(f"{site.url}en/latest/")
    page = visit("fr/")
    page.wait_for_url(f"{site.url}fr/latest/")


def test_the_root_works_without_javascript(visit, site):
    page = visit("", javascript=False, languages="de")
    assert page.url == site.url
    with page.expect_navigation():
        page.get_by_role("link", name="Français").click()
    assert page.url == f"{site.url}fr/latest/"
    page = visit("de/", javascript=False)
    page.wait_for_url(f"{site.url}de/latest/")


@pytest.mark.parametrize("lang", LANGS)
def test_the_one_404_page_speaks_the_language_of_the_path_and_its_links_work(visit, site, lang):
    page = visit(f"{lang}/2.11/ddp/")
    assert page.locator("h1:visible").all_text_contents() == [words(lang)["not_found_title"]]
    assert page.locator("html").get_attribute("lang") == lang
    assert page.title().startswith(words(lang)["not_found_title"])
    links = page.locator("a:visible").evaluate_all("all => all.map(a => a.href)")
    root = urljoin(site.url, urlsplit(SITE_ROOT).path)
    assert links == [f"{root}{lang}/latest/ddp/", f"{root}{lang}/2.11/"]
    for link in links:
        assert page.goto(link).status == 200
    for path, home in (("absent/", "latest/"), ("2.12/absent/x.html", "2.12/")):
        assert page.goto(f"{site.url}{lang}/{path}").status == 404
        shown = page.locator("a:visible").evaluate_all("all => all.map(a => a.href)")
        assert shown == [f"{root}{lang}/{home}"]


def test_the_404_page_shows_every_language_without_javascript_or_without_one_in_the_path(visit):
    for page in (visit("fr/absent/", javascript=False), visit("absent/")):
        assert page.locator("h1:visible").count() == len(LANGS)
        for link in page.locator("a:visible").evaluate_all("all => all.map(a => a.href)"):
            assert page.goto(link).status == 200
            page.go_back()


# The offline copies


@pytest.fixture(scope="module", params=LANGS)
def copy(request, published, folder, tmp_path_factory) -> Path:
    """An unpacked copy of 2.13."""
    lang = request.param
    archive = folder / lang / "2.13" / name(lang, "2.13")
    target = tmp_path_factory.mktemp(f"offline copy {lang}")
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(target)
    (only,) = target.iterdir()
    return only


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("version", PAGES)
def test_every_page_links_to_its_offline_copy(folder, lang, version):
    real = "2.13" if version == "latest" else version
    for path in PAGES[version]:
        file = folder / lang / version / path / "index.html"
        link = re.search(r'href="([^"]*)" data-offline-copy', file.read_text("utf-8"))[1]
        copy = (file.parent / link).resolve()
        assert copy.name == name(lang, real)
        with zipfile.ZipFile(copy) as packed:
            assert packed.testzip() is None


def test_every_link_of_a_copy_names_a_file_in_it_or_leads_to_the_published_site(copy):
    pages = list(copy.rglob("*.html"))
    assert len(pages) == 5  # the home page, two lessons and their notebooks
    for file in pages:
        for link in re.findall(r'\s(?:href|src)="([^"#]+)', file.read_text("utf-8")):
            if ":" in link:
                assert not link.startswith("http") or urlsplit(link).netloc, link
            else:
                assert (file.parent / link).is_file(), f"{file}: {link}"
    text = (copy / "amp" / "index.html").read_text("utf-8")
    other = "fr" if copy.name.endswith("-en") else "en"
    assert f'href="{SITE_ROOT}{other}/2.13/amp/"' in text


@pytest.fixture(params=["from the file system", "from a server"])
def home(request, copy):
    """Where the copy is opened."""
    if request.param == "from the file system":
        yield f"{copy.as_uri()}/"
        return
    with preview.server(copy, "http://any.example/") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.address
        server.shutdown()


def test_a_copy_opens_and_its_pages_search_and_links_work(browser, copy, home):
    page = browser.new_page()
    page.set_default_timeout(10_000)
    faults = watch(page, home)
    page.goto(f"{home}index.html")
    page.locator(".lessons-menu summary").click()
    page.locator(".lessons-menu a").first.click()
    page.wait_for_url(f"{home}**/index.html")
    assert page.locator(".listing pre").first.is_visible()
    fonts = "document.fonts.load('1em \"Source Serif 4\"').then(faces => faces.length)"
    assert page.evaluate(fonts) == 1
    assert search(page, "loop")
    page.locator("#found a").first.click()
    page.wait_for_url(f"{home}**index.html#*")
    page.goto(f"{home}amp/index.html")
    page.locator("article p:not(.eyebrow) a[href*='index.html']").first.click()
    page.wait_for_url(f"{home}index.html**")
    page.locator("[data-language-menu] summary").click()
    links = page.locator("[data-language-menu] a").evaluate_all("all => all.map(a => a.href)")
    own = copy.name.rpartition("-")[2]
    assert [link.partition("#")[0] for link in links] == [
        f"{home}index.html" if lang == own else f"{SITE_ROOT}{lang}/2.13/"
        for lang in ("en", "de", "fr")
    ]
    page.close()
    assert faults == []


def test_the_same_commit_gives_the_same_copy(published):
    for lang in LANGS:
        both = [
            published.git(
                "rev-parse", f"gh-pages:{lang}/{v}/{name(lang, '2.13')}", at=published.remote
            )
            for v in ("2.13", "latest")
        ]
        assert both[0] == both[1]
