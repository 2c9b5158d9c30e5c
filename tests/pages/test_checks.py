"""Each check of the pages, seen failing: a small bad example, its line, and what it says to do."""

import re

import markdown
import pytest
import yaml

from tools import checks, pages, snippets
from tools.markdown import PageFault
from tools.snippets import ROOT

HEAD = '# /// script\n# requires-python = ">=3.11"\n# dependencies = []\n#\n# [tool.lesson]\n'
PROGRAM = (
    f'{HEAD}# seconds = 1\n# ///\n"""X."""\n\n'
    "# --8<-- [start:main]\nimport math\n\nprint(math.pi)\n# --8<-- [end:main]\n"
)
COMMANDS = {"pip install torch"}
PYTHON = '```python\n--8<-- "amp/a.py:main"\n```\n'


@pytest.fixture
def root(tmp_path):
    """A snippets folder with one program and its output."""
    (tmp_path / "amp").mkdir()
    (tmp_path / "amp/a.py").write_text(PROGRAM)
    (tmp_path / "amp/a.out").write_text("3.14\n")
    return tmp_path


def page(text, lang="en", meta="title: T\ndescription: D\n"):
    return pages.parse(f"---\n{meta}---\n{text}", lang, "x", f"docs/{lang}/x.md")


def said(faults):
    return "\n".join(map(str, faults))


# --- front matter and headings


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ("title: T\n", "no description; add it"),
        ("title: T\ndescription: D\nminuts: 5\n", "unknown key 'minuts'"),
        ("title: T\ndescription: D\nminutes: ten\n", "minutes: 'ten' is no int"),
    ],
)
def test_front_matter(meta, message):
    assert f"docs/en/x.md:1: {'the front matter has ' * ('no desc' in message)}{message}" in said(
        checks.check_front_matter(page("", meta=meta))
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## Loop\n", "x.md:5: heading 'Loop' has no id; add one: ## Title { #id }"),
        ("## Bücher { #bücher }\n", "x.md:5: heading 'Bücher' has the id 'bücher'; use"),
        ("## A { #a }\n\n## B { #a }\n", "x.md:7: the id 'a' is taken by line 5"),
        ("Loop\n====\n", "x.md:6: an underlined heading"),
    ],
)
def test_headings(text, message):
    assert message in said(checks.check_headings(page(text)))


# --- fences and includes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```python\nprint(1)\n```\n", "x.md:5: the block ```python is not an include; open it"),
        (
            '```python\n--8<-- "amp/a.py:main"\nprint(1)\n```\n',
            "x.md:5: the block ```python is not an include",
        ),
        ('```python title="a"\n--8<-- "amp/a.py:main"\n```\n', "spelled in a way of its own"),
        ('```{ .python }\n--8<-- "amp/a.py:main"\n```\n', "spelled in a way of its own"),
        ('~~~python\n--8<-- "amp/a.py:main"\n~~~\n', "spelled in a way of its own"),
        ("```py\nx\n```\n", "spelled in a way of its own"),
        ("- x\n\n    ```python\n    print(1)\n    ```\n", "x.md:7: the block ```python is not an"),
        ("> ```python\n> print(1)\n> ```\n", "is not an include"),
        ("```\nprint(1)\n```\n", "is neither code, output nor commands"),
        ("```js\nx\n```\n", "is neither code, output nor commands"),
        ('```python\n--8<-- "amp/a.py"\n```\n', "embeds no section of a program"),
        ('```text\n--8<-- "amp/a.py"\n```\n', "embeds no output"),
        ("```text\n3.14\n```\n", "x.md:5: the block ```text is not an include"),
        ("```bash\nrm -rf /\n```\n", "the command 'rm -rf /' is in no test; add it to"),
        ('--8<-- "amp/a.py:main"\n', "x.md:5: an include outside a block of code"),
        ("--8<--\namp/a.py\n--8<--\n", "x.md:5: an include that is spelled in a way of its own"),
        ("```python\n--8<-- 'amp/a.py:main'\n```\n", "x.md:6: an include that is spelled"),
        ('```python\n--8<-- "amp/a.py:main" \n```\n', "x.md:6: an include that is spelled"),
        (PYTHON.removesuffix("```\n"), "x.md:5: the block ```python is not closed; close it"),
        (PYTHON.removesuffix("\n") + "``\n", "x.md:5: the block ```python is not closed"),
    ],
)
def test_fences(text, message):
    assert message in said(checks.check_fences(page(text), COMMANDS))


