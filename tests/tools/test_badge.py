"""What the site says of runs on record: the badge of a block, and the page How this was checked."""

import re
import xml.etree.ElementTree as etree

import markdown
import pytest

from tests import records
from tests.conftest import PROGRAM
from tools import badge
from tools.languages import languages, words
from tools.record import RecordError, required_devices
from tools.snippets import program_of

MAIN = '```python\n--8<-- "small/{name}.py:main"\n```\n'
OUT = '```text\n--8<-- "small/{name}.out"\n```\n'


@pytest.fixture
def root(tmp_path):
    programs = {
        "right": "",
        "only": '# devices = ["cpu"]\n',
        "wrong/loud": '# raises = "RuntimeError"\n',
        "wrong/warns": '# warns = "UserWarning"\n',
        "wrong/silent": "",
    }
    for name, more in programs.items():
        file = tmp_path / f"snippets/small/{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PROGRAM.format(more=more))
        file.with_suffix(".out").write_text("total: 3\n")
    return tmp_path


@pytest.fixture
def run(root):
    """Put a run on record."""

    def stamp(device: str, name: str | None = None, program: str = "", **changed) -> None:
        made = records.fields(root, device, commit="a1b2c3d" + "0" * 33)
        made["finished"] = "2026-11-30T12:00:00Z"
        made["started"] = "2026-11-30T11:59:00Z"
        (made["programs"][program] if program else made).update(changed)
        records.record.write(made, records.file(root, name or device))

    return stamp


@pytest.fixture
def render(root):
    def html(text: str, lang: str = "en", **options) -> etree.Element:
        own = {
            "root": str(root / "snippets"),
            "lang": lang,
            "records": str(root / "build/verification"),
        }
        made = markdown.markdown(
            text,
            extensions=[
                "attr_list",
                "tools.markdown.highlight",
                "pymdownx.superfences",
                "pymdownx.snippets",
                "tools.markdown.code",
                "tools.markdown.verification",
            ],
            extension_configs={
                "pymdownx.snippets": {
                    "base_path": [str(root / "snippets")],
                    "check_paths": True,
                    "dedent_subsections": True,
                },
                "tools.markdown.code": own | options,
                "tools.markdown.verification": own,
            },
        )
        return etree.fromstring(f"<html>{made}</html>")

    return html


def badges(page: etree.Element) -> list[str]:
    return ["".join(s.itertext()) for s in page.iterfind(".//details[@class]/summary")]


def details(page: etree.Element) -> list[str]:
    """The lines of the first badge's details."""
    said = page.find(".//div[@class='listing-title']/details/p")
    return [line for line in re.split(r"\n", "\n".join(said.itertext())) if line]


def test_without_a_record_a_block_is_not_verified(render):
    page = render(MAIN.format(name="right"))
    assert badges(page) == ["Not verified"]
    assert page.find(".//details").get("class") == "listing-record unverified"
    assert details(page) == ["CPU: not run", "CUDA: not run", "How this was checked"]


@pytest.mark.parametrize(
    "name, says",
    [
        ("right", "Verified: CPU, not on a GPU · PyTorch 2.13.0 · 2026-11-30"),
        ("wrong/loud", "Fails as shown: CPU, not on a GPU · PyTorch 2.13.0 · 2026-11-30"),
        ("wrong/warns", "Fails as shown: CPU, not on a GPU · PyTorch 2.13.0 · 2026-11-30"),
        ("wrong/silent", "Wrong as shown: CPU, not on a GPU · PyTorch 2.13.0 · 2026-11-30"),
        ("only", "Verified: CPU · PyTorch 2.13.0 · 2026-11-30"),
    ],
)
def test_with_the_cpu_alone_a_block_says_that_no_gpu_ran_it(render, run, name, says):
    run("cpu")
    assert badges(render(MAIN.format(name=name))) == [says]


def test_with_both_it_names_both_and_the_older_day(render, run):
    run("cpu")
    run("cuda", finished="2026-12-02T12:00:00Z")
    page = render(MAIN.format(name="right"))
    assert badges(page) == ["Verified: CPU, NVIDIA H200 · PyTorch 2.13.0 · 2026-11-30"]
    assert page.find(".//details").get("class") == "listing-record"
    cuda = details(page)[1]
    for fact in (
        "CUDA: as shown, 0.25\u00a0s",
        "NVIDIA H200",
        "driver 580.159.04",
        "PyTorch 2.13.0+cu130 (CUDA 13.0)",
        "accelerate 1.15.0",
        "Python 3.12.3",
        "commit a1b2c3d",
        "2026-12-02",
    ):
        assert fact in cuda.split(" · ")


