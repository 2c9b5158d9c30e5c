"""What the workflows ask of the repository's host: records, releases, lists and the one issue."""

import base64
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest

from tools.ci import Refused, gh, published, records, release, report

REPO = "someone/lessons"
FAKE = Path(__file__).with_name("fake_gh.py")
COMMIT = "c" * 40
OTHER = "d" * 40


class Host:
    """The state of the host that the stand-in for `gh` answers from."""

    def __init__(self, file: Path):
        self.file = file
        self.save({"artifacts": [], "runs": {}, "attestations": [], "issues": [], "calls": []})

    @property
    def state(self) -> dict:
        return json.loads(self.file.read_text("utf-8"))

    def save(self, state: dict) -> None:
        self.file.write_text(json.dumps(state), encoding="utf-8")

    def record(self, device="cuda", text=b"{}", inside=None, attested=True, **changes) -> None:
        """Leave a record, right in everything that `changes` does not change."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(inside or f"{device}.json", text)
        workflow = "checks.yml" if device == "cpu" else "gpu.yml"
        state = self.state
        number = len(state["artifacts"])
        state["artifacts"].append(
            {
                "id": number,
                "name": f"record-{device}",
                "expired": changes.get("expired", False),
                "created_at": f"2026-11-{number + 1:02}T00:00:00Z",
                "packed": base64.b64encode(packed.getvalue()).decode(),
                "workflow_run": {
                    "repository_id": 1,
                    "head_repository_id": changes.get("head_repository_id", 1),
                    "head_branch": changes.get("head_branch", "main"),
                    "head_sha": changes.get("head_sha", COMMIT),
                },
            }
        )
        if attested:
            claim = {
                "sha256": hashlib.sha256(text).hexdigest(),
                "repo": REPO,
                "workflow": f"{REPO}/.github/workflows/{workflow}",
                "digest": COMMIT,
                "ref": "refs/heads/main",
                "hosted": True,
            }
            state["attestations"].append(claim | changes.get("claim", {}))
        self.save(state)

    def running(self, workflow: str, *statuses: str) -> None:
        """Have a run of a workflow answer with these statuses, one a look."""
        self.save(self.state | {"runs": self.state["runs"] | {workflow: list(statuses)}})


@pytest.fixture
def host(tmp_path, monkeypatch) -> Host:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "gh"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_GH", str(tmp_path / "host.json"))
    monkeypatch.setattr(records, "PAUSE", 0)
    return Host(tmp_path / "host.json")


def test_without_gh_one_is_told_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="there is no `gh` here: install"):
        gh("api", "x")


# Records


def taken(tmp_path, *devices, wait=0.0) -> tuple[list[str], dict[str, bytes]]:
    folder = tmp_path / "verification"
    faults = records.take_all(REPO, list(devices), COMMIT, folder, wait)
    assert not [file for file in folder.iterdir() if file.name.startswith(".")], "left over"
    return faults, {file.name: file.read_bytes() for file in folder.iterdir()}


def test_attested_records_of_this_commit_are_taken(host, tmp_path):
    host.record("cpu", b'{"on": "cpu"}')
    host.record("cuda", b'{"on": "cuda"}')
    faults, files = taken(tmp_path, "cpu", "cuda")
    assert faults == []
    assert files == {"cpu.json": b'{"on": "cpu"}', "cuda.json": b'{"on": "cuda"}'}


def test_the_newest_of_several_is_taken(host, tmp_path):
    host.record(text=b'{"n": 1}')
    host.record(text=b'{"n": 2}')
    assert taken(tmp_path, "cuda")[1] == {"cuda.json": b'{"n": 2}'}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"attested": False}, "is not attested"),
        ({"claim": {"sha256": "0" * 64}}, "is not attested"),
        ({"claim": {"digest": OTHER}}, "is not attested"),
        ({"claim": {"ref": "refs/pull/1/merge"}}, "is not attested"),
        ({"claim": {"workflow": f"{REPO}/.github/workflows/evil.yml"}}, "is not attested"),
        ({"claim": {"hosted": False}}, "is not attested"),
        ({"inside": "cpu.json"}, "instead of cuda.json"),
        ({"inside": "../../cuda.json"}, "instead of cuda.json"),
        ({"head_sha": OTHER}, "no run on main left a record of cuda for cccc"),
        ({"head_branch": "feature"}, "no run on main left a record"),
        ({"head_repository_id": 2}, "no run on main left a record"),
        ({"expired": True}, "has been deleted, for its age"),
        ({"device": "cpu"}, "no run on main left a record of cuda"),
    ],
)
def test_no_other_record_is_taken(host, tmp_path, changes, why):
    host.record(**changes)
    faults, files = taken(tmp_path, "cuda")
    assert files == {}
    assert len(faults) == 1
    assert why in faults[0]
    assert "gh workflow run gpu.yml --ref main" in faults[0]


def test_a_forged_newer_record_does_not_hide_the_right_one(host, tmp_path):
    host.record(text=b'{"right": true}')
    host.record(text=b'{"right": false}', attested=False)
    assert taken(tmp_path, "cuda") == ([], {"cuda.json": b'{"right": true}'})


def test_a_record_that_is_still_being_made_is_waited_for(host, tmp_path, monkeypatch):
    host.running("gpu.yml", "queued", "waiting", "in_progress", "completed")
    looks = []
    monkeypatch.setattr(
        records.time, "sleep", lambda _: looks.append(1) or len(looks) == 3 and host.record()
    )
    assert taken(tmp_path, "cuda", wait=60)[0] == []
    assert len(looks) == 3


def test_nobody_waits_for_a_record_that_no_run_is_making(host, tmp_path):
    host.running("gpu.yml", "completed")
    assert "no run on main left" in taken(tmp_path, "cuda", wait=3600)[0][0]


def test_waiting_ends(host, tmp_path):
    host.running("gpu.yml", *["queued"] * 1000)
    assert "no run on main left" in taken(tmp_path, "cuda", wait=0.2)[0][0]


# Releases


@pytest.mark.parametrize(
    ("tag", "others", "stands_for"),
    [
        ("", {"2.13"}, ("dev", "")),
        ("v2.13", set(), ("2.13", "latest")),
        ("v2.13", {"2.9", "2.13"}, ("2.13", "latest")),
        ("v2.13.4", {"2.12", "2.13"}, ("2.13", "latest")),
        ("v2.9.1", {"2.9", "2.13"}, ("2.9", "")),
    ],
)
def test_a_tag_stands_for_a_version_and_an_older_one_is_not_latest(tag, others, stands_for):
    assert release.version(tag, others) == stands_for


@pytest.mark.parametrize(
    "tag", ["2.13", "v2", "v2.13-rc1", "v2.13.1.1", "v2.13;ls", "v$(ls)", "V2.1"]
)
def test_another_tag_is_refused(tag):
    with pytest.raises(release.Refused, match="names no version: call it v2.13"):
        release.version(tag, set())


def git(folder: Path, *args: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *who, *args], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def remote(tmp_path) -> Path:
    """A bare repository with a main, and a clone of it beside."""
    bare, clone = tmp_path / "remote.git", tmp_path / "clone"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    git(tmp_path, "clone", "-q", str(bare), str(clone))
    git(clone, "commit", "-q", "--allow-empty", "-m", "one")
    git(clone, "push", "-q", "origin", "HEAD:main")
    return bare


def test_main_is_published_only_at_its_tip(remote, tmp_path):
    clone = tmp_path / "clone"
    assert release.overtaken(clone) is None
    git(clone, "commit", "-q", "--allow-empty", "-m", "two")
    git(clone, "push", "-q", "origin", "HEAD:main")
    tip = git(clone, "rev-parse", "HEAD")
    git(clone, "checkout", "-q", "HEAD^")
    assert release.overtaken(clone) == tip


@pytest.mark.parametrize(
    ("tag", "behind", "does"),
    [
        ("v2.13", False, "make publish VERSION=2.13 ALIAS=latest"),
        ("v2.11.3", False, "make publish VERSION=2.11"),
        ("", False, "make publish VERSION=dev"),
        ("", True, "dev is left to the run of that commit"),
        ("v2.13", True, "make publish VERSION=2.13 ALIAS=latest"),
    ],
)
def test_what_a_checkout_is_published_as(remote, tmp_path, monkeypatch, capsys, tag, behind, does):
    clone = tmp_path / "clone"
    git(clone, "tag", "v2.12")
    git(clone, "push", "-q", "--tags")
    if behind:
        git(clone, "commit", "-q", "--allow-empty", "-m", "two")
        git(clone, "push", "-q", "origin", "HEAD:main")
        git(clone, "checkout", "-q", "HEAD^")
    monkeypatch.setenv("TAG", tag)
    monkeypatch.setattr(release, "tagged", partial(release.tagged, clone))
    monkeypatch.setattr(release, "overtaken", partial(release.overtaken, clone))
    monkeypatch.setattr(release.os, "execvp", lambda _, command: print(*command))
    release.main()
    assert capsys.readouterr().out.strip().endswith(does)


# Lists


def lists(remote: Path, tmp_path: Path, files: dict[str, str]) -> list[str]:
    """Publish `files` and return what is wrong with them, for the tags that the remote has."""
    pages = tmp_path / "pages"
    git(tmp_path, "init", "-q", str(pages))
    for path, text in files.items():
        (pages / path).parent.mkdir(parents=True, exist_ok=True)
        (pages / path).write_text(text)
    git(pages, "add", "-A")
    git(pages, "commit", "-q", "-m", "pages")
    tags = release.tagged(tmp_path, str(remote))
    return published.faults(pages, "HEAD", ["en", "fr"], tags)


def site(**versions: dict[str, list[str]]) -> dict[str, str]:
    """The files of a published branch: versions with their aliases, by language."""
    files = {"index.html": "root"}
    for lang, theirs in versions.items():
        listed = [{"version": v, "title": v, "aliases": a} for v, a in theirs.items()]
        files[f"{lang}/versions.json"] = json.dumps(listed)
        files[f"{lang}/index.html"] = "redirect"
        for version, aliases in theirs.items():
            for name in (version, *aliases):
                files[f"{lang}/{name}/index.html"] = "home"
                files[f"{lang}/{name}/amp/index.html"] = "lesson"
    return files


WHOLE = {"2.13": ["latest"], "2.12": [], "dev": []}


def test_a_whole_branch_has_no_fault(remote, tmp_path):
    git(tmp_path / "clone", "tag", "v2.12")
    git(tmp_path / "clone", "tag", "v2.13.1")
    git(tmp_path / "clone", "tag", "a-note")
    git(tmp_path / "clone", "push", "-q", "--tags")
    assert lists(remote, tmp_path, site(en=WHOLE, fr=WHOLE)) == []


def test_a_release_that_was_lost_is_named(remote, tmp_path):
    git(tmp_path / "clone", "tag", "v2.14")
    git(tmp_path / "clone", "push", "-q", "--tags")
    found = lists(remote, tmp_path, site(en=WHOLE, fr=WHOLE))
    assert len(found) == 2
    assert found[0].startswith(
        "en/versions.json lacks 2.14, which a tag stands for: run publish.yml"
    )


@pytest.mark.parametrize(
    ("spoil", "finds"),
    [
        (lambda f: f.pop("fr/versions.json"), "fr/versions.json is missing"),
        (lambda f: f.update({"fr/versions.json": "[{"}), "is no list of versions"),
        (lambda f: f.update({"fr/versions.json": '{"2.13": 1}'}), "is no list of versions"),
        (lambda f: [f.pop(p) for p in list(f) if "fr/2.12/" in p], "fr/2.12/ is in the list, but"),
        (lambda f: [f.pop(p) for p in list(f) if "fr/latest/" in p], "fr/latest/ is in the list"),
        (lambda f: f.update({"fr/2.11/index.html": ""}), "fr/2.11/ has pages, but is in no list"),
        (
            lambda f: f.update(site(fr={"2.13": ["latest"], "dev": []})),
            "fr/versions.json lacks 2.12",
        ),
        (lambda f: f.update(site(en=WHOLE | {"3.0": []})), "fr/versions.json lacks 3.0"),
        (
            lambda f: f.update(site(fr={"2.13": [], "2.12": ["latest"], "dev": []})),
            "gives 2.13 other aliases",
        ),
    ],
)
def test_a_list_that_is_not_whole_is_found(remote, tmp_path, spoil, finds):
    files = site(en=WHOLE, fr=WHOLE)
    spoil(files)
    found = lists(remote, tmp_path, files)
    assert any(finds in fault for fault in found), found


# The one issue

FAILED = """\
<?xml version="1.0"?>
<testsuites><testsuite name="torch 2.14.0, accelerate 2.0" tests="2">
<testcase classname="tests.snippets.test_programs" name="test_program_prints_its_out[amp/train.py]">
<failure message="short">snippets/amp/train.out:3: expected 4
``` printed 5</failure></testcase>
<testcase classname="tests.snippets.test_amp" name="test_it_learns" />
</testsuite></testsuites>
"""
PASSED = FAILED.replace("<failure", "<system-out").replace("</failure", "</system-out")


@pytest.fixture
def against(tmp_path) -> Path:
    (tmp_path / "newest.xml").write_text(PASSED)
    (tmp_path / "oldest.xml").write_text(PASSED)
    return tmp_path


BOTH = ["newest", "oldest"]


def test_nothing_broke(host, against):
    assert report.body(against, BOTH) is None
    assert report.report(None) == "nothing broke"
    assert host.state["issues"] == []


def test_one_issue_names_what_broke_and_is_updated_then_closed(host, against):
    (against / "newest.xml").write_text(FAILED)
    text = report.body(against, BOTH, "https://host.example/run/1")
    assert "## newest: torch 2.14.0, accelerate 2.0" in text
    assert "`test_programs::test_program_prints_its_out[amp/train.py]`" in text
    assert "````text\nsnippets/amp/train.out:3: expected 4\n``` printed 5\n````" in text
    assert "https://host.example/run/1" in text
    assert "oldest:" not in text
    assert "at home: `make against TORCH=newest`." in text
    assert report.report(text) == "opened an issue"
    assert report.report(text + "more") == "updated #1"
    (issue,) = host.state["issues"]
    assert issue["body"] == text + "more"
    assert issue["labels"] == ["nightly"]
    assert report.report(None) == "nothing broke, closed #1"
    assert not host.state["issues"][0]["open"]
    assert report.report(text) == "opened an issue"


