"""The figures: what tools/figures draws, from which numbers, and what it refuses to draw."""

import re
import shutil
import xml.etree.ElementTree as etree
from pathlib import Path

import markdown
import pytest
import yaml

from tools.figures import FIGURES, LOCALES, FigureError, render
from tools.figures.svg import WIDTH, Canvas, num, wrap
from tools.markdown import PageFault

LANGUAGES = ("en", "fr", "de")
SVG = "{http://www.w3.org/2000/svg}"
every_figure = pytest.mark.parametrize("name", FIGURES)
every_language = pytest.mark.parametrize("lang", LANGUAGES)


#: Outputs of the same form as those of snippets/amp/, short enough to reckon with.
SAMPLE = {
    "formats.out": """\
format  sign  exponent  fraction     largest    normal  smallest  step at 1  finfo
fp32       1         8        23  3.4028e+38  1.18e-38  1.40e-45   1.19e-07  agrees
tf32       1         8        10  3.4012e+38  1.18e-38  1.15e-41   9.77e-04  no such dtype
fp16       1         5        10       65504  6.10e-05  5.96e-08   9.77e-04  agrees
bf16       1         8         7  3.3895e+38  1.18e-38  9.18e-41   7.81e-03  agrees
""",
    "gradients.out": """\
gradients that are not 0 in fp32    : 2000
below the smallest normal of fp16   : 75.0%
0 under autocast, loss times     1  : 25.0%
0 under autocast, loss times 65536  : 1.2%
2^-32    100
2^-28    400
2^-20   1000
2^-8     500
""",
    "scale_path.out": """\
step  1: scale 2^16  skipped
step  2: scale 2^15  stepped
step  3: scale 2^15  stepped
step  4: scale 2^16  stepped
step  5: scale 2^16  stepped
step  6: scale 2^17  skipped
step  7: scale 2^16  stepped
""",
    "train_fp32.out": "step   0: loss 0.701\nstep  50: loss 0.143\nstep 100: loss 0.030\n",
    "train.out": "step   0: loss 0.702\nstep  50: loss 0.145\nstep 100: loss 0.031\nscale: 65536\n",
    "memory.out": """\
MiB                        fp32  autocast
for backward, batch 4096  17.00      8.63
for backward, batch    8   1.28      2.56
weights                    0.32      0.32
gradients                  0.32      0.32
Adam's two averages        0.64      0.64
""",
}

#: Of the same form as those of snippets/ddp/.
SAMPLE_DDP = {
    "buckets.out": """\
gradient of layer 3 is ready
gradient of layer 2 is ready
bucket 0 is sent: 4096 bytes
gradient of layer 1 is ready
gradient of layer 0 is ready
bucket 1 is sent: 2048 bytes
""",
    "single.out": "epoch  0: loss 0.641\nepoch  5: loss 0.319\naccuracy: 0.99\n",
    "train.out": "epoch  0: loss 0.649\nepoch  5: loss 0.386\naccuracy: 0.99\n",
}


#: Of the same form as those of the other lessons.
SAMPLE_DATA_PARALLEL = {"train.out": "epoch  0: loss 0.642\nepoch  5: loss 0.318\n"}
SAMPLE_ACCELERATE = {"train.out": "epoch  0: loss 0.651\nepoch  5: loss 0.350\n"}
SAMPLES = {
    "accelerate": SAMPLE_ACCELERATE,
    "amp": SAMPLE,
    "data-parallel": SAMPLE_DATA_PARALLEL,
    "ddp": SAMPLE_DDP,
}


