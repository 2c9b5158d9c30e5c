"""Run every program on one device and write the record of it (``make verify DEVICE=cuda``).

    python -m tests.snippets.verify [--device cpu] [--name cpu-2.11]

Needs this repository and a Python that has torch and numpy, nothing else, and no network. What is
recorded is what happened: a device that is not there, a program that was skipped and a change that
is not committed stand in the record as that. tools/record.py has the form of the record.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.snippets import compare, runner
from tools import record
from tools.snippets import ROOT, Snippet, SnippetError, load_all

#: Programs that share one accelerator at a time: each holds a context of some hundred MiB.
ON_ACCELERATOR = 4


def driver(device: str, torch) -> str | None:
    """The release of the accelerator's driver; None for the CPU, or if nothing tells."""
    if device == "cuda" and torch.version.hip:
        return _first(r"(\S+)", Path("/sys/module/amdgpu/version"))
    if device == "cuda":
        if tool := shutil.which("nvidia-smi"):
            query = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
            done = subprocess.run(query, capture_output=True, text=True)
            if done.returncode == 0 and (lines := done.stdout.split()):
                return lines[0]
        return _first(r"Module\s+(?:for \S+\s+)?(\d[\d.]+)", Path("/proc/driver/nvidia/version"))
    if device == "mps":
        return f"macOS {platform.mac_ver()[0]}"
    if device == "xpu":
        return getattr(torch.xpu.get_device_properties(0), "driver_version", None)
    return None


def _first(pattern: str, file: Path) -> str | None:
    with contextlib.suppress(OSError):
        found = re.search(pattern, file.read_text("utf-8", "replace"))
        return found[1] if found else None
    return None