def test_with_several_versions_it_says_which_ran_where(render, run):
    run("cpu")
    run("cpu", "cpu-2.11", torch="2.11.0+cpu")
    run("cuda", torch="2.11.0+cu130")
    (said,) = badges(render(MAIN.format(name="right")))
    assert said == (
        "Verified: CPU (PyTorch 2.13.0, 2.11.0), NVIDIA H200 (PyTorch 2.11.0) · 2026-11-30"
    )


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"program": "small/right.py", "outcome": "failed", "reason": "x"}, "CUDA: failed"),
        ({"program": "small/right.py", "outcome": "skipped", "reason": "x"}, "CUDA: skipped"),
        ({"program": "small/right.py", "ran_on": "cpu"}, "CUDA: ran on another device"),
        ({"program": "small/right.py", "sha256": "0" * 64}, "CUDA: changed since it was run"),
        ({"dirty": ["x"]}, "CUDA: run with uncommitted changes"),
        ({"driver": None}, "CUDA: the record is in doubt"),
        (
            {"found": None, "device_name": None, "device_count": 0},
            "CUDA: the device was missing",
        ),
    ],
)
def test_what_is_no_pass_is_said_and_counts_for_nothing(render, run, changed, says):
    run("cpu")
    run("cuda", **changed)
    page = render(MAIN.format(name="right"))
    assert badges(page) == ["Verified: CPU, not on a GPU · PyTorch 2.13.0 · 2026-11-30"]
    assert details(page)[1].split(" · ")[0] == says
    (column,) = [
        "".join(row[2].itertext())
        for row in render("/// verification\n///").iterfind(".//tbody/tr")
        if row.get("id") == "program-small-right"
    ]
    assert f"CUDA: {column}" == says


def test_a_record_that_cant_be_used_counts_for_nothing(render, run, root):
    run("cpu")
    records.file(root, "cpu").write_text("{")
    assert badges(render(MAIN.format(name="right"))) == ["Not verified"]


def test_a_new_record_is_seen(render, run):
    assert badges(render(MAIN.format(name="right"))) == ["Not verified"]
    run("cpu")
    assert badges(render(MAIN.format(name="right"))) != ["Not verified"]


def test_an_output_shares_the_badge_of_its_program_above(render, run):
    run("cpu")
    main, out = MAIN.format(name="right"), OUT.format(name="right")
    assert len(badges(render(f"{main}\n{out}"))) == 1
    assert len(badges(render(f"{main}\nWords.\n\n{out}"))) == 2
    assert len(badges(render(MAIN.format(name="only") + "\n" + out))) == 2


def test_an_output_of_one_device_is_verified_there_alone(render, run, root):
    (root / "snippets/small/right.cuda.out").write_text("total: 3\n")
    run("cpu")
    assert badges(render(OUT.format(name="right.cuda"))) == ["Not verified"]
    run("cuda")
    (said,) = badges(render(OUT.format(name="right.cuda")))
    assert said.startswith("Verified: NVIDIA H200 · ")
    (said,) = badges(render(OUT.format(name="right")))
    assert said.startswith("Verified: CPU, not on a GPU · ")


def test_a_badge_leads_to_the_row_of_its_program(render):
    link = ".//div[@class='listing-title']/details/p/a"
    page = render(MAIN.format(name="wrong/loud") + "\n/// verification\n///\n")
    href = page.find(link).get("href")
    assert href == "checked.md#program-small-wrong-loud"
    assert page.find(f".//tr[@id='{href.partition('#')[2]}']/th/a").text == "small/wrong/loud.py"
    assert render(MAIN.format(name="right"), checked="absent.md").find(link) is None


@pytest.mark.parametrize("lang", languages())
def test_a_badge_speaks_the_language_of_its_page(render, run, lang):
    run("cpu")
    word = words(lang)
    (said,) = badges(render(MAIN.format(name="right"), lang))
    assert word["record_no_gpu"] in said
    assert f"0{word['decimal']}25\u00a0s" in details(render(MAIN.format(name="right"), lang))[0]
    for state in (*records.record.OUTCOMES, "absent", "changed", "dirty", "missing", "elsewhere"):
        assert word[f"standing_{state}"]


def test_the_matrix_has_each_program_and_each_device(render, run):
    page = render("/// verification\n///")
    assert "".join(page.find(".//p").itertext()) == words("en")["record_nothing"]
    run("cpu")
    run("cpu", "cpu-2.11", torch="2.11.0+cpu")
    page = render("/// verification\n///")
    heads = [" ".join("".join(th.itertext()).split()) for th in page.iterfind(".//thead//th")]
    assert heads == ["Program", "CPU PyTorch 2.13.0", "CPU PyTorch 2.11.0", "CUDA"]
    rows = {row[0][0].text: [td.text for td in row[1:]] for row in page.iterfind(".//tbody/tr")}
    assert len(rows) == 5
    assert rows["small/right.py"] == ["as shown, 0.25\u00a0s"] * 2 + ["not run"]
    assert (
        badges_of_records(page)[0] == "CPU · PyTorch 2.13.0 · 2026-11-30 · 5 of 5 programs as shown"
    )
    facts = [li.text for li in page.iterfind(".//details/ul/li")]
    assert "A Processor" in facts and "Linux 6.18 x86_64" in facts and "commit a1b2c3d" in facts


def badges_of_records(page: etree.Element) -> list[str]:
    return ["".join(s.itertext()) for s in page.iterfind(".//div[@class='verification']//summary")]


def test_the_program_of_an_output():
    assert program_of("amp/train.out") == "amp/train.py"
    assert program_of("amp/wrong/bce_loss.cuda.out") == "amp/wrong/bce_loss.py"


def test_the_devices_that_are_required_stand_in_one_place(root):
    assert required_devices() == badge.required() == ["cpu", "cuda"]
    with pytest.raises(RecordError, match="pyproject.toml must say"):
        required_devices(root)
    assert badge.required(root) == []