class House:
    """A copy of what the figures are made from, to be changed at will."""

    def __init__(self, root: Path):
        self.snippets, self.locales = root / "snippets", root / "locales"
        for lesson, outs in SAMPLES.items():
            (self.snippets / lesson).mkdir(parents=True)
            for out, text in outs.items():
                (self.snippets / lesson / out).write_text(text, "utf-8")
        for lang in LANGUAGES:
            (self.locales / lang).mkdir(parents=True)
            shutil.copy(LOCALES / lang / "figures.yml", self.locales / lang)

    def edit(self, path: str, pattern: str, new: str) -> None:
        """Replace what `pattern` finds first, and must find, in a file of the copy."""
        file = self.snippets.parent / path
        text, found = re.subn(pattern, new, file.read_text("utf-8"), count=1, flags=re.M)
        assert found, f"{pattern!r} is not in {path}"
        file.write_text(text, "utf-8")

    def render(self, name: str, lang: str = "en") -> str:
        return render(name, lang, snippets=self.snippets, locales=self.locales)


@pytest.fixture
def house(tmp_path) -> House:
    return House(tmp_path)


def texts(svg: str) -> list[str]:
    return [text.text for text in etree.fromstring(svg).iter(f"{SVG}text")]


def inherited(element, path=()):
    """Yield each element with the attributes that hold for it, its own and its groups'."""
    given = dict(path) | element.attrib
    yield element, given
    for child in element:
        yield from inherited(child, given)


@every_figure
@every_language
def test_a_figure_is_one_svg_element_without_a_script_that_weighs_little(name, lang):
    svg = render(name, lang)
    root = etree.fromstring(svg)  # well-formed
    assert root.tag == f"{SVG}svg"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= set(
        ["svg", "title", "desc", "g", "defs", "use", "path", "rect", "text", "pattern", "clipPath"]
    )
    assert len(svg.encode()) < 6000
    assert svg == render(name, lang)


@every_figure
@every_language
def test_a_figure_says_in_words_what_it_shows(name, lang):
    root = etree.fromstring(render(name, lang))
    assert root.get("role") == "img"
    title, desc = (root.find(f"{SVG}{tag}") for tag in ("title", "desc"))
    assert root.get("aria-labelledby") == title.get("id")
    assert root.get("aria-describedby") == desc.get("id")
    assert len(title.text.split()) > 3
    assert len(desc.text.split()) > 20
    assert "{" not in desc.text


@every_language
def test_ids_are_unique_on_a_page_with_all_figures_and_each_reference_finds_one(lang):
    page = "".join(render(name, lang) for name in FIGURES)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)) <= {
        pair for key in ids for pair in ((key, ""), ("", key))
    }


@every_figure
@every_language
def test_labels_can_be_read_on_a_phone_and_do_not_cover_each_other(name, lang):
    root = etree.fromstring(render(name, lang))
    _, _, width, height = map(float, root.get("viewBox").split())
    assert width == WIDTH
    boxes = []
    for element, given in inherited(root):
        if element.tag != f"{SVG}text":
            continue
        size = float(given["font-size"])
        # A phone of 390 pixels has at least 342 for the text of a page.
        assert size * 342 / width >= 11
        wide = len(element.text) * size * (0.6 if "mono" in given["font-family"] else 0.5)
        x, y = float(given["x"]), float(given["y"])
        x -= {"middle": wide / 2, "end": wide}.get(given.get("text-anchor"), 0)
        box = (element.text, x, y - 0.7 * size, x + wide, y)
        assert x >= 0 and box[2] >= 0 and box[3] <= width and y <= height, box
        for other in boxes:
            apart = box[1] >= other[3] or other[1] >= box[3]
            assert apart or box[2] >= other[4] or other[2] >= box[4], (box, other)
        boxes.append(box)
    assert boxes


@every_figure
def test_colors_are_the_themes_and_text_has_the_color_of_the_page(name):
    for element, given in inherited(etree.fromstring(render(name, "en"))):
        for key in ("fill", "stroke"):
            color = element.get(key, "none")
            assert re.fullmatch(r"none|currentColor|var\(--fig-\w+,#\w{6}\)|url\(#.+\)", color)
        if element.tag == f"{SVG}text":
            assert given["fill"] == "currentColor"


