"""The workflows are clean, and each thing that could go wrong with one is found."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflows import house
from tools.languages import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def checkers() -> list[str]:
    """The commands with which `make lint` reads the workflows, as it would run them."""
    said = subprocess.run(["make", "-n", "lint"], cwd=ROOT, capture_output=True, text=True)
    script = said.stdout.replace("\\\n", " ").splitlines()
    found = [line for line in script if re.search(r"bin/(actionlint|zizmor)\b", line)]
    assert len(found) == 2, "make lint reads the workflows with actionlint and zizmor"
    return [line.replace(".venv/bin/", f"{Path(sys.executable).parent}/") for line in found]


CHECKERS = checkers()


def said(folder: Path, command: str) -> str:
    """What a checker finds in the repository `folder`, "" if nothing."""
    quiet = os.environ | {"NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=quiet,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr if done.returncode else ""


@pytest.fixture
def copy(tmp_path):
    """A repository with a copy of the workflows, to be spoiled."""
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def spoil(folder: Path, name: str, old: str, new: str) -> None:
    file = folder / ".github" / name
    text = file.read_text("utf-8")
    assert old in text, f"{name} has changed: mend this test"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_workflows_are_those_of_the_house():
    assert house.load(WORKFLOWS).keys() == {
        "checks.yml",
        "gpu.yml",
        "nightly.yml",
        "publish.yml",
    }


@pytest.mark.parametrize("command", CHECKERS, ids=["actionlint", "zizmor"])
def test_the_checkers_find_nothing(command):
    assert said(ROOT, command) == ""


def test_the_rules_of_the_house_find_nothing():
    assert house.faults(WORKFLOWS, TARGETS) == []


CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
GPU_ENVIRONMENT = (
    "    environment: ${{ github.event_name == 'pull_request' && 'gpu-pull-request' || 'gpu' }}\n"
)


@pytest.mark.parametrize(
    ("name", "old", "new", "finds"),
    [
        ("checks.yml", "runs-on: ubuntu-24.04", "runs-on: ubuntu-99", "label"),
        ("checks.yml", "needs: [test, record", "needs: [test, recrod", "does not exist"),
        ("checks.yml", "|| github.sha", "|| github.shaa", '"shaa" is not defined'),
        ("checks.yml", "contents: read", "content: read", "unknown permission scope"),
        ("checks.yml", "merge_group:", "merge_grup:", "unknown Webhook event"),
        ("checks.yml", "    runs-on: ubuntu-24.04\n", "", '"runs-on" section is missing'),
        ("gpu.yml", "[self-hosted, linux, gpu]", "[self-hosted, linux, gup]", '"gup" is unknown'),
        ("nightly.yml", '"41 2 * * *"', '"99 2 * * *"', "cron"),
        ("publish.yml", "queue: max", "queue: all", 'invalid value "all" for "queue"'),
        ("publish.yml", "needs: [records, notebooks]", "need: [records]", 'unexpected key "need"'),
    ],
)
def test_actionlint_finds(copy, name, old, new, finds):
    spoil(copy, f"workflows/{name}", old, new)
    assert finds in said(copy, CHECKERS[0])


@pytest.mark.parametrize(
    ("name", "old", "new", "finds"),
    [
        ("workflows/checks.yml", "  pull_request:\n", "  pull_request_target:\n", "dangerous-tri"),
        ("workflows/checks.yml", CHECKOUT, "actions/checkout@v7", "unpinned-uses"),
        ("workflows/checks.yml", "persist-credentials: false", "fetch-depth: 1", "artipacked"),
        ("workflows/checks.yml", "run: make test", "run: echo ${{ github.head_ref }}", "template-"),
        ("workflows/checks.yml", "permissions: {}", "permissions: write-all", "excessive-perm"),
        ("workflows/gpu.yml", " # zizmor: ignore[self-hosted-runner]", "", "self-hosted-runner"),
        ("workflows/gpu.yml", "uses: $/.github", "uses: ./.github", "self-repository"),
        ("workflows/publish.yml", "contents: write #", "contents: write\n      #", "undocumented"),
        (
            "workflows/gpu.yml",
            "run: make verify DEVICE=cuda",
            'run: echo "A=${{ github.event.pull_request.title }}" >> "$GITHUB_ENV"',
            "template-injection",
        ),
        ("dependabot.yml", "    cooldown: {default-days: 7}\n", "", "dependabot-cooldown"),
    ],
)
def test_zizmor_finds(copy, name, old, new, finds):
    spoil(copy, name, old, new)
    assert finds in said(copy, CHECKERS[1])


@pytest.mark.parametrize(
    ("name", "old", "new", "finds"),
    [
        ("checks.yml", "run: make test", "run: pytest", "`pytest` is no make target"),
        ("checks.yml", "run: make test", "run: make tests", "no target tests"),
        ("checks.yml", "run: make test", "run: make test; rm -rf x", "is no make target"),
        ("checks.yml", CHECKOUT, CHECKOUT[:-9], "pin it by its full hash"),
        ("checks.yml", CHECKOUT, CHECKOUT.replace("@3d3c", "@3d3d"), "two pins"),
        ("checks.yml", "      contents: read", "      contents: write", "may write contents"),
        ("checks.yml", "    timeout-minutes: 60\n", "", "has no timeout-minutes"),
        ("checks.yml", "persist-credentials: false", "fetch-depth: 1", "leaves its token"),
        ("checks.yml", "permissions: {}\n", "", "begin with `permissions: {}`"),
        ("checks.yml", "run: make test", "run: make test\n        env: {K: '${{ secrets.K }}'}",
         "reads a secret"),
        ("checks.yml", "  pull_request:\n", "  pull_request_target:\n", "strangers can reach"),
        ("checks.yml", "  pull_request:\n", "  workflow_run:\n", "strangers can reach"),
        ("gpu.yml", GPU_ENVIRONMENT, "", "without an approval"),
        ("gpu.yml", GPU_ENVIRONMENT, "    environment: gpu\n", "without an approval"),
        ("gpu.yml", "      - name: Start with an empty workspace\n        run: find "
         '"$GITHUB_WORKSPACE" -mindepth 1 -delete\n', "", "does not begin with an empty"),
        ("gpu.yml", "        if: ${{ always() }}\n", "", "leaves its workspace behind"),
        ("gpu.yml", "      contents: read\n", "      contents: read\n      id-token: write\n",
         "reads contents, and no more"),
        ("publish.yml", "      actions: read", "      actions: write", "may write actions"),
        ("gpu.yml", "overwrite: true", "retention-days: 9", "fails when the job is repeated"),
    ],
)  # fmt: skip
def test_the_rules_of_the_house_find(copy, name, old, new, finds):
    spoil(copy, f"workflows/{name}", old, new)
    found = house.faults(copy / ".github" / "workflows", TARGETS)
    assert any(finds in fault for fault in found), found


def test_all_green_waits_for_every_job_and_only_for_success():
    jobs = house.load(WORKFLOWS)["checks.yml"]["jobs"]
    green = jobs["green"]
    assert set(green["needs"]) == jobs.keys() - {"green", "attest"}
    assert green["if"] == "${{ always() }}", "else a failure would leave it skipped, which passes"
    command = green["steps"][0]["run"]
    for results, passes in [
        (["success"] * len(green["needs"]), True),
        (["success", "success", "skipped"], False),
        (["success", "failure", "success"], False),
        (["cancelled", "success", "success"], False),
        (["success", "success"], False),
    ]:
        done = subprocess.run(["bash", "-c", command], env={"RESULTS": " ".join(results)})
        assert (done.returncode == 0) == passes, results


def test_every_pull_request_is_checked_without_a_filter():
    assert house.load(WORKFLOWS)["checks.yml"]["on"]["pull_request"] is None


def test_a_waiting_release_is_never_cancelled():
    jobs = house.load(WORKFLOWS)["publish.yml"]["jobs"]
    assert jobs["publish"]["concurrency"] == {
        "group": "publish",
        "queue": "max",
        "cancel-in-progress": False,
    }


def test_only_main_and_tags_are_published():
    workflow = house.load(WORKFLOWS)["publish.yml"]
    assert workflow["on"]["push"] == {"tags": ["v*"]}
    only = "github.ref == 'refs/heads/main' || startsWith(github.ref, 'refs/tags/v')"
    assert workflow["jobs"]["records"]["if"] == only
    assert workflow["jobs"]["publish"]["needs"] == ["records", "notebooks"]
    assert "if" not in workflow["jobs"]["publish"], "an `if` could run it after a refusal"


def test_what_is_published_is_gated_then_looked_at():
    steps = house.load(WORKFLOWS)["publish.yml"]["jobs"]["publish"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        "make gate",
        "make release",
        "make published",
    ]
    # Only the step that pushes can.
    assert [step["run"] for step in steps if "GH_TOKEN" in step.get("env", {})] == ["make release"]


def test_only_records_of_main_are_attested_and_never_on_our_own_machine():
    for name in ("checks.yml", "gpu.yml"):
        job = house.load(WORKFLOWS)[name]["jobs"]["attest"]
        assert "github.ref == 'refs/heads/main'" in job["if"]
        assert job["runs-on"] == "ubuntu-24.04"
        assert not any("checkout" in step.get("uses", "") for step in job["steps"])


def test_the_environment_is_cached_where_nothing_is_published():
    for name, workflow in house.load(WORKFLOWS).items():
        cached = "actions/cache" in str(workflow["jobs"])
        assert cached == (name == "checks.yml")