def test_a_second_issue_of_the_name_is_closed_and_others_are_left(host, against):
    state = host.state
    for title in ("Other", report.TITLE, report.TITLE):
        number = len(state["issues"]) + 1
        one = {"number": number, "title": title, "labels": ["nightly"], "body": "", "open": True}
        state["issues"].append(one)
    host.save(state)
    assert report.report("broke") == "updated #2"
    assert [issue["open"] for issue in host.state["issues"]] == [True, True, False]
    assert [issue["body"] for issue in host.state["issues"]] == ["", "broke", ""]


@pytest.mark.parametrize("spoil", ["missing", "truncated", "empty"])
def test_a_run_that_left_no_whole_report_is_named_too(against, spoil):
    file = against / "oldest.xml"
    if spoil == "missing":
        file.unlink()
    else:
        file.write_text("" if spoil == "empty" else FAILED[:200])
    assert "## oldest\n\nThe run ended before it could test" in report.body(against, BOTH)


def test_the_launches_are_reported_with_their_own_command(against):
    (against / "launches.xml").write_text(FAILED)
    text = report.body(against, [*BOTH, "launches"])
    assert "at home: `make launches`." in text and "## launches: " in text
    (against / "launches.xml").unlink()
    assert "## launches\n\nThe run ended" in report.body(against, [*BOTH, "launches"])


def test_a_report_of_no_test_is_not_a_pass(against):
    (against / "oldest.xml").write_text('<testsuites><testsuite name="torch 2.11"/></testsuites>')
    assert "## oldest\n\nThe run ended before" in report.body(against, BOTH)


def test_a_long_failure_is_shortened(against):
    long = FAILED.replace("expected 4", "\n".join(f"line {n}" for n in range(100)))
    (against / "newest.xml").write_text(long)
    text = report.body(against, BOTH)
    assert "line 10" in text
    assert "line 50" not in text


def test_the_issue_is_not_longer_than_the_host_takes(against):
    case = FAILED[FAILED.index("<testcase") : FAILED.index("</testcase>") + len("</testcase>")]
    many = "".join(
        case.replace("amp/train.py", f"amp/train_{n}.py").replace("expected 4", "x" * 900)
        for n in range(200)
    )
    (against / "newest.xml").write_text(FAILED.replace(case, many))
    text = report.body(against, BOTH)
    assert len(text) < 65_000
    assert "more, which the run shows." in text