@every_figure
def test_all_languages_have_the_same_words_to_fill(name):
    words = [
        yaml.safe_load((LOCALES / lang / "figures.yml").read_text("utf-8"))[name]
        for lang in LANGUAGES
    ]
    for other in words[1:]:
        assert list(other) == list(words[0])
        for key, text in words[0].items():
            names = set(re.findall(r"{\w+}", text))
            assert set(re.findall(r"{\w+}", other[key])) == names, key


def test_numbers_are_written_as_each_language_writes_them(house):
    house.edit("locales/de/figures.yml", "^  group: .*", '  group: "."')
    for lang, whole, science, share in (
        ("en", "65,504", "3.4028\u00a0×\u00a010³⁸", "25.0%"),
        ("fr", "65\u202f504", "3,4028\u00a0×\u00a010³⁸", "25,0\u202f%"),
        ("de", "65.504", "3,4028\u00a0×\u00a010³⁸", "25,0\u202f%"),
    ):
        shown = " ".join(texts(house.render("formats", lang)))
        assert whole in shown and science in shown
        assert share in texts(house.render("ranges", lang))


# The numbers are those of the outputs.


def test_each_format_has_the_bits_and_the_numbers_that_were_printed(house):
    house.edit("snippets/amp/formats.out", r"^bf16 +1 +8 +7 ", "bf16 1 8 9 ")
    shown = texts(house.render("formats"))
    assert shown[shown.index("BF16") :][1:6] == [
        "up to 3.3895\u00a0×\u00a010³⁸ · step at 1: 7.81\u00a0×\u00a010⁻³",
        "1",
        "8",
        "9",
        "18 bits",
    ]
    assert "up to 65,504 · step at 1: 9.77\u00a0×\u00a010⁻⁴" in shown


def test_the_bits_are_drawn_to_scale(house):
    boxes = etree.fromstring(house.render("formats")).iter(f"{SVG}rect")
    widths = sorted(float(box.get("width")) / 11 for box in boxes if box.get("height") == "24")
    assert widths == [1, 1, 1, 1, 5, 7, 8, 8, 8, 10, 10, 23]


def test_the_histogram_has_a_bar_for_each_line_as_high_as_its_count(house):
    paths = etree.fromstring(house.render("ranges")).iter(f"{SVG}path")
    bars = next(path.get("d") for path in paths if path.get("id"))
    heights = [float(high) for high in re.findall(r"V-([\d.]+)", bars)]
    assert [high / max(heights) for high in heights] == pytest.approx([0.1, 0.4, 1, 0.5], abs=0.01)


def test_the_shares_are_those_that_were_printed_and_their_rests(house):
    shown = texts(house.render("ranges"))
    shares = [text for text in shown if text.endswith("%")]
    # Scaled: 2^-32 stays below 2^-14 when it is moved by 16 powers of two, 5% of all.
    assert shares == ["25.0%", "50.0%", "25.0%", "1.2%", "3.8%", "95.0%"]


def test_scaling_moves_the_histogram_by_the_power_of_the_scale(house):
    root = etree.fromstring(house.render("ranges"))
    moves = {clip.get("id"): clip[0].get("transform") for clip in root.iter(f"{SVG}clipPath")}
    assert moves["figure-ranges-clip0"] is None
    ticks = {text.text: float(text.get("x")) for text in root.iter(f"{SVG}text")}
    moved = float(moves["figure-ranges-clip16"].removeprefix("translate(").removesuffix(")"))
    assert moved == pytest.approx(2 * (ticks["2⁸"] - ticks["2⁰"]), abs=0.3)


def test_each_step_of_the_scale_has_a_mark_whose_shape_says_whether_it_was_skipped(house):
    svg = house.render("scale-path")
    paths = [path.get("d") for path in etree.fromstring(svg).iter(f"{SVG}path")]
    assert max(d.count("a4.5 4.5 0 1 0 9 0") for d in paths) == 5
    assert max(d.count("m-4.5-4.5") for d in paths) == 2
    shown = texts(svg)
    assert (shown.count("÷2"), shown.count("×2")) == (2, 2)
    assert "growth: 2 clean steps double it" in shown