def test_good_fences_have_no_fault(root):
    text = PYTHON + '```text\n--8<-- "amp/a.out"\n```\n```bash\npip install torch\n```\n'
    assert not checks.check_fences(page(text), COMMANDS)
    assert not checks.check_includes(page(text), root)


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("amp/b.py:main", "x.md:6: snippets/amp/b.py does not exist; the programs are those in"),
        ("amp/a.py:loop", "x.md:6: snippets/amp/a.py has no section 'loop'; it has: main"),
    ],
)
def test_includes(root, include, message):
    text = f'```python\n--8<-- "{include}"\n```\n'
    assert message in said(checks.check_includes(page(text), root))


def test_missing_output(root):
    (root / "amp/a.out").unlink()
    text = '```text\n--8<-- "amp/a.out"\n```\n'
    assert "amp/a.out does not exist; run 'make outputs'" in said(
        checks.check_includes(page(text), root)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "A [data\nsheet][a1000].\n\n[a100]: x\n",
            "x.md:6: the link [a1000] is defined nowhere; did",
        ),
        (
            "[`code`][te]\n",
            "x.md:5: the link [te] is defined nowhere; write beneath the text: [te]:",
        ),
        ("![a picture][te]\n", "the link [te] is defined nowhere"),
        ("[a100](x.md)\n\n[A100]: x\n", "x.md:7: no link of the page uses [a100]; remove the line"),
    ],
)
def test_links_by_name(text, message):
    assert message in said(checks.check_references(page(text)))


@pytest.mark.parametrize(
    "text",
    [
        "The [data sheet][A\n100].\n\n[a 100]: x\n",
        "The [a100][], [te], [b]: c\n\n[a100]: x\n[te]: y\n[b]: z\n",
        "`a[0][1]` and a note[^1][^2], `a\n[x][y]`.\n\n[^1]: One.\n",
        "<!-- [a][b] -->\n\n- [x] [text](x.md)\n\n```text\na[0][1]\n```\n",
        "Not a link: \\[a\\][b]\n",
    ],
)
def test_good_links_by_name(text):
    assert not checks.check_references(page(text))


def test_program_that_no_page_shows(root):
    programs = snippets.load_all(root)
    found = said(checks.check_unshown([page("")], programs))
    assert "snippets/amp/a.py:1: no page shows this program; embed it, or remove it" in found
    assert not checks.check_unshown([page(PYTHON)], programs)


def test_section_that_no_page_shows(root):
    extra = "# --8<-- [start:rest]\nprint(2)\n# --8<-- [end:rest]\n"
    (root / "amp/a.py").write_text(PROGRAM + extra)
    found = said(checks.check_unshown([page(PYTHON)], snippets.load_all(root)))
    assert "snippets/amp/a.py:15: no page shows the section 'rest'" in found


# --- translations

ENGLISH = (
    "## Loop { #loop }\n\nIt takes 65,504 and 1.5.\n\n"
    + PYTHON
    + "\n/// quiz | Which?\n- [ ] a\n- [x] b\n///\n\n## End { #end }\n\nDone.\n"
)
FRENCH = ENGLISH.replace("65,504", "65\u202f504").replace("1.5", "1,5").replace("Done", "Fini")


def translated(text, lang="fr"):
    return said(checks.check_translation(page(ENGLISH), page(text, lang)))


def test_a_faithful_translation_has_no_fault():
    assert translated(FRENCH) == ""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("65\u202f504", "65\u202f505", "x.md:7: #loop: numbers not in English: 65505; English nu"),
        ("1,5", "1.5", "numbers not in English: 1.5 (with a decimal point)"),
        ("## End { #end }", "", "the section #end is missing after #loop; translate it"),
        ("## End { #end }", "## End { #fin }", "the section #fin is not in docs/en/x.md"),
        ("## End", "### End", "x.md:18: #end: a heading of level 3, in English 2"),
        ("a.py:main", "a.py:old", "#loop: shows python amp/a.py:old, in English python amp/a.py:m"),
        ("- [ ] a\n- [x] b", "- [x] a\n- [ ] b", "x.md:13: #loop: a quiz has other choices"),
        ("- [ ] a\n", "", "a quiz has other choices"),
        (PYTHON, "", "#loop: shows nothing, in English python amp/a.py:main"),
    ],
)
def test_translations(old, new, message):
    assert old in FRENCH
    assert message in translated(FRENCH.replace(old, new))