def processor() -> str:
    """The name of the CPU."""
    named = _first(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo"))
    return (named or platform.processor() or platform.machine()).strip()


def version(package: str) -> str | None:
    """The version of an installed package; None without it."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def host(device: str) -> dict:
    """What the record says of this machine. Touches the device: for a process of its own."""
    import torch

    runner.use_device(device)
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    found = accelerator.type if accelerator else None
    name, count = None, 0
    if device == "cpu":
        found, name, count = "cpu", processor(), 1
    elif found == device:
        torch.ones(1, device=device).add(1).item()  # a device that can't add is not there
        count = torch.accelerator.device_count()
        module = torch.get_device_module(device)
        name = module.get_device_name() if hasattr(module, "get_device_name") else processor()
    built = {
        "CUDA": torch.version.cuda,
        "ROCm": torch.version.hip,
        "XPU": getattr(torch.version, "xpu", None),
    }
    backend = next((f"{kind} {number}" for kind, number in built.items() if number), None)
    return {
        "found": found,
        "device_name": name,
        "device_count": count,
        "driver": driver(device, torch) if found == device else None,
        "torch": torch.__version__,
        "backend": "Metal" if device == "mps" and found == device else backend,
        "accelerate": version("accelerate"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def _answer(device: str, answer) -> None:
    try:
        answer.send(host(device))
    except Exception as error:
        answer.send(f"{type(error).__name__}: {error}")


def ask(device: str) -> dict:
    """Return `host` from a child, so that this process never holds the device.

    A device that torch names and can't use counts as missing. Raises RuntimeError, with what torch
    said, if not even the CPU can be asked.
    """
    warm = runner.context()
    receiver, sender = warm.Pipe(duplex=False)
    child = warm.Process(target=_answer, args=(device, sender))
    child.start()
    sender.close()
    with contextlib.closing(receiver):
        try:
            found = receiver.recv()
        except EOFError:
            child.join()
            found = f"the process that asked torch died with code {child.exitcode}"
    child.join()
    if not isinstance(found, str):
        return found
    if device == "cpu":
        raise RuntimeError(found)
    print(f"no {device}: {found}", file=sys.stderr)
    left = {"found": None, "device_name": None, "device_count": 0, "driver": None}
    return ask("cpu") | left


def why_not(snippet: Snippet, device: str, found: dict) -> tuple[str, str] | None:
    """Return the outcome and the reason of a program that is not run; None for one that is."""
    if device not in snippet.lesson["devices"]:
        return "excluded", f"runs on {', '.join(snippet.lesson['devices'])}"
    if found["found"] != device:
        return "skipped", f"no {device} on this machine"
    if why := runner.too_few(snippet, device, found["device_count"]):
        return "skipped", why
    return None


def verify(snippet: Snippet, device: str, found: dict) -> tuple[dict, list[str]]:
    """Run a program if it can; return its entry in the record, and in full what went wrong."""
    out = snippet.out_path(device)
    entry = {
        "sha256": snippet.sha256,
        "out": out.relative_to(snippet.root).as_posix(),
        "out_sha256": record.sha256(out),
        "printed_sha256": None,
        "ranks": snippet.lesson["ranks"],
        "outcome": "passed",
        "reason": None,
        "ran_on": None,
        "device_bytes": None,
        "seconds": None,
    }
    if left := why_not(snippet, device, found):
        entry["outcome"], entry["reason"] = left
        return entry, []
    result = runner.run(snippet, device)
    faults = compare.faults(snippet, result)
    if result.ran_on not in (None, device):
        faults.append(
            f"{snippet.path}: ran on {result.ran_on} in place of {device}; "
            "mend the driver or the build of torch"
        )
    entry |= {
        "printed_sha256": hashlib.sha256(result.text.encode()).hexdigest(),
        "ran_on": result.ran_on,
        "device_bytes": result.device_bytes,
        "seconds": None if result.elapsed is None else round(result.elapsed, 3),
    }
    if faults:
        entry["outcome"] = "failed"
        entry["reason"] = faults[0].splitlines()[0].replace(f"{ROOT}/", "")[:300]
    return entry, faults


def run(device: str, file: Path, root: Path = ROOT) -> tuple[record.Record, list[str]]:
    """Run every program of the repository `root` on `device`; write and return the record.

    Returns with it what went wrong. Raises SnippetError for a program that can't be read, and
    RuntimeError if torch can't be asked; then no record is written.
    """
    snippets = load_all(root / "snippets")
    commit, dirty, started = record.commit(root), record.changes(root), record.now()
    found = ask(device)
    at_once = os.cpu_count() or 1
    if device != "cpu":
        at_once = min(at_once, ON_ACCELERATOR)
    with ThreadPoolExecutor(at_once) as pool:
        ran = list(pool.map(lambda snippet: verify(snippet, device, found), snippets))
    changed = sorted({*dirty, *record.changes(root)})
    if record.commit(root) != commit:
        changed.append(f"another commit than {commit} at the end")
    fields = {
        "schema": record.SCHEMA,
        "device": device,
        **found,
        "commit": commit,
        "dirty": changed,
        "started": started,
        "finished": record.now(),
        "programs": {s.path: entry for s, (entry, _) in zip(snippets, ran, strict=True)},
    }
    return record.write(fields, file), [fault for _, faults in ran for fault in faults]


def main(arguments: list[str] | None = None) -> int:
    """Run the command: 0 if all that this device can run has passed."""
    cli = argparse.ArgumentParser(prog="make verify", description=__doc__.splitlines()[0])
    cli.add_argument("--device", default="cpu", help="cpu, cuda, mps or xpu (default: cpu)")
    cli.add_argument("--name", help="of the record, for another one of this device: cpu-2.11")
    cli.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    chosen = cli.parse_args(arguments)
    name = f"{chosen.name or chosen.device}.json"
    named = record.NAME.match(name)
    if not named or named["device"] != chosen.device:
        cli.error(f"the name of a record begins with its device: {chosen.device}-2.11")
    try:
        import torch
    except ImportError as error:
        print(
            f"{error}: {sys.executable} has no torch; name a Python that has it: "
            f"make verify DEVICE={chosen.device} PYTHON=…",
            file=sys.stderr,
        )
        return 1
    if tuple(map(int, re.findall(r"\d+", torch.__version__)[:2])) < (2, 11):
        print(f"torch {torch.__version__} is too old, install 2.11 or newer", file=sys.stderr)
        return 1
    if chosen.device == "cpu":
        runner.hide_accelerators()
    root = chosen.root.resolve()
    file = root / "build" / "verification" / name
    try:
        written, faults = run(chosen.device, file, root)
    except (SnippetError, RuntimeError) as error:
        print(f"{error}\nno record was written", file=sys.stderr)
        return 1
    skipped = {
        path: entry["reason"]
        for path, entry in written.programs.items()
        if entry["outcome"] == "skipped"
    }
    if len(set(skipped.values())) == 1 < len(skipped):
        faults.append(f"{len(skipped)} programs skipped: {next(iter(skipped.values()))}")
    else:
        faults += [f"{path}: skipped: {reason}" for path, reason in skipped.items()]
    for fault in faults:
        print(fault, file=sys.stderr)
    counts = {
        outcome: sum(p["outcome"] == outcome for p in written.programs.values())
        for outcome in record.OUTCOMES
    }
    said = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    print(f"{written.device_name or 'no ' + chosen.device}, torch {written.torch}: {said}")
    doubts = record.doubts(written)
    for doubt in doubts:
        print(f"this record proves nothing: {doubt}", file=sys.stderr)
    print(f"wrote {file.relative_to(root)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