def test_the_loss_has_a_point_and_a_number_for_each_line(house):
    svg = house.render("loss")
    shown = " ".join(texts(svg))
    assert "0.701 0.143 0.030" in shown and "0.702 0.145 0.031" in shown
    paths = [path.get("d") for path in etree.fromstring(svg).iter(f"{SVG}path")]
    assert max(d.count("m-6-6h12") for d in paths) == 3
    assert max(d.count("m-3.5 0a") for d in paths) == 3


def test_a_bucket_leaves_beside_its_last_gradient_and_its_mean_is_back_before_the_step(house):
    svg = house.render("ddp-step")
    root = etree.fromstring(svg)
    top = {text.text: float(text.get("y")) for text in root.iter(f"{SVG}text")}
    assert "4,096 bytes" in top and "2,048 bytes" in top
    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("stroke-dasharray")]
    (first, last), (second, end) = (
        (float(box.get("y")), float(box.get("y")) + float(box.get("height"))) for box in boxes
    )
    assert top["layer 2"] < first + 10 < top["layer 1"] < last
    assert top["layer 0"] < second + 10 < end < top["optimizer’s step"]
    told = root.find(f"{SVG}desc").text
    assert "those of layers 3, 2 are ready" in told and "with layers 1, 0," in told


def test_the_losses_of_one_process_and_of_two_ranks_are_those_that_were_printed(house):
    shown = " ".join(texts(house.render("loss-ddp")))
    assert "0.641 0.319" in shown and "0.649 0.386" in shown


@pytest.mark.parametrize(
    ("name", "shown", "curves"),
    [
        ("loss-data-parallel", ["0.642 0.318"], 1),
        ("loss-accelerate", ["0.649 0.386", "0.651 0.350"], 2),
    ],
)
def test_each_lesson_has_the_curve_of_its_own_program(house, name, shown, curves):
    svg = house.render(name)
    said = " ".join(texts(svg))
    assert all(losses in said for losses in shown)
    lines = [path.get("d") for path in etree.fromstring(svg).iter(f"{SVG}path")]
    assert sum("L" in line for line in lines) == curves


def test_memory_bars_are_as_long_as_the_numbers_beside_them(house):
    root = etree.fromstring(house.render("memory"))
    shown = [text.text for text in root.iter(f"{SVG}text")]
    assert {"1.28", "2.56", "3.84", "Batch of 8: +50% under autocast"} <= set(shown)
    hatched = next(g for g in root.iter(f"{SVG}g") if "hatch" in g.get("fill", ""))
    _, fp32, autocast, *_ = (float(box.get("width")) for box in hatched)
    assert autocast == pytest.approx(2 * fp32, abs=0.2)


@pytest.mark.parametrize(
    ("name", "path", "pattern", "new"),
    [
        ("formats", "amp/formats.out", r"65504", "65503"),
        ("formats", "amp/formats.out", r"1\.19e-07", "1.20e-07"),
        (
            "ranges",
            "amp/gradients.out",
            r"^(0 under autocast, loss times 65536 +: +)[\d.]+",
            r"\g<1>7.7",
        ),
        ("scale-path", "amp/scale_path.out", r"stepped$", "skipped"),
        ("loss", "amp/train.out", r"loss 0\.\d+", "loss 0.999"),
        ("loss", "amp/train_fp32.out", r"loss 0\.\d+", "loss 0.999"),
        ("memory", "amp/memory.out", r"^(weights +)[\d.]+", r"\g<1>9.99"),
        ("ddp-step", "ddp/buckets.out", "4096", "4097"),
        ("loss-ddp", "ddp/single.out", r"loss 0\.\d+", "loss 0.999"),
        ("loss-ddp", "ddp/train.out", r"loss 0\.\d+", "loss 0.999"),
        ("loss-data-parallel", "data-parallel/train.out", r"loss 0\.\d+", "loss 0.999"),
        ("loss-accelerate", "ddp/train.out", r"loss 0\.\d+", "loss 0.999"),
        ("loss-accelerate", "accelerate/train.out", r"loss 0\.\d+", "loss 0.999"),
    ],
)
def test_a_changed_number_changes_the_figure(house, name, path, pattern, new):
    before = house.render(name)
    house.edit(f"snippets/{path}", pattern, new)
    assert house.render(name) != before