def test_a_number_of_the_front_matter():
    english = page("", meta="title: T\ndescription: 1.5 times as fast\n")
    french = page("", "fr", "title: T\ndescription: 2,5 fois plus vite\n")
    found = said(checks.check_translation(english, french))
    assert (
        "docs/fr/x.md:1: #top: numbers not in English: 2.5; English numbers missing: 1.5" in found
    )


def test_sections_in_another_order():
    loop, end = FRENCH.split("## End")
    found = translated("## End" + end + "\n" + loop)
    assert "x.md:5: the section #end stands elsewhere than in docs/en/x.md" in found


def test_pages_that_one_language_lacks_or_has_alone():
    found = said(checks.check_languages({"en": {"x": page("")}, "fr": {"y": page("", "fr")}}))
    assert "docs/fr/x.md:1: no such page; translate docs/en/x.md" in found
    assert "docs/fr/x.md:1: a page that English does not have; remove it" in found


# --- words

TERMS = [
    checks.Term("scale", ("facteur d'échelle",), ("scale factor",)),
    checks.Term("loss scale", ("échelle de la perte",), ()),
]


def test_a_word_against_the_glossary():
    found = checks.check_glossary(page("Text.\n\nLe scale\nfactor monte.\n", "fr"), TERMS)
    assert "x.md:7: 'scale\\nfactor' is against the glossary; say \"facteur d'échelle\"" in said(
        found
    )
    assert not checks.check_glossary(page("Le `scale factor`.\n", "fr"), TERMS)


def test_a_word_against_the_glossary_in_front_matter_or_under_emphasis():
    found = checks.check_glossary(page("", "fr", "title: Le scale factor\ndescription: D\n"), TERMS)
    assert "x.md:1: 'scale factor' is against the glossary" in said(found)
    found = checks.check_glossary(page("Le scale\n**fac**tor.\n", "fr"), TERMS)
    assert "x.md:5: 'scale\\nfactor' is against the glossary" in said(found)


def test_a_term_that_the_translation_says_otherwise():
    english = page("## A { #a }\n\nThe scale falls.\n")
    bad = page("## A { #a }\n\nLe multiplicateur baisse.\n", "fr")
    good = page("## A { #a }\n\nLes facteurs d’échelle baissent.\n", "fr")
    found = said(checks.check_glossary(bad, TERMS, english))
    assert "x.md:5: #a: English says 'scale' (docs/en/x.md:5)" in found
    assert not checks.check_glossary(good, TERMS, english)


def test_a_longer_term_is_no_use_of_the_shorter_one():
    english = page("## A { #a }\n\nThe loss scale falls.\n")
    good = page("## A { #a }\n\nL'échelle de la perte baisse.\n", "fr")
    assert not checks.check_glossary(good, TERMS, english)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("- term: a\n  says: [b]\n", "glossary.yml:1: an entry that can't be read"),
        ("- term: a\n  say: [b c]\n  never: [b]\n", "glossary.yml:1: 'a': 'b' is in 'never' and"),
        ("- term: a\n say: [b]\n", "not YAML"),
    ],
)
def test_a_bad_glossary(tmp_path, entry, message):
    (tmp_path / "locales/fr").mkdir(parents=True)
    (tmp_path / "locales/fr/glossary.yml").write_text(entry)
    assert message in said(checks.load_glossary("fr", tmp_path)[1])


