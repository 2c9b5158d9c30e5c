"""The badge beside each block, and the page that says how all was checked."""

import pytest

from tests.site.look import lessons
from tools.languages import languages, words

# In the page as it comes, before any script.
BADGES = """html => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const has = block => block?.matches('.listing') &&
    (block.querySelector('details.listing-record > summary') ||
     block.matches('.output') && has(block.previousElementSibling));
  return {
    without: [...page.querySelectorAll('.listing')].filter(block => !has(block))
      .map(block => block.textContent),
    records: [...page.querySelectorAll('.listing-record')].map(record =>
      [record.open, record.querySelector('summary')?.textContent ?? "", record.textContent]),
  };
}"""


def badge_faults(tab, html: str) -> list[str]:
    """Blocks without a badge of their own or of the program above, and badges that say nothing."""
    found = tab.evaluate(BADGES, html)
    faults = [f"no badge: {text[:60]}" for text in found["without"]]
    if not found["records"]:
        faults.append("no badges")
    for opened, said, text in found["records"]:
        said = said.strip(" ✓○▾")
        if len(said) < 6:
            faults.append(f"no words: {said!r}")
        if opened:
            faults.append("details are shown before anyone asks")
        if "commit" not in text.lower() and "CUDA" not in text:
            faults.append(f"the details tell nothing of a device: {text}")
    return faults


@pytest.mark.parametrize("path", lessons())
def test_each_block_has_a_badge(tab, site, path):
    assert badge_faults(tab, (site.folder / path / "index.html").read_text("utf-8")) == []


@pytest.mark.parametrize(
    "block, seen",
    [
        ("<p>x = 1</p>", "no badge: x = 1"),
        ("<details class=listing-record><summary>✓</summary><p>CUDA</p></details>", "no words: ''"),
        ("<details class=listing-record open><summary>Verified</summary><p>x</p>", "before anyone"),
        ("<div class=listing-record><b><summary>Verified</summary></b></div>", "no badge: Verif"),
        ("<details class=listing-record><b><summary>Verified</summary></b>", "no badge: Verif"),
        ("<details class=listing-record><summary>Verified</summary><p>x</p>", "of a device: Ver"),
        ("<details><summary>Verified</summary><p>CUDA</p></details>", "no badges"),
    ],
)
def test_a_badge_that_says_nothing_is_seen(tab, block, seen):
    faults = badge_faults(tab, f"<div class=listing>{block}</div>")
    assert any(seen in fault for fault in faults), faults


@pytest.mark.parametrize("lang", languages())
def test_a_badge_leads_to_the_row_of_its_program_without_javascript(open_page, lang):
    page = open_page(f"{lang}/amp/", javascript=False)
    program = page.locator(".listing-title > a").first.inner_text()
    record = page.locator(".listing-record").first
    assert not record.locator("p").is_visible()
    record.locator("summary").focus()
    page.keyboard.press("Enter")
    assert record.locator("p").is_visible()
    record.locator("a").click()
    row = page.locator("tr:target")
    assert page.locator("h1").inner_text().startswith(words(lang)["record_how"])
    assert row.locator("th").inner_text() == program
    assert row.bounding_box()["y"] > 0


def test_the_page_is_linked_from_the_foot_of_every_page(open_page):
    page = open_page("fr/amp/")
    page.locator("footer a", has_text=words("fr")["record_how"]).click()
    assert page.url.endswith("/fr/checked/")
    assert page.locator(".verification tbody tr").count() > 30