# What it refuses.


@pytest.mark.parametrize(
    ("name", "path", "pattern", "new", "message"),
    [
        (
            "formats",
            "formats.out",
            r"^format ",
            "layout ",
            r"formats\.out:1: 'layout .* the headings",
        ),
        ("formats", "formats.out", r"^fp16 +1 ", "fp16 one ", r"formats\.out:4: 'fp16 one"),
        ("formats", "formats.out", r"^tf32", "tf33", r"formats\.out:6: .*a line for tf32"),
        ("ranges", "gradients.out", r"^gradients that", "numbers that", "the number of gradients"),
        ("ranges", "gradients.out", r"loss times +1 ", "loss times 2 ", "for the loss times 1"),
        ("ranges", "gradients.out", r"loss times +65536", "loss times 65535", "powers of two"),
        ("ranges", "gradients.out", r"^(2\^-8 +)\d+", r"\g<1>7", "the sum of all counts"),
        ("scale-path", "scale_path.out", r"skipped", "jumped", r"scale_path\.out:1: 'step"),
        ("scale-path", "scale_path.out", r"^step  4", "step 14", r"scale_path\.out:4: 'step 14"),
        ("loss", "train.out", r"^step  50", "step  60", "print other steps"),
        ("loss", "train.out", r"loss [\d.]+", "loss 0.000", "print more digits"),
        ("memory", "memory.out", r"autocast", "amp", r"memory\.out:1: .*the headings"),
        ("memory", "memory.out", r"^gradients", "grads", "'gradients' and two numbers"),
        ("memory", "memory.out", r"^gradients", "weights", r"memory\.out:5: .*only one line"),
        ("ddp-step", "../ddp/buckets.out", r"^bucket 0", "packet 0", r"buckets\.out:3: 'packet"),
        ("ddp-step", "../ddp/buckets.out", r"^bucket 1.*\n", "", "a bucket last"),
        ("ddp-step", "../ddp/buckets.out", r"^gradient of layer 1.*\n", "", "two layers"),
        ("ddp-step", "../ddp/buckets.out", r"^(gradient.*\n){2}", "", "a gradient first"),
        ("loss-ddp", "../ddp/train.out", r"^epoch  5", "epoch  6", "print other epochs"),
        ("loss-accelerate", "../ddp/train.out", r"^epoch  5", "epoch  6", "print other epochs"),
        (
            "loss-data-parallel",
            "../data-parallel/train.out",
            r"loss [\d.]+",
            "loss 0.000",
            r"a loss of snippets/data-parallel/train\.out is printed as 0",
        ),
    ],
)
def test_an_output_that_reads_otherwise_is_refused_with_file_and_line(
    house, name, path, pattern, new, message
):
    house.edit(f"snippets/amp/{path}", pattern, new)
    with pytest.raises(FigureError, match=message) as caught:
        house.render(name)
    assert str(caught.value).startswith(f"figure {name!r}, en: ")


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"choose", "data_parallel_step", "loop"}))
def test_a_missing_output_is_refused_with_its_cure(house, name):
    shutil.rmtree(house.snippets)
    with pytest.raises(FigureError, match=r"snippets/[\w-]+/\w+\.out is missing; .*make outputs"):
        house.render(name)


