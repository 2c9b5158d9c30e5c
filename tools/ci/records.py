"""Take the records of this commit from where the workflows left them.

    python -m tools.ci.records [--wait MINUTES] [DEVICE...]

writes build/verification/<device>.json for each device that pyproject.toml requires, or that is
named. A record is taken only if it is attested:
made on main, of exactly this commit, by the workflow that makes it, and signed on a hosted machine.
"""

import argparse
import io
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from tools.ci import Refused, api, gh, repository
from tools.languages import ROOT

PAUSE = 30  # seconds between two looks
GOING_ON = {"queued", "in_progress", "waiting", "pending", "requested"}


def workflow(device: str) -> str:
    """Return the file of the workflow that makes the record of `device`."""
    return "checks.yml" if device == "cpu" else "gpu.yml"


def artifacts(repo: str, device: str, commit: str) -> list[dict]:
    """Return the records of `device` that runs of this repository's main made of `commit`."""
    listed = api(f"repos/{repo}/actions/artifacts?name=record-{device}&per_page=100")["artifacts"]
    of_main = []
    for artifact in listed:
        run = artifact["workflow_run"]  # of a pull request it may name another repository
        ours = run["head_repository_id"] == run["repository_id"]
        if ours and run["head_branch"] == "main" and run["head_sha"] == commit:
            of_main.append(artifact)
    return sorted(of_main, key=lambda artifact: artifact["created_at"], reverse=True)


def content(repo: str, artifact: dict, device: str) -> bytes:
    """Return the one file that an artifact holds. Raises Refused if that is another one."""
    packed = gh("api", f"repos/{repo}/actions/artifacts/{artifact['id']}/zip", text=False)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        if archive.namelist() != [f"{device}.json"]:
            raise Refused(f"the artifact holds {archive.namelist()} instead of {device}.json")
        return archive.read(f"{device}.json")


def verify(file: Path, repo: str, device: str, commit: str) -> None:
    """Check the attestation of a record. Raises Refused without a right one."""
    # fmt: off
    gh(
        "attestation", "verify", str(file), "--repo", repo,
        "--signer-workflow", f"{repo}/.github/workflows/{workflow(device)}",
        "--source-digest", commit, "--source-ref", "refs/heads/main",
        "--deny-self-hosted-runners",
    )
    # fmt: on


def take(repo: str, device: str, commit: str, folder: Path) -> None:
    """Write the newest attested record of `device` into `folder`.

    Raises Refused, with the reason, if there is none.
    """
    why = f"no run on main left a record of {device} for {commit[:12]}"
    for artifact in artifacts(repo, device, commit):
        if artifact["expired"]:
            why = f"the record of {device} for {commit[:12]} has been deleted, for its age"
            continue
        with tempfile.TemporaryDirectory(dir=folder, prefix=".taking-") as aside:
            file = Path(aside, f"{device}.json")
            try:
                file.write_bytes(content(repo, artifact, device))
                verify(file, repo, device, commit)
            except Refused as error:
                why = f"the record of {device} for {commit[:12]} is not attested: {error}"
                continue
            os.replace(file, folder / file.name)
            return
    raise Refused(why)


def going_on(repo: str, device: str, commit: str) -> bool:
    """Whether a run that may leave the record is still under way."""
    path = f"repos/{repo}/actions/workflows/{workflow(device)}/runs?branch=main&head_sha={commit}"
    return any(run["status"] in GOING_ON for run in api(path)["workflow_runs"])


def take_all(repo: str, devices: list[str], commit: str, folder: Path, wait: float) -> list[str]:
    """Take the record of each device, waiting `wait` seconds at most; return the faults."""
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + wait
    missing, faults = list(devices), {}
    while missing:
        for device in list(missing):
            # Asked before the look: a run that ends between the two has left its record.
            hope = going_on(repo, device, commit)
            try:
                take(repo, device, commit, folder)
            except Refused as error:
                faults[device] = str(error)
                if hope and time.monotonic() < end:
                    continue
            else:
                faults.pop(device, None)
            missing.remove(device)
        if missing:
            print(f"waiting for the record of {', '.join(missing)}", flush=True)
            time.sleep(PAUSE)
    return [
        f"{fault}; run it again there: gh workflow run {workflow(device)} --ref main"
        if workflow(device) == "gpu.yml"
        else f"{fault}; run checks.yml of that commit again, or push to main"
        for device, fault in faults.items()
    ]


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("--wait", type=float, default=0, help="minutes to wait for runs under way")
    cli.add_argument("device", nargs="*")
    a = cli.parse_args()
    from tools.record import required_devices

    devices = a.device or required_devices()
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True, cwd=ROOT).strip()
    folder = ROOT / "build" / "verification"
    try:
        faults = take_all(repository(), devices, commit, folder, a.wait * 60)
    except Refused as error:
        sys.exit(str(error))
    if faults:
        sys.exit("\n".join(faults))
    print(f"took the records of {', '.join(devices)} for {commit[:12]}")


if __name__ == "__main__":
    main()