@pytest.mark.parametrize(
    ("lang", "text", "message"),
    [
        ("fr", "Attention : danger", "no no-break space before ':'"),
        ("fr", "Vraiment?", "no no-break space before '?'"),
        ("fr", "Vraiment ?", "no no-break space before '?'"),
        ("fr", "Oui ; non", "no no-break space before ';'"),
        ("fr", "« oui\u00a0»", "no no-break space after «"),
        ("fr", "«\u00a0oui »", "no no-break space before »"),
        ("fr", 'le "mot"', '" instead of « »'),
        ("de", 'das "Wort"', '" instead of „ “'),
        ("de", "das “Wort”", "” instead of „ “"),
        ("de", "das „Wort", "„ and “ do not pair"),
    ],
)
def test_typography(lang, text, message):
    found = said(checks.check_typography(page(f"Bon.\n\n{text}\n", lang)))
    assert f"docs/{lang}/x.md:7: {message}" in found


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("fr", "Attention\u00a0: «\u202foui\u202f» ; `a: b?` [x](https://a.b/?c;d)\u00a0!"),
        ("fr", '!!! note "Un titre"\n'),
        ("fr", "| a | b |\n| :--- | ---: |\n| 1 | 2 |\n"),
        ("fr", '<div class="hero" markdown>\n'),
        ("de", 'das „Wort“ und `print("x")`'),
        ("de", "das „Wort,\ndas lang ist“"),
        ("en", 'the "word": yes?'),
    ],
)
def test_good_typography(lang, text):
    text = text.replace(" ;", "\u00a0;")
    assert not checks.check_typography(page(text, lang))


# --- the rendered page


@pytest.fixture
def render(root):
    """Render Markdown by the site's own settings; return the faults of the result."""
    source = re.sub(r"!\S+", "", (ROOT / "mkdocs.yml").read_text("utf-8"))
    extensions = yaml.safe_load(source)["markdown_extensions"]
    extensions["pymdownx.snippets"]["base_path"] = [str(root)]
    extensions["tools.markdown.code"] |= {"root": str(root)}

    def faults(text):
        read = page(text)
        html = markdown.markdown(
            "\n".join(text.split("\n")), extensions=list(extensions), extension_configs=extensions
        )
        return said(checks.check_rendered(html, read, root, COMMANDS))

    return faults


def test_an_output_with_tabs_is_shown_with_spaces(render, root):
    (root / "amp/a.out").write_text("Error:\n\tMissing\tkey\n")
    text = '```text\n--8<-- "amp/a.out"\n```\n'
    assert render(text) == ""
    assert render(f"- x\n\n{text}".replace("\n", "\n    ").rstrip() + "\n") == ""