def test_an_unknown_name_is_refused_with_those_there_are():
    there = ", ".join(sorted(FIGURES))
    with pytest.raises(FigureError, match=f"no figure is called 'format'; there are {there}"):
        render("format", "en")


@pytest.mark.parametrize(
    ("pattern", "new", "message"),
    [
        (r"^  bits16: .*\n", "", r"locales/fr/figures\.yml: loop\.bits16 is missing"),
        (
            r"^  bits16: .*",
            "  bits16: '{bits}'",
            r"loop\.bits16 asks for 'bits'; it may use no {…}",
        ),
        (r"^loop:", "loops:", r"locales/fr/figures\.yml: loop is missing"),
        (r"^  decimal: .*\n", "", r"numbers\.decimal is missing"),
        (r"^loop:", "loop: {", r"locales/fr/figures\.yml:\d+: not YAML"),
        (r"^  bits16: .*", f"  bits16: {'long ' * 9}", "sticks out of the figure; shorten it"),
        (r"^  infinite: .*", f"  infinite: {'long ' * 8}", "covers|sticks out"),
    ],
)
def test_a_word_that_is_missing_or_does_not_fit_is_refused(house, pattern, new, message):
    house.edit("locales/fr/figures.yml", pattern, new)
    with pytest.raises(FigureError, match=message):
        house.render("loop", "fr")


def test_a_language_without_words_is_refused(house):
    with pytest.raises(FigureError, match=r"locales/pt/figures\.yml is missing; copy"):
        house.render("loop", "pt")


def test_labels_that_cover_each_other_are_refused():
    canvas = Canvas("small")
    canvas.text(10, 20, "one")
    canvas.text(12, 22, "two")
    with pytest.raises(FigureError, match="'two' covers 'one'"):
        canvas.svg(40, "title", "words")


def test_text_is_wrapped_into_lines_of_about_the_same_length():
    assert wrap("after many clean steps", 100) == ["after many", "clean steps"]
    assert wrap("unbreakable", 10) == ["unbreakable"]
    assert [num(12.0), num(-0.01), num(0.25), num(7.96)] == ["12", "0", "0.2", "8"]


# The block.


def page(text: str, lang: str = "en") -> etree.Element:
    html = markdown.markdown(
        text,
        extensions=["pymdownx.superfences", "tools.markdown.figure", "tools.markdown.quiz"],
        extension_configs={"tools.markdown.figure": {"lang": lang}},
    )
    return etree.fromstring(f"<div>{html}</div>")


def test_the_block_places_the_figure_in_the_pages_language_with_its_caption():
    figure = page("/// figure | loss\nLa *perte*, deux fois.\n///\n", "fr")[0]
    assert figure.attrib == {"class": "figure", "id": "figure-loss"}
    svg, caption = figure
    assert svg.find(f"{SVG}title").text.startswith("La perte")
    assert caption.tag == "figcaption" and "".join(caption.itertext()).strip() == (
        "La perte, deux fois."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/// figure | chart\nA chart.\n///", "no figure is called 'chart'"),
        ("/// figure | loss\n///", "it has no caption"),
        *(
            (f"/// figure | loss\nA caption.\n\n{more}\n\n///", "closing `///` missing")
            for more in (
                "More of the page.",
                "## A heading",
                "- a list",
                "```python\ncode\n```",
                "/// quiz | Why?\n- [ ] a\n  > b\n- [x] c\n  > d\n///",
                "/// figure | memory\nAnother.\n///",
            )
        ),
        ("/// figure | loss\n```python\ncode\n```\n///", "closing `///` missing"),
        ("/// figure | loss\nOne.\n///\n\n/// figure | loss\nTwo.\n///", "on this page already"),
    ],
)
def test_a_mistake_of_the_page_is_refused_and_can_be_found_in_it(text, message):
    with pytest.raises(PageFault, match=message) as caught:
        page(text)
    assert caught.value.near in text
