"""The blocks of code of a page: what tools/markdown/code.py makes of them."""

import re
import xml.etree.ElementTree as etree

import markdown
import pytest

from tests.conftest import PROGRAM
from tools.markdown import PageFault


@pytest.fixture
def snippets(tmp_path):
    root = tmp_path / "snippets"
    (root / "small" / "wrong").mkdir(parents=True)
    (root / "small" / "right.py").write_text(PROGRAM.format(more=""))
    (root / "small" / "right.out").write_text("total: 3\n")
    (root / "small" / "right.cuda.out").write_text("total: 4\n")
    (root / "small" / "wrong" / "silent.py").write_text(PROGRAM.format(more=""))
    (root / "small" / "wrong" / "loud.py").write_text(
        PROGRAM.format(more='# raises = "RuntimeError"\n')
    )
    return root


@pytest.fixture
def render(snippets):
    def html(text: str, lang: str = "en") -> etree.Element:
        made = markdown.markdown(
            text,
            extensions=[
                "attr_list",
                "md_in_html",
                "tools.markdown.highlight",
                "pymdownx.superfences",
                "pymdownx.snippets",
                "pymdownx.tabbed",
                "tools.markdown.code",
            ],
            extension_configs={
                "pymdownx.snippets": {
                    "base_path": [str(snippets)],
                    "check_paths": True,
                    "dedent_subsections": True,
                },
                "pymdownx.tabbed": {"alternate_style": True},
                "tools.markdown.code": {
                    "root": str(snippets),
                    "lang": lang,
                    "records": str(snippets.parent / "verification"),
                },
            },
        )
        return etree.fromstring(f"<html>{made}</html>")

    return html


def fence(include: str, language: str = "python", indent: str = "") -> str:
    lines = [f"```{language}", f'--8<-- "{include}"', "```"]
    return "\n".join(indent + line for line in lines)


def test_a_block_links_to_the_whole_program_and_says_what_it_shows(render):
    page = render(fence("small/right.py:main"))
    link = page.find(".//div[@class='listing-title']/a")
    assert (link.get("href"), link.text) == ("snippets/small/right.py", "small/right.py")
    block = page.find(".//div[@class='highlight']")
    assert (block.get("data-snippet"), block.get("data-section")) == ("small/right.py", "main")


def test_the_code_is_the_section_without_markers_and_its_new_lines_are_highlighted(render):
    code = render(fence("small/right.py:main")).find(".//code")
    assert "".join(code.itertext()) == (
        'total = 0\nfor number in range(3):\n    total += number\nprint(f"total: {total}")\n'
    )
    assert ["".join(e.itertext()) for e in code.iter() if e.get("class") == "hll"] == [
        "    total += number\n"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- item\n\n" + fence("small/right.py:main", indent="    "),
        '=== "Tab"\n\n' + fence("small/right.py:main", indent="    "),
        "> quoted\n>\n" + fence("small/right.py:main", indent="> "),
        '<div class="x" markdown>\n\n' + fence("small/right.py:main") + "\n\n</div>",
        fence("small/right.py:main").replace("```python", "~~~ { .python }").replace("```", "~~~"),
        fence("small/right.py:main", 'python title="mine"'),
    ],
    ids=["list", "tab", "quote", "html", "tildes", "options"],
)
def test_a_block_is_a_listing_wherever_it_stands_and_however_it_is_spelled(render, text):
    page = render(text)
    listing = page.find(".//div[@class='listing']")
    assert listing.find("./div/a").text == "small/right.py"
    assert listing.find("./div[@data-snippet]").get("data-section") == "main"


def test_an_output_has_its_label_in_the_language_of_the_page(render):
    page = render(fence("small/right.out", "text"), lang="de")
    assert page.find(".//span[@class='listing-label']").text == "Ausgabe"
    assert page.find(".//div[@class='highlight']").get("data-output") == "small/right.out"
    page = render(fence("small/right.cuda.out", "text"))
    assert page.find(".//span[@class='listing-label']").text == "Output (CUDA)"