def test_rendered_sections_outputs_and_commands_have_no_fault(render):
    text = PYTHON + '\n```text\n--8<-- "amp/a.out"\n```\n\n```bash\npip install torch\n```\n'
    assert render(text) == ""
    assert render('- x\n\n    ```python\n    --8<-- "amp/a.py:main"\n    ```\n') == ""


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n",
        '```python title="a.py"\nprint(1)\n```\n',
        "```{ .python .annotate }\nprint(1)\n```\n",
        "``` python hl_lines='1'\nprint(1)\n```\n",
        "~~~python\nprint(1)\n~~~\n",
        "~~~~ { .python }\nprint(1)\n~~~~\n",
        "```\nprint(1)\n```\n",
        "```text\nprint(1)\n```\n",
        "    print(1)\n",
        "- a\n\n        print(1)\n",
        "- a\n\n    ```python\n    print(1)\n    ```\n",
        "1. a\n\n    ~~~\n    print(1)\n    ~~~\n",
        "> ```python\n> print(1)\n> ```\n",
        ">     print(1)\n",
        '!!! note "a"\n\n    ```python\n    print(1)\n    ```\n',
        '??? note "a"\n\n        print(1)\n',
        '=== "a"\n\n    ```python\n    print(1)\n    ```\n',
        "<pre>print(1)</pre>\n",
        "<div><pre><code>print(1)</code></pre></div>\n",
        "<div markdown>\n\n```python\nprint(1)\n```\n\n</div>\n",
        "a[^1]\n\n[^1]:\n    ```python\n    print(1)\n    ```\n",
        "a\n:   ```python\n    print(1)\n    ```\n",
        '<div class="highlight" data-snippet="amp/a.py" data-section="main">'
        "<pre>print(1)</pre></div>\n",
        '<div data-output="amp/a.out"><pre>print(1)</pre></div>\n',
        '<section data-output="/etc/hostname"><pre>print(1)</pre></section>\n',
        "<listing>print(1)</listing>\n",
        "<tt>x = 0<br>print(1)</tt>\n",
        "`x = 0`<br>`print(1)`\n",
        "`x = 0`  \n`print(1)`\n",
        '<div style="white-space: pre">print(1)</div>\n',
        "```bash\nprint(1)\n```\n",
        "```console\n$ print(1)\n```\n",
    ],
)
def test_rendered_code_that_nothing_runs_is_a_fault_in_any_spelling(render, text):
    found = render("Text.\n\n" + text)
    assert re.search(
        r"docs/en/x\.md:\d+: (a block (that nothing tests|is not what)|code within a line)", found
    ), found
    assert "print(1)" in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## A { #a }\n\n##B\n", "x.md:7: a heading does not state its id 'b'; write ##"),
        ("> ## A { #a }\n", "x.md:5: a heading does not state its id 'a'"),
        ("- ## A { #a }\n", "x.md:5: a heading does not state its id 'a'"),
        (
            "<h2>A</h2>\n",
            "x.md:5: a heading has no id; write ## Title { #id } at the start of a line",
        ),
        ("## A { #a #b }\n", "a heading does not state its id 'b'"),
        ('## A { #a }\n\n<a id="a"></a>\n', "x.md:7: the id 'a' is on the page twice; use another"),
        ("## A { #a }\n\nText.\n{ #a }\n", "the id 'a' is on the page twice"),
        ("## A { #a }\n\n[x][y]\n", "x.md:7: Markdown that was not understood: '[x][y]'"),
        ("[x] (a.md)\n", "x.md:5: Markdown that was not understood: '[x] (a.md)'"),
        ("[x](a.md\n", "x.md:5: Markdown that was not understood: '[x](a.md'"),
        ("Not **closed\n", "x.md:5: Markdown that was not understood: 'Not **closed'"),
        ("Text. { #here }\n", "Markdown that was not understood: 'Text. { #here }'"),
        ("A note.[^1]\n", "Markdown that was not understood: 'A note.[^1]'"),
        (';--8<-- "amp/a.py:main"\n', "Markdown that was not understood: '--8<--"),
    ],
)
def test_what_the_reader_sees_and_the_other_checks_do_not(render, text, message):
    assert message in render(text)


@pytest.mark.parametrize(
    "text",
    [
        "![A](https://a.example/b.png)",
        '<img alt="A" src="//a.example/b.png">',
        '<img alt="A" src="b.png" srcset="c.png 1x, https://a.example/b.png 2x">',
        '<iframe src="https://a.example/b.png"></iframe>',
        '<video poster="https://a.example/b.png"></video>',
        '<object data="https://a.example/b.png"></object>',
        '<link rel="stylesheet" href="https://a.example/b.png">',
        "<p style=\"background: url('https://a.example/b.png')\">A</p>",
        '<svg><image href="https://a.example/b.png"/></svg>',
    ],
)
def test_what_another_host_would_be_asked_for_is_a_fault(render, text):
    found = render(f"Text.\n\n{text}\n")
    assert re.search(
        r"docs/en/x\.md:7: '(https:)?//a\.example/b\.png' is loaded from another host; keep", found
    ), found


def test_a_link_to_another_host_and_a_picture_of_ours_are_no_fault(render):
    assert render("[A](https://a.example/) ![B](b.png) <img alt='' src='data:image/png,x'>\n") == ""


def test_headings_links_and_notes_in_order_have_no_fault(render):
    text = "## A { #a }\n\n[x](#a), [x][y], `[x][z]`, **b**[^1]\n\n[y]: #a\n[^1]: Note.\n"
    assert render(text) == ""


def test_rendered_section_that_the_runner_does_not_see(render):
    text = '<div class="highlight" data-snippet="amp/a.py" data-section="main"><pre>'
    found = render(text + "import math\n\nprint(math.pi)\n</pre></div>\n")
    assert "shown but not run: [('amp/a.py', 'main')]" in found


def test_section_that_the_reader_does_not_see(root):
    found = said(checks.check_rendered("<p>Text.</p>", page(PYTHON), root, COMMANDS))
    assert "in the page's source but not shown: [('amp/a.py', 'main')]" in found


