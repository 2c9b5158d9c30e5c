"""Records of runs that never were, for tests of what reads them: sound ones, and spoiled ones."""

from pathlib import Path

from tools import record
from tools.snippets import load_all

MACHINES = {
    "cpu": {"device_name": "A Processor", "driver": None, "backend": None, "torch": "2.13.0+cpu"},
    "cuda": {
        "device_name": "NVIDIA H200",
        "driver": "580.159.04",
        "backend": "CUDA 13.0",
        "torch": "2.13.0+cu130",
    },
}


def fields(root: Path, device: str, **changed) -> dict:
    """What a run of all programs of the repository `root` on `device` would record, all passed."""
    programs = {}
    for snippet in load_all(root / "snippets"):
        out = snippet.out_path(device)
        programs[snippet.path] = {
            "sha256": snippet.sha256,
            "out": out.relative_to(root / "snippets").as_posix(),
            "out_sha256": record.sha256(out),
            "printed_sha256": record.sha256(out),
            "ranks": 1,
            "outcome": "passed",
            "reason": None,
            "ran_on": device,
            "device_bytes": None if device == "cpu" else 4096,
            "seconds": 0.25,
        }
        if device not in snippet.lesson["devices"]:
            left = {"outcome": "excluded", "reason": "runs elsewhere"}
            nothing = dict.fromkeys(("printed_sha256", "ran_on", "device_bytes", "seconds"))
            programs[snippet.path] |= left | nothing
    return {
        "schema": record.SCHEMA,
        "device": device,
        "found": device,
        "device_count": 1,
        **MACHINES[device],
        "accelerate": "1.15.0",
        "numpy": "2.4.6",
        "python": "3.12.3",
        "system": "Linux 6.18 x86_64",
        "commit": record.commit(root),
        "dirty": [],
        "started": record.now(),
        "finished": record.now(),
        "programs": programs,
    } | changed


def file(root: Path, name: str) -> Path:
    """Where the record `name` of the repository `root` is."""
    return root / "build" / "verification" / f"{name}.json"


def stamp(root: Path, device: str, name: str | None = None, program: str = "", **changed) -> None:
    """Write a record; with `program`, the changes are those of its entry."""
    made = fields(root, device)
    (made["programs"][program] if program else made).update(changed)
    record.write(made, file(root, name or device))
