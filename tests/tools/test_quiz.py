"""The quiz block: what tools/markdown/quiz.py makes of it, and what it refuses."""

import xml.etree.ElementTree as etree

import markdown
import pytest

from tools.markdown import PageFault

ONE = """\
/// quiz | Which *dtype* has `weight`?
- [ ] The dtype of the region
  > Autocast makes copies.
- [x] `float32`
  > The weights stay,
  > whatever the **region** says.
///
"""
SEVERAL = """\
/// quiz | Which of these?

Look at the loop first.

- [X] forward

    > Inside.

- [x] loss

    > Inside too.

- [ ] backward

    > Outside.
///
"""


def render(text: str, lang: str = "en") -> etree.Element:
    html = markdown.markdown(
        text,
        extensions=["tools.markdown.quiz"],
        extension_configs={"tools.markdown.quiz": {"lang": lang}},
    )
    return etree.fromstring(f"<html>{html}</html>")


def text(element: etree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def test_one_right_choice_makes_radio_buttons_of_one_name(tmp_path):
    inputs = list(render(ONE).iter("input"))
    assert [i.get("type") for i in inputs] == ["radio", "radio"]
    assert {i.get("name") for i in inputs} == {"quiz-1"}


def test_several_right_choices_make_check_boxes():
    page = render(SEVERAL)
    assert [i.get("type") for i in page.iter("input")] == ["checkbox"] * 3
    assert text(page.find(".//p[@class='quiz-hint']")) == "Choose every right answer."
    assert "Look at the loop first." in text(page.find(".//fieldset"))


def test_the_question_and_each_choice_have_their_names_for_a_screen_reader():
    page = render(ONE)
    assert text(page.find(".//fieldset/legend")) == "Which dtype has weight?"
    labels = {label.get("for"): text(label) for label in page.iter("label")}
    assert labels == {"quiz-1-1": "The dtype of the region", "quiz-1-2": "float32"}
    assert [i.get("id") for i in page.iter("input")] == list(labels)


def test_each_explanation_stands_in_a_live_region_beside_its_choice():
    choices = render(ONE).findall(".//fieldset/div")
    assert [c.get("class").split("--")[1] for c in choices] == ["wrong", "right"]
    said = [text(c.find("./div[@role='status']")) for c in choices]
    assert said == [
        "Not quite. Autocast makes copies.",
        "Right. The weights stay, whatever the region says.",
    ]


def test_the_words_are_those_of_the_language():
    assert "Pas tout à fait." in text(render(ONE, "fr"))
    assert "Wählen Sie eine Antwort." in text(render(ONE, "de"))


def test_quizzes_of_a_page_are_numbered():
    page = render(f"{ONE}\n{SEVERAL}")
    assert [d.get("id") for d in page.findall(".//div[@class='quiz']")] == ["quiz-1", "quiz-2"]
    assert {i.get("name") for i in page.iter("input")} == {"quiz-1", "quiz-2"}


@pytest.mark.parametrize(
    "body, says",
    [
        ("No list.", "no list of choices"),
        ("- [ ] a\n  > x\n- [ ] b\n  > y", "one marked \\[x\\]"),
        ("- [x] a\n  > x", "two choices or more"),
        ("- [x] a\n  > x\n- b\n  > y", "'b' starts with neither"),
        ("- [x] a\n  > x\n- [ ] b", "choice 'b' has no explanation"),
        ("- [x] a\n  > x\n- [ ] b\n  > y\n\nMore of the page.", "missing"),
        ("- [x] a\n\n    > x\n\n- [ ] b\n\n    > y\n\n    1. z", "holds more than words"),
    ],
)
def test_a_quiz_that_cannot_be_answered_is_a_fault_that_names_its_question(body, says):
    with pytest.raises(PageFault, match=f"quiz 'Why\\?': .*{says}") as caught:
        render(f"/// quiz | Why?\n{body}\n///\n")
    assert caught.value.near == "Why?"
