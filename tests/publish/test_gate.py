"""The gate: each planted fault is refused with a line that names it and tells the cure."""

import json
import re
import shutil
from datetime import timedelta

import pytest

from tests import records
from tests.conftest import PROGRAM, Tree, small_house
from tests.notebooks import fake
from tools import gate, record

PATH = "small/right.py"
LOUD = PROGRAM.format(more='# raises = "RuntimeError"\n')
BLOCK = '\n```python\n--8<-- "small/{name}.py:main"\n```\n'


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Tree:
    """A small house that may be published: committed, built, run on a CPU and on a GPU."""
    house = small_house(tmp_path_factory.mktemp("gate") / "sound")
    house.write("snippets/small/wrong/loud.py", LOUD)
    house.write("snippets/small/wrong/loud.out", "total: 3\nRuntimeError: no\n")
    house.write("snippets/small/only.py", PROGRAM.format(more='# devices = ["cpu"]\n'))
    house.write("snippets/small/only.out", "total: 3\n")
    for lang in ("en", "fr", "de"):
        for name in ("wrong/loud", "only"):
            with (house.root / f"docs/{lang}/amp.md").open("a") as page:
                page.write(BLOCK.format(name=name))
    house.write("tests/pages/commands.yml", "make test: runs this test\n")
    rebuilt(house)
    return house


@pytest.fixture
def house(sound, tmp_path) -> Tree:
    """A copy of it, to plant a fault in."""
    shutil.copytree(sound.root, tmp_path / "house", symlinks=True)
    return Tree(tmp_path / "house")


def faults(house: Tree, **options) -> list[str]:
    return gate.check(house.root / "site", house.root, **options)


def html(lang: str, page: str = "amp/") -> str:
    return f"site/{lang}/{page}index.html"


def rebuilt(house: Tree) -> None:
    """Run the programs of the house again, from a new commit, and build it again."""
    house.commit()
    for device in ("cpu", "cuda"):
        records.stamp(house.root, device)
    fake.all_runs(house.root)
    build(house)


def build(house: Tree) -> None:
    built = house.run("tools.build")
    assert built.returncode == 0, built.stderr


def again(house: Tree) -> None:
    """Commit what was changed and say in the records, falsely, that they are of that commit."""
    house.commit()
    for device in ("cpu", "cuda"):
        file = records.file(house.root, device)
        fields = json.loads(file.read_text())
        record.write(fields | {"commit": record.commit(house.root)}, file)


def edited(house: Tree, device: str, old: str, new: str) -> None:
    """Edit a record by hand."""
    file = records.file(house.root, device)
    house.edit(file.relative_to(house.root).as_posix(), old, new)


# --- the faults: each function plants the one that is its name; the decorator has what is said ---

PLANTED = []


def refused(*says: str, **options):
    """Register a function that plants a fault; each of `says` matches a line of the gate."""

    def register(plant):
        PLANTED.append(pytest.param(plant, says, options, id=plant.__name__))
        return plant

    return register


@refused(r"docs/fr/amp.md:1: its notebook is not woven .* \(cell top_1\); build the site again$")
def a_page_was_edited_and_its_notebook_not_woven_again(house):
    house.edit("docs/fr/amp.md", "title: Lesson", "title: Leçon")
    again(house)


@refused(
    r"docs/en/amp.md:1: its notebook has no run of its code .*; run: make notebooks, build the"
)
def a_notebook_was_not_run(house):
    shutil.rmtree(house.root / "build/notebooks")
    build(house)


@refused(
    r"build/notebooks/amp-\w+.ipynb:1: no notebook of a run .*; remove it, then run: make note"
)
def a_run_of_a_notebook_is_corrupt(house):
    for run in (house.root / "build/notebooks").glob("*.ipynb"):
        run.write_text(run.read_text()[:-9])


@refused(r"verification/cuda.json: there is no record of cuda.*make verify DEVICE=cuda$")
def a_record_is_missing(house):
    records.file(house.root, "cuda").unlink()


@refused(r"no record of cpu.*DEVICE=cpu$", r"no record of cuda.*DEVICE=cuda$")
def all_records_are_missing(house):
    shutil.rmtree(house.root / "build")


