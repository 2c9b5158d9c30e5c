"""The record of what ran: read whole or refused, written whole or not at all."""

import json
import os
import re

import pytest

from tests import records
from tests.conftest import PROGRAM
from tools import record
from tools.record import RecordError
from tools.snippets import load

PATH = "small/right.py"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "snippets/small").mkdir(parents=True)
    (tmp_path / "snippets" / PATH).write_text(PROGRAM.format(more=""))
    (tmp_path / "snippets/small/right.out").write_text("total: 3\n")
    return tmp_path


@pytest.fixture
def fields(root):
    return records.fields(root, "cuda", commit="a" * 40)


def standing(root, fields) -> str:
    made = record.write(fields, records.file(root, fields["device"]))
    return record.standing(made, load(PATH, root / "snippets"))


def test_what_was_written_is_read(root, fields):
    written = record.write(fields, records.file(root, "cuda"))
    found, faults = record.read_all(root / "build/verification", root)
    assert faults == []
    assert [one.fields for one in found] == [written.fields]
    assert (found[0].name, found[0].series, found[0].torch_release) == ("cuda", "2.13", "2.13.0")
    assert found[0].file == "build/verification/cuda.json"
    assert record.doubts(found[0]) == []


def test_no_folder_is_no_record(root):
    assert record.read_all(root / "build/verification", root) == ([], [])


def test_a_write_that_fails_leaves_the_old_record_and_nothing_else(root, fields, monkeypatch):
    file = records.file(root, "cuda")
    record.write(fields, file)
    before = file.read_bytes()
    with pytest.raises(RecordError, match="device_count can't be -1"):
        record.write(fields | {"device_count": -1}, file)

    def fails(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError):
        record.write(fields | {"driver": "1.0"}, file)
    assert file.read_bytes() == before
    assert [p.name for p in (root / "build").rglob("*") if p.is_file()] == ["cuda.json"]


@pytest.mark.parametrize("name", [*record.FIELDS, *record.PROGRAM])
def test_each_field_is_needed_and_has_its_form(root, fields, name):
    part = fields if name in record.FIELDS else fields["programs"][PATH]
    shown = name if name in record.FIELDS else f"programs['{PATH}'].{name}"
    if name == "digest":
        return
    kept = part[name]
    for wrong in (True, [3], {"x": 1} if name != "programs" else 3):
        part[name] = wrong
        with pytest.raises(RecordError, match=re.escape(shown) + "|of schema"):
            record.write(fields, records.file(root, "cuda"))
    del part[name]
    with pytest.raises(RecordError, match=re.escape(shown) + " is missing|of schema None"):
        record.write(fields, records.file(root, "cuda"))
    part[name] = kept


def test_each_field_is_explained_to_people():
    paper = (record.ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for name in [*record.FIELDS, *record.PROGRAM]:
        assert f"`{name}`" in paper, name
    assert f"schema {record.SCHEMA}" in paper


def test_a_record_that_holds_no_table_is_refused():
    for text in ("[]", "3", "null", '"passed"'):
        with pytest.raises(RecordError, match="of schema None"):
            record.parse(text, "cpu.json")


@pytest.mark.parametrize(
    "entry, state",
    [
        ({}, "passed"),
        ({"sha256": "0" * 64}, "changed"),
        ({"out_sha256": None}, "changed"),
        ({"out": "small/right.cuda.out"}, "changed"),
        ({"outcome": "failed", "reason": "x"}, "failed"),
        ({"outcome": "skipped", "reason": "x"}, "skipped"),
        ({"outcome": "excluded", "reason": "x"}, "excluded"),
        ({"ran_on": "cpu"}, "elsewhere"),
        ({"ran_on": None}, "elsewhere"),
        ({"device_bytes": 0}, "doubtful"),
    ],
)
def test_how_a_program_stands(root, fields, entry, state):
    fields["programs"][PATH] |= entry
    assert standing(root, fields) == state


@pytest.mark.parametrize(
    "changed, state",
    [
        ({"found": None}, "missing"),
        ({"dirty": ["x.py"]}, "dirty"),
        ({"commit": None}, "dirty"),
        ({"driver": None}, "doubtful"),
        ({"found": "cpu"}, "doubtful"),
        ({"programs": {}}, "absent"),
    ],
)
def test_what_is_wrong_with_a_record_is_wrong_with_its_programs(root, fields, changed, state):
    assert standing(root, fields | changed) == state


def test_what_git_says(tree, tmp_path):
    assert record.commit(tree.root) is None and record.commit_time(tree.root) is None
    assert record.changes(tree.root) == []
    tree.commit()
    assert re.fullmatch("[0-9a-f]{40}", record.commit(tree.root))
    assert record.changes(tree.root) == []
    tree.write("build/verification/cpu.json", "{}")  # ignored: what a run writes is no change
    tree.write("docs/en/new page.md", "x")
    tree.edit("docs/en/amp.md", "See", "Look")
    assert record.changes(tree.root) == ["docs/en/amp.md", "docs/en/new page.md"]


def test_no_git_is_no_commit(tree, monkeypatch):
    tree.commit()
    monkeypatch.setenv("PATH", "")
    assert record.commit(tree.root) is None


def test_a_record_is_one_json_object_that_people_can_read(root, fields):
    record.write(fields, records.file(root, "cuda"))
    lines = records.file(root, "cuda").read_text().splitlines()
    assert lines[1] == ' "schema": 1,'
    assert json.loads("\n".join(lines))["device_name"] == "NVIDIA H200"