def test_the_message_of_an_error_or_a_warning_is_marked_and_nothing_else(render, snippets):
    printed = (
        "total: 3\n[rank1]: torch.DistError: it <failed>: no\nmore of it\n"
        "UserWarning: beware\nError: none\nan Error: in a line\nValueError: last\n"
    )
    (snippets / "small/right.out").write_text(printed)
    code = render(fence("small/right.out", "text")).find(".//code")
    assert "".join(code.itertext()) == printed
    assert [(line.get("class"), line.text) for line in code] == [
        ("said-error", "[rank1]: torch.DistError: it <failed>: no\n"),
        ("said-warning", "UserWarning: beware\n"),
        ("said-error", "ValueError: last\n"),
    ]


def test_a_wrong_program_says_so(render):
    listing = render(fence("small/wrong/loud.py:main")).find("./div")
    assert listing.get("class") == "listing wrong"
    assert listing.find("./div/span[@class='listing-label']").text == "Wrong on purpose"
    assert listing.find("./div[@data-snippet]").get("class") == "wrong highlight"


def test_a_fence_without_an_include_stays_as_it_is(render):
    page = render('```bash\nmake serve\n```\n\n```python\n;--8<-- "x"\n```')
    assert page.find(".//div[@class='listing']") is None


@pytest.mark.parametrize(
    "text, says",
    [
        (fence("small/absent.py:main"), "no such snippet"),
        (fence("small/right.py:absent"), "no such section; it has: main"),
        (fence("small/absent.out", "text"), "make outputs"),
        (fence("small/right.out:main", "text"), "make outputs"),
        (fence("small/right.txt", "text"), "neither a program"),
        (
            '```python\n--8<-- "small/right.py:main"\n--8<-- "small/right.py:main"\n```',
            "second include of one block",
        ),
        ("<div>\n\n" + fence("small/right.py:main") + "\n\n</div>", "with `markdown`"),
        (fence("small/right.py:main") + "\nText.", "leave an empty line before it and after it"),
    ],
)
def test_a_mistake_is_a_fault_that_can_be_found_in_the_page(render, text, says):
    with pytest.raises(PageFault, match=says) as caught:
        render(text)
    assert caught.value.near in text


def test_a_malformed_program_is_a_fault_of_its_own_file_and_line(render, snippets):
    file = snippets / "small" / "right.py"
    file.write_text(file.read_text().replace("seconds = 1", "secnds = 1"))
    with pytest.raises(PageFault, match=r"small/right.py:6: unknown key 'secnds'"):
        render(fence("small/right.py:main"))


CODE = "```python\nx = 1\ny = 2\n```\n"


def colored(text: str, extension: str, **options) -> str:
    return markdown.markdown(
        text,
        extensions=["pymdownx.superfences", extension],
        extension_configs={extension: options},
    )


@pytest.mark.parametrize("options", [{}, {"linenums": True}, {"line_spans": "__span"}])
def test_blocks_are_colored_as_pymdownx_does_but_plain_words_stay_plain(options):
    text = CODE + "\n" + CODE.replace("python", '{ .python hl_lines="2" }') + "\n" + CODE
    ours, theirs = "tools.markdown.highlight", "pymdownx.highlight"
    for _ in range(2):  # the second time from what is kept
        expected = colored(text, theirs, **options)
        assert '<span class="n">' in expected
        expected = re.sub('<span class="[nopw]">([^<]*)</span>', r"\1", expected)
        assert colored(text, ours, **options) == expected


def test_a_block_is_colored_once(monkeypatch):
    text = CODE.replace("x", "only_here")
    first = colored(text, "tools.markdown.highlight")
    monkeypatch.setattr("pymdownx.highlight.highlight", None)
    assert colored(text, "tools.markdown.highlight") == first