@refused(r"verification/cuda.json: empty; run: make verify DEVICE=cuda$")
def a_record_is_empty(house):
    records.file(house.root, "cuda").write_text("")


@refused(r"cuda.json: truncated or no JSON \(line \d+: .*\); run: make verify DEVICE=cuda$")
def a_record_is_truncated(house):
    file = records.file(house.root, "cuda")
    file.write_text(file.read_text()[: file.stat().st_size // 2])


@refused(r"cpu.json: was changed after it was written; run: make verify DEVICE=cpu$")
def a_record_is_edited_by_hand(house):
    records.stamp(house.root, "cpu", program=PATH, outcome="failed", reason="printed 4")
    edited(
        house,
        "cpu",
        '"outcome": "failed",\n   "reason": "printed 4"',
        '"outcome": "passed",\n   "reason": null',
    )


@refused(r"cpu.json: was changed after it was written; run")
def the_hash_in_a_record_is_edited_to_fit_the_program(house):
    old = record.sha256(house.root / "snippets" / PATH)
    house.edit(f"snippets/{PATH}", "range(3)", "range(4)")
    house.commit()
    for device in ("cpu", "cuda"):
        edited(house, device, old, record.sha256(house.root / "snippets" / PATH))


@refused(r"cuda.json: of schema 0, this is schema 1; run: make verify DEVICE=cuda$")
def a_record_has_an_older_schema(house):
    edited(house, "cuda", '"schema": 1', '"schema": 0')


@refused(r"cuda.json: of schema 2, this is schema 1; run")
def a_record_has_a_newer_schema(house):
    edited(house, "cuda", '"schema": 1', '"schema": 2')


@refused(r"cuda.json: driver is missing; run")
def a_field_of_a_record_is_missing(house):
    edited(house, "cuda", ' "driver": "580.159.04",\n', "")


@refused(r"cuda.json: approved is no field of schema 1; run")
def a_record_has_a_field_that_nobody_reads(house):
    edited(house, "cuda", ' "driver"', ' "approved": true,\n "driver"')


@refused(r"cuda.json: programs\['small/right.py'\].outcome can't be \"fine\"; run")
def an_outcome_is_none_of_those_there_are(house):
    made = records.fields(house.root, "cuda")
    made["programs"][PATH]["outcome"] = "fine"
    made["digest"] = record.digest(made)
    records.file(house.root, "cuda").write_text(json.dumps(made))


@refused(r"cuda.json: programs\['small/right.py'\] needs a reason, or passed and has one; run")
def a_failure_has_no_reason(house):
    made = records.fields(house.root, "cuda")
    made["programs"][PATH]["outcome"] = "failed"
    made["digest"] = record.digest(made)
    records.file(house.root, "cuda").write_text(json.dumps(made))


@refused(r"cuda.json: 'schema' stands there twice; run")
def a_field_stands_in_a_record_twice(house):
    edited(house, "cuda", '"schema": 1', '"schema": 1,\n "schema": 1')


@refused(r"cuda.json: not UTF-8; write it again with make verify$")
def a_record_is_no_text(house):
    records.file(house.root, "cuda").write_bytes(b"\xff\xfe\x00")


@refused(r"verification/result.txt: no name of a record; call it after its device class")
def another_file_lies_among_the_records(house):
    (house.root / "build/verification/result.txt").write_text("passed")


@refused(r"cuda.json: older than the commit that it names \(20.*\); run: make verify DEVICE=cuda$")
def a_record_is_older_than_its_commit(house):
    times = dict.fromkeys(("started", "finished"), "2020-01-01T00:00:00Z")
    records.stamp(house.root, "cuda", **times)


@refused(r"cuda.json: from the future .*set the machine's clock, then run: make verify")
def a_record_is_from_the_future(house):
    records.stamp(house.root, "cuda", finished="2999-01-01T00:00:00Z")


@refused(r"cuda.json: it ended before it began; set the machine's clock")
def a_run_ended_before_it_began(house):
    records.stamp(house.root, "cuda", started="2998-01-01T00:00:00Z")


@refused(
    r"cpu.json: of commit \w{9}, published would be \w{9}; run: make verify DEVICE=cpu$",
    r"cuda.json: of commit \w{9}, published would be \w{9}; run: make verify DEVICE=cuda$",
)
def the_records_are_of_another_commit(house):
    house.commit()


@refused(r"cuda.json: of commit 0{9}, published would be")
def two_records_are_of_two_commits(house):
    records.stamp(house.root, "cuda", commit="0" * 40)


@refused(r"cuda.json: it names no commit; run in a clone")
def a_run_was_outside_of_a_clone(house):
    records.stamp(house.root, "cuda", commit=None)


@refused(r"cuda.json: uncommitted changes when it ran \(snippets/small/right.py\); commit, then")
def a_run_was_on_a_dirty_tree(house):
    records.stamp(house.root, "cuda", dirty=[f"snippets/{PATH}"])


@refused(r"^docs/en/amp.md: differs from the commit; commit it or take it back")
def the_tree_is_dirty(house):
    house.edit("docs/en/amp.md", "See", "Look at")


@refused(r"^notes.txt: differs from the commit; commit it or take it back")
def a_new_file_is_not_committed(house):
    house.write("notes.txt", "x")


@refused(r"^\.: no commit that git can read; publish from a clone$")
def the_house_is_no_clone(house):
    shutil.rmtree(house.root / ".git")


@refused(
    r"cpu.json: snippets/small/right.py or its output is not what ran, shown by docs/de/amp.md, "
    r"docs/de/index.md, docs/en/amp.md.*; run: make verify DEVICE=cpu$",
    r"cuda.json: snippets/small/right.py or its output is not what ran",
)
def a_program_is_edited_by_a_byte_after_the_run(house):
    house.edit(f"snippets/{PATH}", '"""Print a sum."""', '"""Print a sum"""')
    again(house)


@refused(r"cpu.json: snippets/small/right.py or its output is not what ran")
def a_section_is_moved_after_the_run(house):
    start = "# --8<-- [start:main]\n"
    house.edit(f"snippets/{PATH}", f"{start}total = 0\n", f"total = 0\n{start}")
    again(house)


@refused(r"docs/en/amp.md:\d+: a block is not what small/right.py:main holds .*; embed the section")
def a_section_is_moved_after_the_build(house):
    start = "# --8<-- [start:main]\n"
    house.edit(f"snippets/{PATH}", f"{start}total = 0\n", f"total = 0\n{start}")
    house.commit()
    for device in ("cpu", "cuda"):
        records.stamp(house.root, device)


@refused(r"cuda.json: snippets/small/right.py or its output is not what ran")
def an_output_is_edited_after_the_run(house):
    house.edit("snippets/small/right.out", "3", "4")
    again(house)


@refused(r"cuda.json: snippets/small/right.py or its output is not what ran")
def an_output_for_one_device_is_added_after_the_run(house):
    house.write("snippets/small/right.cuda.out", "total: 3\n")
    again(house)


@refused(r"cuda.json: snippets/small/right.py was skipped, which is not a pass \(too few\).*run")
def a_program_was_skipped(house):
    records.stamp(house.root, "cuda", program=PATH, outcome="skipped", reason="too few")


@refused(r"cuda.json: snippets/small/right.py failed \(printed 4\).*; mend the program or the page")
def a_program_failed(house):
    records.stamp(house.root, "cuda", program=PATH, outcome="failed", reason="printed 4")


@refused(r"cuda.json: snippets/small/wrong/loud.py failed \(ended without an error\)")
def a_wrong_program_did_not_fail(house):
    failed = {"outcome": "failed", "reason": "ended without an error"}
    records.stamp(house.root, "cuda", program="small/wrong/loud.py", **failed)


@refused(r"cuda.json: snippets/small/right.py was left out, though it is made for this device")
def a_program_was_left_out_that_the_device_could_run(house):
    records.stamp(house.root, "cuda", program=PATH, outcome="excluded", reason="not wanted")


@refused(
    r"cuda.json: snippets/small/right.py has no run, shown by .*; run: make verify DEVICE=cuda"
)
def an_entry_is_missing(house):
    made = records.fields(house.root, "cuda")
    del made["programs"][PATH]
    record.write(made, records.file(house.root, "cuda"))


@refused(r"cpu.json: snippets/small/extra.py has no run, shown by docs/fr/index.md; run")
def an_entry_is_missing_that_one_language_alone_shows(house):
    house.write("snippets/small/extra.py", PROGRAM.format(more=""))
    house.write("snippets/small/extra.out", "total: 3\n")
    with (house.root / "docs/fr/index.md").open("a") as page:
        page.write(BLOCK.format(name="extra"))
    rebuilt(house)
    for device in ("cpu", "cuda"):
        made = records.fields(house.root, device)
        del made["programs"]["small/extra.py"]
        record.write(made, records.file(house.root, device))


@refused(
    r"cuda.json: is the record of a run on cpu; call it cpu.json, and for cuda run: make verify"
)
def a_cpu_record_is_offered_as_cuda(house):
    shutil.copy(records.file(house.root, "cpu"), records.file(house.root, "cuda"))


@refused(
    r"cuda.json: torch found cpu in place of cuda; mend the driver or the build of torch",
    r"cuda.json: snippets/small/right.py ran on another device \(cpu\)",
)
def a_cpu_record_is_rewritten_as_cuda(house):
    made = records.fields(house.root, "cpu") | {"device": "cuda"}
    record.write(made, records.file(house.root, "cuda"))


@refused(r"cuda.json: snippets/small/right.py ran on another device \(cpu\), shown by .*; run")
def the_driver_broke_and_one_program_ran_on_the_cpu(house):
    records.stamp(house.root, "cuda", program=PATH, ran_on="cpu", device_bytes=None)


@refused(
    r"cuda.json: no program held any memory of the cuda, so all ran on the CPU; mend the driver"
)
def the_driver_broke_and_every_program_ran_on_the_cpu(house):
    made = records.fields(house.root, "cuda")
    for entry in made["programs"].values():
        entry["device_bytes"] = 0
    record.write(made, records.file(house.root, "cuda"))


@refused(r"cuda.json: no driver is recorded, so no accelerator worked; make verify DEVICE=cuda$")
def the_gpu_had_no_driver(house):
    records.stamp(house.root, "cuda", driver=None)


@refused(r"cuda.json: no backend of torch's build is recorded, so no accelerator worked")
def torch_was_built_for_the_cpu_alone(house):
    records.stamp(house.root, "cuda", backend=None)


@refused(r"cuda.json: there was no cuda on the machine; run on one that has it: make verify")
def the_machine_had_no_gpu(house):
    made = records.fields(house.root, "cuda", found=None, device_name=None, device_count=0)
    for entry in made["programs"].values():
        if entry["outcome"] == "passed":
            entry |= {"outcome": "skipped", "reason": "no cuda", "ran_on": None}
    record.write(made, records.file(house.root, "cuda"))


@refused(
    r"cpu-again.json: snippets/small/right.py failed, but passed in .*/cpu.json; find out why it "
    r"changes, remove one record, then: make verify DEVICE=cpu$",
    r"cpu-again.json: snippets/small/right.py failed \(printed 4\)",
)
def two_records_of_one_device_disagree(house):
    failed = {"outcome": "failed", "reason": "printed 4"}
    records.stamp(house.root, "cpu", "cpu-again", program=PATH, **failed)


@refused(
    r"cuda.json: of torch 2.12.1\+cu130, .*/cpu.json is 2.13; run make verify DEVICE=cuda with"
)
def two_records_are_of_two_torch_series(house):
    records.stamp(house.root, "cuda", torch="2.12.1+cu130")


@refused(r"cpu.json: of torch 2.13.0\+cpu, what is published is 2.12; run", version="2.12")
def the_version_is_not_what_was_run(house):
    pass


@refused(r"cpu-2.11.json: snippets/small/right.py failed \(no such argument\)")
def an_older_torch_that_we_offer_a_record_of_fails(house):
    failed = {"outcome": "failed", "reason": "no such argument"}
    records.stamp(house.root, "cpu", "cpu-2.11", program=PATH, **failed)


@refused(
    r"cpu.json: snippets/small/only.py ran and no page shows it; show it or remove it, then run"
)
def a_snippet_is_no_longer_shown(house):
    for lang in ("en", "fr", "de"):
        house.edit(f"docs/{lang}/amp.md", BLOCK.format(name="only"), "")
    rebuilt(house)


@refused(r"snippets/small/only.py:1: no such snippet; .* \(shown by docs/de/amp.md, docs/en/amp.md")
def a_snippet_that_is_shown_is_gone(house):
    (house.root / "snippets/small/only.py").unlink()
    again(house)


@refused(r"docs/fr/amp.md:\d+: a block that nothing tests: 'loss.backward\(\)'; embed a section")
def a_page_shows_code_of_its_own(house):
    house.edit(html("fr"), "<h2", "<pre><code>loss.backward()\n</code></pre><h2")


@refused(r"docs/en/index.md:\d+: a block that nothing tests: 'x = 1'; embed a section")
def a_page_shows_code_of_its_own_that_is_spelled_in_another_way(house):
    with (house.root / "docs/en/index.md").open("a") as page:
        page.write("\n<pre>x = 1</pre>\n")
    rebuilt(house)


@refused(r"docs/de/amp.md:\d+: code within a line that has two lines")
def a_page_hides_code_in_a_line(house):
    house.edit(html("de"), "<h2", "<p><code>a = 1\nb = 2</code></p><h2")


@refused(r"docs/en/amp.md:\d+: a block that nothing tests: 'rm -rf /'; .*commands.yml")
def a_page_shows_a_command_that_no_test_knows(house):
    house.edit(html("en"), "<h2", "<pre><code>rm -rf /\n</code></pre><h2")


@refused(r"docs/en/amp.md:\d+: a block is not what small/right.out holds .*; embed the output")
def a_page_shows_an_output_that_is_another(house):
    house.edit(html("en"), "total: 3", "total: 4")


@refused(r"docs/en/amp.md:1: in the page's source but not shown: \[\('small/only.py', 'main'\)\]")
def a_page_lost_a_block_when_it_was_rendered(house):
    file = house.root / html("en")
    text = file.read_text("utf-8")
    block = re.search(
        r'<div class="highlight" data-snippet="small/only.py".*?</pre></div>', text, re.S
    )
    file.write_text(text.replace(block[0], ""), "utf-8")


@refused(r"^fr/404.html:1: a block that nothing tests: 'x = 1'; remove it$")
def a_page_that_has_no_source_shows_code(house):
    house.edit("site/fr/404.html", "</main>", "<pre>x = 1</pre></main>")


@refused(r"docs/de/amp.md:1: the page was not built; build the site again$")
def a_page_was_not_built(house):
    shutil.rmtree(house.root / "site/de/amp")


@refused(r"^docs/fr: the language has no pages; write them, or remove it$")
def a_language_has_no_pages(house):
    shutil.rmtree(house.root / "docs/fr")
    again(house)


@refused(r"docs/de/amp.md:1: a badge says 'Nicht geprüft', and the records do not; build the site")
def the_site_was_built_before_the_run(house):
    kept = [records.file(house.root, device) for device in ("cpu", "cuda")]
    texts = [file.read_text() for file in kept]
    shutil.rmtree(house.root / "build")
    build(house)
    for file, text in zip(kept, texts, strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@refused(r"docs/en/amp.md:1: a badge says 'Verified: all', and the records do not; build the site")
def a_badge_is_made_up(house):
    file = house.root / html("en")
    text = re.sub(r"<summary>Verified: .*?<", "<summary>Verified: all<", file.read_text("utf-8"))
    file.write_text(text, "utf-8")


@refused(r"docs/fr/index.md:1: a badge says 'nothing', and the records do not; build the site")
def a_page_lost_its_badges(house):
    house.edit(html("fr", ""), 'class="listing-record', 'class="lost')


@refused(r"^site: no page shows any program; build the whole site$", r"the page was not built")
def there_is_no_site(house):
    shutil.rmtree(house.root / "site")


@refused(r"^pyproject.toml: no device classes are required; pyproject.toml must say, under \[tool")
def no_device_is_required(house):
    house.edit("pyproject.toml", "required-devices", "wanted-devices")
    again(house)


@refused(r"^pyproject.toml: required-devices can't be \[\]; pyproject.toml must say")
def an_empty_list_of_devices_is_required(house):
    house.edit("pyproject.toml", '["cpu", "cuda"]', "[]")
    again(house)


@refused(r"verification/xpu.json: there is no record of xpu, which pyproject.toml requires; run")
def another_device_is_required(house):
    house.edit("pyproject.toml", '["cpu", "cuda"]', '["cpu", "cuda", "xpu"]')
    again(house)


@refused(r"snippets/small/only.py: runs on cpu alone, which pyproject.toml does not require")
def a_program_runs_on_no_required_device(house):
    house.edit("pyproject.toml", '["cpu", "cuda"]', '["cuda"]')
    again(house)


@refused(r"snippets/small/right.cuda.out: no required device prints this output, shown by docs/de")
def an_output_of_a_device_that_is_not_required_is_shown(house):
    house.edit("pyproject.toml", '["cpu", "cuda"]', '["cpu"]')
    house.write("snippets/small/right.cuda.out", "total: 3\n")
    house.edit("docs/de/amp.md", "right.out", "right.cuda.out")
    rebuilt(house)
    records.file(house.root, "cuda").unlink()


@pytest.mark.parametrize("plant, says, options", PLANTED)
def test_a_planted_fault_is_refused(house, plant, says, options):
    plant(house)
    found = faults(house, **options)
    for pattern in says:
        assert any(re.search(pattern, line) for line in found), "\n".join(found)
    # Each is one line: what and where, and after a semicolon what to do.
    assert all("\n" not in line and re.search(r"^[^:]+: ?.*; \S", line) for line in found)


def test_there_are_at_least_thirty():
    assert len(PLANTED) >= 30


def test_what_was_checked_passes(house):
    assert faults(house) == []
    assert faults(house, version="2.13") == []


def test_records_of_other_versions_may_come_with_it(house):
    records.stamp(house.root, "cpu", "cpu-2.11", torch="2.11.0+cpu")
    build(house)
    assert faults(house) == []


def test_a_version_that_is_no_torch_series_may_mix_them(house):
    records.stamp(house.root, "cuda", torch="2.12.1+cu130")
    build(house)
    assert faults(house, version="dev") == []


def test_the_clocks_of_two_machines_may_be_minutes_apart(house):
    early = record.commit_time(house.root) - timedelta(minutes=20)
    times = dict.fromkeys(("started", "finished"), early.strftime("%Y-%m-%dT%H:%M:%SZ"))
    records.stamp(house.root, "cpu", **times)
    build(house)
    assert faults(house) == []


def test_a_device_that_is_not_required_needs_no_record(house):
    house.edit("pyproject.toml", '["cpu", "cuda"]', '["cpu"]')
    again(house)
    records.file(house.root, "cuda").unlink()
    build(house)
    assert faults(house) == []


def test_the_command_builds_the_site_and_ends_with_what_it_found(house):
    shutil.rmtree(house.root / "site")
    done = house.run("tools.gate", "--version", "2.13")
    assert (done.returncode, done.stderr) == (0, "")
    assert "every block was checked on cpu, cuda at" in done.stdout
    records.file(house.root, "cuda").unlink()
    house.edit("docs/en/amp.md", "small/right.py:main", "small/right.py:absent")
    house.commit()
    records.stamp(house.root, "cpu")
    done = house.run("tools.gate")
    assert done.returncode == 1
    assert re.search(r"docs/en/amp.md:\d+: .*has no such section", done.stderr)
    house.git("revert", "--no-edit", "HEAD")
    records.stamp(house.root, "cpu")
    done = house.run("tools.gate")
    assert done.returncode == 1
    assert "no record of cuda" in done.stderr
    assert done.stderr.endswith("1 fault: this may not be published\n")
