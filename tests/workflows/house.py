"""The rules that this house has for its workflows, beyond what actionlint and zizmor know."""

import re
from pathlib import Path

import yaml

#: Steps that are no make target: before there is a checkout, after it is gone, or a comparison.
PLAIN = {
    'find "$GITHUB_WORKSPACE" -mindepth 1 -delete',
    'test "$RESULTS" = "success success success"',
}
#: The jobs that may write, and what. Nobody else may.
WRITES = {
    ("checks.yml", "attest"): {"attestations", "id-token"},
    ("gpu.yml", "attest"): {"attestations", "id-token"},
    ("gpu.yml", "publish"): {"contents"},  # hands it on to publish.yml
    ("publish.yml", "publish"): {"contents"},
    ("nightly.yml", "report"): {"issues"},
}
RISKY = {"pull_request_target", "workflow_run", "issue_comment", "issues", "discussion"}
EMPTY = 'find "$GITHUB_WORKSPACE" -mindepth 1 -delete'
_PINNED = re.compile(
    r"uses: (?P<action>[\w./-]+)@(?P<hash>[0-9a-f]{40}) # (?P<tag>v\d+\.\d+\.\d+)$"
)


def load(folder: Path) -> dict[str, dict]:
    """Return each workflow of a folder by the name of its file; `on` under the key "on"."""
    found = {}
    for file in sorted(folder.glob("*.y*ml")):
        workflow = yaml.safe_load(file.read_text("utf-8"))
        workflow["on"] = workflow.pop(True)  # YAML 1.1 reads `on` as a boolean
        found[file.name] = workflow
    return found


def pins(folder: Path) -> dict[str, set[tuple[str, str]]]:
    """Return for each action the (hash, tag) that the workflows name; "" for an unpinned use."""
    found: dict[str, set] = {}
    for file in sorted(folder.glob("*.y*ml")):
        for line in file.read_text("utf-8").splitlines():
            if "uses:" not in line or "uses: $/" in line:
                continue
            match = _PINNED.search(line)
            action = "/".join(match["action"].split("/")[:2]) if match else line.strip()
            found.setdefault(action, set()).add(
                (match["hash"], match["tag"]) if match else ("", "")
            )
    return found


def faults(folder: Path, targets: set[str]) -> list[str]:
    """Return what in the workflows of `folder` breaks a rule; `targets` are the Makefile's."""
    found = []
    for action, named in pins(folder).items():
        if ("", "") in named:
            found.append(f"{action}: pin it by its full hash, with the tag beside (# v1.2.3)")
        elif len(named) > 1:
            found.append(f"{action}: two pins {sorted(named)}; take one")
    for name, workflow in load(folder).items():
        if workflow.get("permissions") != {}:
            found.append(f"{name}: begin with `permissions: {{}}` and give each job what it needs")
        if risky := RISKY & set(workflow["on"]):
            found.append(f"{name}: {', '.join(risky)} runs with rights that strangers can reach")
        if "secrets." in (folder / name).read_text("utf-8"):
            found.append(f"{name}: reads a secret; none is needed")
        for job_name, job in workflow["jobs"].items():
            found += _job(name, job_name, job, workflow["on"], targets)
    return found


def _job(name: str, job_name: str, job: dict, triggers, targets: set[str]) -> list[str]:
    at, found = f"{name}: {job_name}", []
    permissions = job.get("permissions")
    if not isinstance(permissions, dict):
        return [f"{at}: say its permissions one by one"]
    writes = {scope for scope, right in permissions.items() if right == "write"}
    if too_many := writes - WRITES.get((name, job_name), set()):
        found.append(f"{at}: may write {', '.join(sorted(too_many))}, and must not")
    if "uses" in job:
        return found
    if "timeout-minutes" not in job:
        found.append(f"{at}: has no timeout-minutes")
    for step in job["steps"]:
        run = step.get("run", "").strip()
        match = re.fullmatch(r"make (?P<target>[a-z]+)( [A-Z]+=[\w^.-]+)*", run)
        if run and run not in PLAIN and not match:
            found.append(f"{at}: `{run}` is no make target, so it cannot be run at home")
        if match and match["target"] not in targets:
            found.append(f"{at}: the Makefile has no target {match['target']}")
        checkout = step.get("uses", "").startswith("actions/checkout@")
        if checkout and step.get("with", {}).get("persist-credentials") is not False:
            found.append(f"{at}: leaves its token in the checkout")
        upload = step.get("uses", "").startswith("actions/upload-artifact@")
        if upload and step["with"].get("overwrite") is not True:
            found.append(
                f"{at}: an upload without `overwrite: true` fails when the job is repeated"
            )
    if "self-hosted" in job["runs-on"]:
        found += _own_machine(at, job, triggers)
    elif isinstance(job["runs-on"], list) or "gpu" in job["runs-on"]:
        found.append(f"{at}: say self-hosted")
    return found


def _own_machine(at: str, job: dict, triggers) -> list[str]:
    found = []
    if job["permissions"] != {"contents": "read"}:
        found.append(f"{at}: our own machine gets a token that reads contents, and no more")
    environment = str(job.get("environment", ""))
    asks = "github.event_name == 'pull_request' && 'gpu-pull-request'" in environment
    if "pull_request" in triggers and not asks:
        found.append(f"{at}: a pull request gets to our own machine without an approval")
    first, last = job["steps"][0], job["steps"][-1]
    if first.get("run") != EMPTY:
        found.append(f"{at}: does not begin with an empty workspace")
    if last.get("run") != EMPTY or last.get("if") != "${{ always() }}":
        found.append(f"{at}: leaves its workspace behind")
    return found
