"""The search of each language, on the site and on a small index."""

import pytest

from tests.site.look import search
from tools.languages import languages

# A small index: (address, title, text) in each language.
DOCS = {
    "en": [
        ("a/", "Parallel", "<p>Wrap it in <code>torch.nn.DataParallel</code>.</p>"),
        (
            "a/#scaler",
            "GradScaler",
            "<p>The <code>torch.amp.GradScaler</code> scales gradients.</p>",
        ),
        ("c/", "GradScaler and more", "<p>GradScaler, GradScaler.</p>"),
        ("b/", "Losses", "<p>Several losses &amp; unscale_() twice: the batches were skipped.</p>"),
    ],
    "fr": [
        (
            "a/",
            "Mise à l’échelle",
            "<p>Les échelles et le facteur d’échelle <code>GradScaler</code>.</p>",
        ),
        ("a/#r", "Réseaux", "<p>Un réseau, les gradients normaux, l’entraînement, cœur.</p>"),
    ],
    "de": [
        ("a/", "Übergänge", "<p>Die Gewichte und der Skalierungsfaktor, größer. GradScaler</p>"),
        ("a/#l", "Läufe", "<p>Der Gradient, eine Zahl, ein Schritt und der Fehler.</p>"),
    ],
}
# (language, query, address that must be first)
FINDS = [
    ("en", "DataParallel", "a/"),  # whole, inside a dotted name
    ("en", "dataparallel", "a/"),
    ("en", "parallel", "a/"),
    ("en", "torch.nn.DataParallel", "a/"),
    ("en", "gradscaler", "a/#scaler"),
    ("en", "GRADSCALER", "a/#scaler"),
    ("en", "scaler", "a/#scaler"),
    ("en", "gradsc", "a/#scaler"),  # still being typed
    ("en", "gradients scaling", "a/#scaler"),  # singular, another form of a verb
    ("en", "loss", "b/"),
    ("en", "batch", "b/"),
    ("en", "skipping", "b/"),
    ("en", "unscale_", "b/"),
    ("en", "RuntimeError: unscale_() was skipped several batches twice", "b/"),
    ("fr", "echelle", "a/"),  # without its accent
    ("fr", "échelles", "a/"),
    ("fr", "ECHELLES", "a/"),
    ("fr", "reseau", "a/#r"),
    ("fr", "réseaux", "a/#r"),
    ("fr", "normal", "a/#r"),
    ("fr", "entrainer", "a/#r"),
    ("fr", "coeur", "a/#r"),
    ("fr", "gradscaler", "a/"),
    ("fr", "d'échelle", "a/"),
    ("de", "ubergang", "a/"),
    ("de", "Uebergänge", "a/"),
    ("de", "Gewicht", "a/"),
    ("de", "Gewichten", "a/"),
    ("de", "groesser", "a/"),
    ("de", "grösser", "a/"),
    ("de", "Faktoren", "a/"),  # the tail of a compound, in another form
    ("de", "Skalierung", "a/"),
    ("de", "Zahlen", "a/#l"),
    ("de", "Schritte", "a/#l"),
    ("de", "Fehlern", "a/#l"),
    ("de", "lauf", "a/#l"),
    ("de", "gradscaler", "a/"),
]
ASK = """async ([script, lang, docs, query]) => {
  const worker = new Worker(script);
  const index = URL.createObjectURL(new Blob([JSON.stringify({docs})]));
  worker.postMessage({index, lang});
  worker.postMessage({query});
  const {data} = await new Promise(done => worker.onmessage = done);
  worker.terminate();
  return data;
}"""


@pytest.fixture(scope="module")
def ask(browser, site):
    """A function from (language, query) to the answer of the search for the small index."""
    page = browser.new_page()
    page.goto(site.url + "en/404.html")
    script = site.url + "en/assets/search.js"

    def ask(lang, query):
        docs = [dict(zip(("location", "title", "text"), doc, strict=True)) for doc in DOCS[lang]]
        return page.evaluate(ASK, [script, lang, docs, query])

    yield ask
    page.close()


@pytest.mark.parametrize(("lang", "query", "first"), FINDS)
def test_names_and_words_are_found_however_typed(ask, lang, query, first):
    results = ask(lang, query)["results"]
    assert results and results[0]["location"] == first


@pytest.mark.parametrize("query", ["échelle", "Gewichte", "zebra", "scaler zebra", ".", " "])
def test_what_is_not_there_is_not_found(ask, query):
    assert ask("en", query)["results"] == []


def test_hits_are_marked_and_text_is_text(ask):
    (found,) = ask("en", "unscale")["results"]
    assert found["title"] == [["Losses", False]]
    assert ["unscale", True] in found["text"]
    assert "".join(text for text, _ in found["text"]).startswith("Several losses & unscale_()")
    assert ["GradScaler", True] in ask("en", "scaler")["results"][0]["title"]


def test_an_index_that_is_missing_is_said(open_page):
    page = open_page("en/bad/", bad="<!doctype html><title>x</title>")
    script = page.url.replace("bad/", "assets/search.js")
    said = page.evaluate(
        """script => new Promise(done => {
          const worker = new Worker(script);
          worker.onmessage = ({data}) => done(data);
          worker.postMessage({index: script + ".absent", lang: "en"});
        })""",
        script,
    )
    assert "404" in said["error"]


@pytest.mark.parametrize(
    ("lang", "queries"),
    [
        ("en", ["DataParallel", "gradscaler", "GradScaler", "torch.amp.GradScaler", "gradients"]),
        ("fr", ["gradscaler", "GradScaler", "echelle", "échelles", "gradients", "pertes"]),
        ("de", ["gradscaler", "GradScaler", "Gewicht", "Gewichten", "Schritte", "grosse"]),
    ],
)
def test_the_site_finds_them_and_nothing_of_another_language(open_page, lang, queries):
    page = open_page(f"{lang}/amp/")
    for query in queries:
        found = search(page, query)
        assert found, query
        for address, _ in found:
            assert "://" not in address, address  # below this language, or it would be whole
    others = {"en": "échelle", "fr": "Gewichte", "de": "échelle"}
    assert search(page, others[lang]) == []


@pytest.mark.parametrize("lang", languages())
def test_the_search_is_used_by_keyboard(open_page, site, lang):
    page = open_page(f"{lang}/")
    page.keyboard.press("/")
    page.keyboard.type("gradscaler")
    first = page.locator("#found a").first
    first.wait_for()
    page.keyboard.press("ArrowDown")
    assert first.evaluate("a => a === document.activeElement")
    page.keyboard.press("ArrowUp")
    target = first.evaluate("a => a.href")
    page.keyboard.press("Enter")
    page.wait_for_url(target)
    page.keyboard.press("Control+k")
    assert page.locator("dialog.search").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog.search").is_visible()


def test_no_search_file_is_loaded_before_it_is_used(open_page):
    page = open_page("en/amp/")
    loaded = page.evaluate("performance.getEntriesByType('resource').map(r => r.name)")
    assert loaded and not [name for name in loaded if "search" in name]
