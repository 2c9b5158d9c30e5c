"""Run the tests of the snippets against another torch than the one that constraints.txt names.

    python -m tools.against newest|oldest|VERSION

makes an environment of its own in build/against/<name>/, and leaves a report in
build/against/<name>.xml. `newest` takes the newest torch and accelerate there are, `oldest` the
oldest torch that the lessons claim. Needs nothing but Python: it installs what the tests need.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = "2.11"  # what the programs' `dependencies` say; a test holds this against them
VERSIONS = """
from importlib.metadata import version
print(", ".join(f"{name} {version(name)}" for name in ("torch", "accelerate")))
"""
_PINNED = re.compile(r"(torch|accelerate)==")


def wanted(name: str) -> list[str]:
    """Return what pip is asked for. Raises ValueError for a name that is no version."""
    if name == "newest":
        return ["--upgrade", "torch", "accelerate"]
    release = OLDEST if name == "oldest" else name
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", release):
        raise ValueError(f"{name!r} is no torch: say newest, oldest or a version such as 2.12")
    return [f"torch=={release}.*" if release.count(".") == 1 else f"torch=={release}", "accelerate"]


def constraints(name: str, pins: str) -> str:
    """Return the pins without those that this run is about."""
    free = _PINNED if name == "newest" else re.compile(r"torch==")
    return "".join(line for line in pins.splitlines(keepends=True) if not free.match(line))


def install(name: str, folder: Path) -> Path:
    """Make the environment `folder` and return its Python."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as pins:
        pins.write(constraints(name, (ROOT / "constraints.txt").read_text("utf-8")))
        pins.flush()
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        pip += ["--constraint", pins.name]
        subprocess.run([*pip, "pip"], check=True)  # one that knows dependency groups
        subprocess.run([*pip, *wanted(name), "--group", "test"], check=True, cwd=ROOT)
    return python


def main() -> None:
    """Run the command."""
    if len(sys.argv) != 2:
        sys.exit("say which torch: newest, oldest or a version such as 2.12")
    name = sys.argv[1]
    folder = ROOT / "build" / "against"
    report = folder / f"{name}.xml"
    report.unlink(missing_ok=True)
    try:
        wanted(name)
        python = install(name, folder / name)
    except ValueError as error:
        sys.exit(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(f"torch {name} could not be installed: {error}")
    used = subprocess.check_output([python, "-c", VERSIONS], text=True).strip()
    print(f"testing the snippets with {used}", flush=True)
    tests = [python, "-m", "pytest", "tests/snippets", "-n", str(os.cpu_count()), "-q"]
    # The programs and the claims; not the tests of the harness, which are about none of them.
    harness = ("test_harness", "test_launches", "test_mutants", "test_ranks")
    tests += [f"--ignore=tests/snippets/{test}.py" for test in harness]
    tests += [f"--junitxml={report}", "-o", f"junit_suite_name={used}"]
    sys.exit(subprocess.run(tests, cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
