"""What the tests ask of a page: each question a function that returns the faults it finds.

So the same question can be put to a page of the site, where it must find nothing, and to a small
planted page, where it must find the fault.
"""

import json
import re
import struct
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Error

from tools.languages import ROOT, languages

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
LOOK = Path(__file__).with_name("accessibility.js")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
NOTHING = {"looks": {}, "grounds": {}, "forms": {}}  # is known of any page


@dataclass(frozen=True)
class Site:
    """The folder of a built site and the address where a test serves it."""

    folder: Path
    url: str

    @property
    def root(self) -> str:
        """The address that the site was built for, which its canonical links say."""
        html = (self.folder / "en" / "index.html").read_text("utf-8")
        return Head(html).first("link", rel="canonical")["href"].removesuffix("en/")

    def file(self, address: str) -> Path:
        """Return the file that `address`, which starts with the site's root, is served from."""
        path = self.folder / address.removeprefix(self.root)
        return path / "index.html" if address.endswith("/") else path


def source(path: str) -> Path:
    """Return the Markdown of the page that stands at a path: `en/amp/`."""
    lang, _, name = path.rstrip("/").partition("/")
    return ROOT / "docs" / lang / f"{name or 'index'}.md"


@cache
def pages() -> list[str]:
    """Return the path of each page in each language: `en/`, `en/amp/`, ..."""
    found = []
    for lang in languages():
        for source in sorted((ROOT / "docs" / lang).rglob("*.md")):
            name = source.relative_to(ROOT / "docs" / lang).with_suffix("").as_posix()
            found.append(
                f"{lang}/" if name == "index" else f"{lang}/{name.removesuffix('/index')}/"
            )
    return found


@cache
def lessons() -> list[str]:
    """Return the paths of the pages that show programs."""
    return [path for path in pages() if "```python" in source(path).read_text("utf-8")]


def watch(page, home: str) -> list[str]:
    """Return a list that fills with what goes wrong while `page` is used.

    That is: errors and warnings in the console, exceptions, requests that fail, and any request
    to an address that doesn't begin with `home`.
    """
    faults = []

    def request(sent):
        if not sent.url.startswith((home, "data:", "blob:", "file:")):
            faults.append(f"{page.url} asks another host: {sent.url}")

    def response(got):
        if got.status >= 400:
            faults.append(f"{page.url}: {got.status} for {got.url}")

    def console(message):
        if message.type in ("error", "warning"):
            faults.append(f"{page.url}: console {message.type}: {message.text}")

    page.on("request", request)
    page.on("response", response)
    page.on("console", console)
    page.on("pageerror", lambda error: faults.append(f"{page.url}: exception: {error}"))
    return faults


def accessibility(page, *widths: int, known: dict | None = None) -> list[str]:
    """Unfold the page; return what axe-core finds there, light and dark: what, and which element.

    It is asked everything at each of the `widths` (by default, that of the page), in dark only of
    contrast. A lesson holds thousands of elements that are alike, and axe takes long for each. So
    contrast is asked of one element of each look, and of the blocks of one form all but the first
    are left out (accessibility.js). `known` holds the looks and forms of the pages before, looked
    at in the same widths, and takes those of this page if nothing is found there. At the end the
    page has everything again.
    """
    height = page.viewport_size["height"]
    widths = widths or (page.viewport_size["width"],)
    chosen, faults = {}, []

    def at(width: int, scheme: str) -> None:
        page.emulate_media(color_scheme=scheme)
        if page.viewport_size["width"] != width:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("look.unfold()")

    def ask(rules: list[str], setting: int) -> None:
        for name, what, nodes in page.evaluate(f"rules => look.ask(rules, {setting})", rules):
            for where, why in nodes:
                where = re.sub(r'\[data-look="[^"]*"\]', "", where)  # ours
                faults.append(f"{page.url}: {name}: {where}: {why or what}")

    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE.read_text("utf-8") + ";undefined")
    page.evaluate(LOOK.read_text("utf-8") + "look.unfold()")
    page.evaluate("text => {look.known = JSON.parse(text)}", json.dumps(known or NOTHING))
    settings = [(width, scheme) for width in widths for scheme in ("light", "dark")]
    for setting, (width, scheme) in enumerate(settings):
        at(width, scheme)
        chosen[setting] = page.evaluate(f"look.choose({setting})")
        if scheme == "light":
            page.evaluate(f"look.measure({width})")
    try:
        page.evaluate("look.thin()")
        # From the last width back to the first: to draw a page anew takes long.
        for setting, (width, scheme) in reversed(list(enumerate(settings))):
            if scheme == "light" or chosen[setting]:
                at(width, scheme)
                ask(RULES if scheme == "light" else ["color-contrast"], setting)
    finally:
        now = page.evaluate("look.restore()")
    if known is not None and not faults:
        known.update(json.loads(now))
    return faults


