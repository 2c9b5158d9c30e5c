"""A page is read as its reader sees it: numbers of each language, fences of each spelling."""

import pytest

from tools import pages


def values(text, lang):
    return [number.value for number in pages.numbers(text, lang)]


@pytest.mark.parametrize(
    ("english", "french", "german"),
    [
        ("65,504", "65\u202f504", "65.504"),
        ("65,504", "65\u00a0504", "65.504"),
        ("1.5 times", "1,5 fois", "1,5-mal"),
        ("83.8%", "83,8\u00a0%", "83,8\u00a0%"),
        ("6.1e-5", "6,1 × 10⁻⁵", "6,1·10⁻⁵"),
        ("−1e9", "-1e9", "−1e9"),
        ("2²⁴ values", "2²⁴ valeurs", "2²⁴ Werte"),
        ("48.2 MiB", "48,2\u00a0Mio", "48,2 MiB"),
        ("868 MB", "868\u00a0Mo", "868 MB"),
        ("12.5 GB/s", "12,5\u00a0Go/s", "12,5 GB/s"),
        ("PCIe 4.0", "PCIe 4.0", "PCIe 4.0"),
        ("GPU 0 goes", "GPU 0 va", "GPU 0 kommt"),
        (
            "PyTorch 2.13.0 and Python 3.11",
            "PyTorch 2.13.0 et Python 3.11",
            "PyTorch 2.13.0 3.11.0",
        ),
        ("1,234,567.5", "1\u202f234\u202f567,5", "1.234.567,5"),
        ("0.50", "0,5", "0,5"),
        ("16-bit", "16 bits", "16-Bit"),
        ("capability 7.0 and 7.5", "capability 7.0 et 7.5", "capability 7.0 und 7.5"),
    ],
)
def test_a_number_has_one_value_in_every_language(english, french, german):
    wanted = values(english, "en")
    assert values(french, "fr") == wanted
    assert [v.replace("3.11.0", "3.11") for v in values(german, "de")] == wanted


@pytest.mark.parametrize("name", ["FP16", "float16", "A100", "x1", "bf16", "#3b6ea5", "v2"])
def test_a_digit_in_a_name_is_no_number(name):
    assert values(name, "en") == []


def test_a_decimal_point_in_french_is_seen():
    assert values("1.5", "fr") == ["1.5 (with a decimal point)"]
    assert values("1.5", "de") == ["1.5 (with a decimal point)"]


PAGE = """---
title: X
description: Y
---

# Title 1 { #title }

Prose with `lr=0.1`, [a link 2](amp.md#loop "and a title 3"){ .x9 } and <span class="c4">5</span>.

1. first, 6 things

```python
--8<-- "amp/a.py:main"
```

/// quiz | How many? 7
- [ ] One
  > No.
- [x] Two
///

## Next { #next .reference }

~~~ { .python }
8
~~~

[ref9]: https://example.org/10
"""


def test_a_page_is_read_by_sections():
    page = pages.parse(PAGE, "en", "x", "docs/en/x.md")
    top, title, following = page.sections
    assert (title.id, title.line, title.heading.title) == ("title", 6, "Title 1")
    assert title.embeds == ["python amp/a.py:main"]
    assert title.quizzes == [pages.Quiz(16, "How many? 7", (False, True))]
    assert sorted(n.value for n in title.numbers("en")) == ["0.1", "1", "2", "5", "6", "7"]
    assert [n.line for n in title.numbers("en") if n.value == "5"] == [8]
    assert following.id == "next"
    assert [(f.lang, f.mark, f.line, f.body) for f in following.fences] == [
        ("python", "~~~", 24, "8")
    ]
    assert (8, "amp.md#loop") in page.links


def test_front_matter_that_is_not_yaml_is_an_error_with_its_line():
    with pytest.raises(pages.PageError, match=r"^docs/en/x\.md:3: .* quote text"):
        pages.parse("---\ntitle: x\ndescription: a: b\n---\n", "en", "x", "docs/en/x.md")


def test_a_quote_left_open_in_the_front_matter_is_told_where_it_opens():
    text = '---\ntitle: T\ndescription: "D\nminutes: "5"\n---\n'
    with pytest.raises(pages.PageError, match=r"^x\.md:3: not YAML, the quote that opens here"):
        pages.parse(text, "en", "x", "x.md")


def test_front_matter_without_end_is_an_error():
    with pytest.raises(pages.PageError, match="has no end"):
        pages.parse("---\ntitle: x\n", "en", "x", "docs/en/x.md")