# --- links


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("../b/", "the link '../b/' leads nowhere"),
        ("#nowhere", "has no id 'nowhere'"),
        ("../a/#nowhere", "has no id 'nowhere'"),
        ("/snippets/amp/none.py", "leads nowhere"),
        ("https://site.invalid/x/", "leads nowhere"),
        ("../../../../x/", "leads nowhere"),
    ],
)
def test_links(tmp_path, address, message):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/index.html").write_text(f'<p id="here"><a href="{address}">x</a></p>')
    assert message in said(checks.check_links(tmp_path))


@pytest.mark.parametrize(
    "address", ["#here", "../a/#here", ".", "/a/", "https://other.invalid/x", "mailto:a@b.c"]
)
def test_good_links(tmp_path, address):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/index.html").write_text(f'<p id="here"><a href="{address}">x</a></p>')
    assert not checks.check_links(tmp_path)


def test_a_link_out_of_the_folder_of_the_site(tmp_path):
    (tmp_path / "index.html").write_text('<a href="/a/">x</a>')
    assert "leaves the site" in said(checks.check_links(tmp_path, "https://site.invalid/course/"))


# --- the whole


@pytest.mark.parametrize(
    ("old", "new", "faults"),
    [
        ("", "", 0),
        ('"One', "One", 1),
        ("{ #amp }", "", 1),
        ("[a100]: ", "[a1000]: ", 2),
        ("scale.\n///", "scale.\n", 1),
        ("  > They catch updates that 16 bits would lose.\n", "", 1),
    ],
)
def test_the_page_that_contributors_are_shown_is_right(old, new, faults):
    shown = re.search(
        "````markdown\n(---\n.*?)````", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.S
    )
    text = shown[1]
    assert old in text
    text = text.replace(old, new)
    found = []
    try:
        example = pages.parse(text, "en", "x", "x.md")
        found += checks.check_front_matter(example) + checks.check_headings(example)
        found += checks.check_references(example)
        blocks = ["tools.markdown.figure", "tools.markdown.quiz"]
        markdown.markdown(text.split("---\n", 2)[2], extensions=blocks)
    except (pages.PageError, PageFault) as error:
        found.append(error)
    assert len(found) == faults, said(found)


def test_a_file_that_is_not_utf_8_is_told_with_its_line(tmp_path):
    (tmp_path / "docs/en").mkdir(parents=True)
    (tmp_path / "docs/en/x.md").write_bytes(b"# X { #x }\n\ncaf\xe9\n")
    found = said(checks.check_sources(tmp_path))
    assert found == "docs/en/x.md:3: not UTF-8; save it as UTF-8"


@pytest.mark.parametrize(
    ("commands", "line"),
    [("", 1), ("- make test\n", 1), ("make test:\n", 1), ("a: b\nc: d: e\n", 2)],
)
def test_commands_that_can_not_be_read_are_told(tmp_path, commands, line):
    (tmp_path / "tests/pages").mkdir(parents=True)
    (tmp_path / "tests/pages/commands.yml").write_text(commands)
    found = said(checks.check_sources(tmp_path))
    assert f"tests/pages/commands.yml:{line}: not " in found and "; " in found


def test_the_command_prints_each_fault_and_fails(monkeypatch, capsys):
    fault = checks.Fault("docs/en/x.md", 5, "a fault", "mend it")
    monkeypatch.setattr("tools.checks.repository.check_sources", lambda: [fault])
    assert checks.main() == 1
    printed = capsys.readouterr()
    assert "docs/en/x.md:5: a fault; mend it" in printed.out
    assert printed.err == "1 fault\n"


def test_a_page_without_translation_hides_no_fault_of_the_others(monkeypatch, capsys):
    fault = checks.Fault("docs/fr/x.md", 1, checks.UNTRANSLATED, "translate docs/en/x.md")
    monkeypatch.setattr("tools.checks.repository.check_sources", lambda: [fault])
    monkeypatch.setattr("tools.build.build_all", lambda *_: ["en: docs/en/y.md:3: broken"])
    assert checks.main() == 1
    assert capsys.readouterr().out.splitlines() == [str(fault), "en: docs/en/y.md:3: broken"]