def overflow(page) -> list[str]:
    """Return the elements that make the page scroll sideways."""
    return page.evaluate(
        """() => {
          const root = document.documentElement, width = root.clientWidth;
          if (root.scrollWidth <= width) return [];
          const wide = [...document.body.querySelectorAll("*")].filter(e =>
            e.getBoundingClientRect().right > width + 1);
          const name = e => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + "."
            + [...e.classList].join(".");
          return wide.map(e => `${name(e)} ends at ${e.getBoundingClientRect().right} of ${width}`);
        }"""
    )


class Head(HTMLParser):
    """The elements of a page's head (and its images), as (tag, attributes)."""

    def __init__(self, html: str):
        super().__init__()
        self.elements = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Keep the element."""
        self.elements.append((tag, dict(attrs)))

    def first(self, tag: str, **wanted) -> dict:
        """Return the attributes of the first `tag` with the attributes `wanted`, or {}."""
        return next(iter(self.every(tag, **wanted)), {})

    def every(self, tag: str, **wanted) -> list[dict]:
        """Return the attributes of each `tag` that has the attributes `wanted`."""
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and wanted.items() <= attributes.items()
        ]


def png_size(data: bytes) -> tuple[int, int]:
    """Return width and height of a PNG; raises ValueError for anything else."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("not a PNG")
    return struct.unpack(">II", data[16:24])


def head_faults(html: str, path: str, site: Site) -> list[str]:
    """Return what the head of the page at `path` lacks for search engines and shared links."""
    head, faults = Head(html), []
    lang, _, rest = path.partition("/")
    address = site.root + path

    def expect(what: str, right: bool) -> None:
        if not right:
            faults.append(f"{path}: {what}")

    description = head.first("meta", name="description").get("content", "")
    expect(
        f"description of 50 to 200 letters, not {len(description)}", 50 <= len(description) <= 200
    )
    expect(f"<html lang={lang}>", head.first("html").get("lang") == lang)
    canonical = [link.get("href") for link in head.every("link", rel="canonical")]
    expect(f"one canonical link, to {address}: {canonical}", canonical == [address])
    others = {
        link["hreflang"]: link["href"]
        for link in head.every("link", rel="alternate")
        if "hreflang" in link
    }
    wanted = {code: f"{site.root}{code}/{rest}" for code in languages()}
    wanted["x-default"] = wanted["en"]
    expect(f"hreflang links {wanted}: {others}", others == wanted)
    for link in others.values():
        expect(f"hreflang {link} leads to no page", site.file(link).is_file())
    markdown = head.first("link", rel="alternate", type="text/markdown").get("href", "none")
    expect(f"its Markdown, {markdown}", (site.folder / path / markdown).is_file())
    for name in ("og:title", "og:description", "og:url", "og:image", "og:image:alt"):
        expect(name, bool(head.first("meta", property=name).get("content")))
    for name in ("twitter:card", "twitter:title", "twitter:image"):
        expect(name, bool(head.first("meta", name=name).get("content")))
    image = head.first("meta", property="og:image").get("content", "")
    expect(f"og:image of this site: {image}", image.startswith(site.root))
    try:
        size = png_size(site.file(image).read_bytes())
        expect(f"og:image of 1200 × 630, not {size}", size == (1200, 630))
    except (OSError, ValueError) as error:
        faults.append(f"{path}: og:image: {error}")
    return faults


def copied(block) -> str | None:
    """Press the copy button of a block of code; return what the clipboard then holds.

    Where something lies over the button, or it does nothing, that is None.
    """
    return block.evaluate(
        """async block => {
          const { clipboard } = navigator;
          await clipboard.writeText("");
          const button = (block.closest(".listing") ?? block).querySelector("button.copy");
          button.scrollIntoView({ block: "center", behavior: "instant" });
          const { x, y, width, height } = button.getBoundingClientRect();
          const hit = document.elementFromPoint(x + width / 2, y + height / 2);
          if (button.contains(hit)) button.click();
          for (let i = 0; i < 100 && !await clipboard.readText(); i++)
            await new Promise(done => setTimeout(done, 10));
          return await clipboard.readText() || null;
        }"""
    )


