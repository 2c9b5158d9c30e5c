"""In a browser: the badge beside each block, and the page that says how all was checked."""

import pytest

from tools.languages import languages, words


def badge_faults(page) -> list[str]:
    """Blocks without a badge of their own or of the program above, and badges that do not open."""
    faults = page.locator(".listing").evaluate_all(
        """all => {
          const has = block => block?.matches('.listing') &&
            (block.querySelector('.listing-record summary') ||
             block.matches('.output') && has(block.previousElementSibling));
          return all.filter(block => !has(block))
            .map(block => 'no badge: ' + block.textContent.slice(0, 60));
        }"""
    )
    summaries = page.locator(".listing-record summary")
    said = [text.strip(" ✓○▾") for text in summaries.all_text_contents()]
    faults += [f"no words: {text!r}" for text in said if len(text) < 6]
    if not summaries.count():
        return [*faults, "no badges"]
    record = page.locator(".listing-record:visible").first  # some are in a note that is closed
    more = record.locator("p").first
    if more.is_visible():
        faults.append("details are shown before anyone asks")
    record.locator("summary").focus()
    page.keyboard.press("Enter")
    if not more.is_visible():
        faults.append("Enter does not open the details")
    elif "commit" not in more.inner_text().lower() and "CUDA" not in more.inner_text():
        faults.append("the details tell nothing of a device")
    return faults


def test_each_block_has_a_badge_that_opens_without_javascript(lesson_without_scripts):
    assert badge_faults(lesson_without_scripts) == []


@pytest.mark.parametrize(
    "block, seen",
    [
        ("<p>x = 1</p>", "no badge: x = 1"),
        ("<details class=listing-record><summary>✓</summary><p>CUDA</p></details>", "no words: ''"),
        ("<details class=listing-record open><summary>Verified</summary><p>x</p>", "before anyone"),
        (
            "<div class=listing-record><b><summary>Verified</summary></b></div>",
            "no badges|not open",
        ),
        (
            "<details class=listing-record><summary>Verified</summary><p>x</p>",
            "nothing of a device",
        ),
    ],
)
def test_a_badge_that_says_nothing_is_seen(open_page, block, seen):
    bad = f"<!doctype html><meta charset=utf-8><title>x</title><div class=listing>{block}</div>"
    page = open_page("en/bad/", bad=bad)
    page.set_default_timeout(1000)
    try:
        faults = "\n".join(badge_faults(page))
    except Exception as error:  # nothing that could be opened
        faults = f"not open: {error}"
    assert any(part in faults for part in seen.split("|")), faults


@pytest.mark.parametrize("lang", languages())
def test_a_badge_leads_to_the_row_of_its_program(open_page, lang):
    page = open_page(f"{lang}/amp/")
    program = page.locator(".listing-title > a").first.inner_text()
    page.locator(".listing-record summary").first.click()
    page.locator(".listing-record a").first.click()
    row = page.locator("tr:target")
    assert page.locator("h1").inner_text().startswith(words(lang)["record_how"])
    assert row.locator("th").inner_text() == program
    assert row.bounding_box()["y"] > 0


def test_the_page_is_linked_from_the_foot_of_every_page(open_page):
    page = open_page("fr/amp/")
    page.locator("footer a", has_text=words("fr")["record_how"]).click()
    assert page.url.endswith("/fr/checked/")
    assert page.locator(".verification tbody tr").count() > 30