def search(page, query: str) -> list[tuple[str, str]]:
    """Return what the search finds: (address below the language, words), best first."""
    if not page.locator("dialog.search").evaluate("dialog => dialog.open"):
        page.locator("[data-open-search]").click()
    box = page.locator("dialog.search input")
    state = page.locator(".search__state")
    box.fill("")
    page.wait_for_function("!document.querySelector('.search__state').textContent")
    box.fill(query)
    page.wait_for_function("document.querySelector('.search__state').textContent")
    assert state.text_content()
    base = page.locator("script[data-base]").get_attribute("data-base")
    base = page.evaluate("base => new URL(base + '/', location.href).href", base)
    links = page.locator("#found a").evaluate_all("all => all.map(a => [a.href, a.innerText])")
    return [(re.sub(f"^{re.escape(base)}", "", href), text) for href, text in links]


def quiz_faults(page) -> list[str]:
    """Return what keeps a reader from answering the first quiz by keyboard alone."""
    if not page.locator(".quiz input").count():
        return [f"{page.url}: a quiz without a control that takes the keyboard"]
    faults, quiz = [], page.locator(".quiz").first
    answers, why = quiz.locator("input"), quiz.locator(".quiz-why > div:visible")
    right = quiz.locator(".quiz-choice--right input").first
    if why.count():
        faults.append(f"{page.url}: an explanation shows before an answer")
    answers.first.focus()
    page.keyboard.press("Space")
    for _ in range(answers.count()):
        if right.is_checked():
            break
        page.keyboard.press("ArrowDown")
    if not right.is_checked():
        faults.append(f"{page.url}: the right answer cannot be chosen by keyboard")
    if why.count() != 1 or not why.first.inner_text().strip():
        faults.append(f"{page.url}: {why.count()} explanations show after an answer, not 1")
    if not quiz.locator(".quiz-choice--right [role=status]").count():
        faults.append(f"{page.url}: a screen reader is not told the explanation")
    return faults


def language_faults(page, lang: str) -> list[str]:
    """Follow the language menu to `lang`; return what is lost of the page and of the place."""
    before = page.url
    own = page.evaluate("document.documentElement.lang")
    page.locator("[data-language-menu] summary").click()
    page.locator(f"[data-language-menu] a[hreflang={lang}]").click()
    page.wait_for_function(
        "was => location.href !== was && document.readyState !== 'loading'", arg=before
    )
    wanted = before.replace(f"/{own}/", f"/{lang}/", 1)
    if page.url != wanted:
        return [f"{before}: its link to {lang} leads to {page.url}, not {wanted}"]
    place = page.url.partition("#")[2]
    try:
        page.wait_for_function(
            "id => Math.abs(document.getElementById(id).getBoundingClientRect().top) < 300",
            arg=place,
            timeout=5000,
        )
    except Error:
        return [f"{page.url}: #{place} is not in view"]
    return []


def table_faults(page) -> list[str]:
    """Return the tables of a page on a phone that are cut off or don't name their columns."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.table:not(.verification *)')].flatMap((box, i) => {
            const faults = box.scrollWidth > box.clientWidth ? [`table ${i + 1} is cut off`] : [];
            const heads = [...box.querySelectorAll('th')].map(th => JSON.stringify(th.textContent));
            for (const row of box.querySelectorAll('tbody tr'))
                [...row.cells].forEach((cell, n) => {
                    if (n && getComputedStyle(cell, '::before').content !== heads[n])
                        faults.push(`table ${i + 1}: ${cell.textContent} does not say ${heads[n]}`);
                });
            return faults;
        })"""
    )


def reading_faults(page) -> list[str]:
    """Return what a page opened without JavaScript keeps from its reader."""
    faults = []
    if page.locator("main").inner_text().count("\n") < 20:
        faults.append(f"{page.url}: the text is not there")
    for what in (".outline a", ".listing pre", "[data-language-menu] summary"):
        if not page.locator(what).first.is_visible():
            faults.append(f"{page.url}: {what} is not to be seen")
    if page.locator(".needs-js:visible").count():
        faults.append(f"{page.url}: shows what does nothing without JavaScript")
    return faults
