"""`make verify`: what happened stands in the record, as what it is."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import PROGRAM, Tree
from tests.snippets import runner, verify
from tools import record
from tools.snippets import ROOT, load

PATH = "small/right.py"
GPU = {
    "found": "cuda",
    "device_name": "NVIDIA H200",
    "device_count": 1,
    "driver": "580.159.04",
    "torch": "2.13.0+cu130",
    "backend": "CUDA 13.0",
    "accelerate": None,
    "numpy": None,
    "python": "3.12.3",
    "system": "Linux",
}


@pytest.fixture
def house(tmp_path) -> Tree:
    """A repository with one program, committed."""
    house = Tree(tmp_path / "house")
    house.write(".gitignore", "/build/\n")
    house.write(f"snippets/{PATH}", PROGRAM.format(more=""))
    house.write("snippets/small/right.out", "total: 3\n")
    house.commit()
    return house


def ran(house: Tree, device: str = "cpu") -> tuple[record.Record, int]:
    """Run the command; return the record that it wrote, read again, and what it ended with."""
    code = verify.main(["--device", device, "--root", str(house.root)])
    return record.read(house.root / f"build/verification/{device}.json", house.root), code


def test_a_run_of_what_is_committed_is_sound(house, capsys):
    made, code = ran(house)
    entry = made.programs[PATH]
    assert (code, record.doubts(made)) == (0, [])
    assert record.standing(made, load(PATH, house.root / "snippets")) == "passed"
    assert entry["printed_sha256"] == entry["out_sha256"]
    assert (entry["ran_on"], entry["device_bytes"]) == ("cpu", None)
    assert 0 <= entry["seconds"] < 10  # rounded to thousandths
    assert (made.commit, made.dirty) == (house.git("rev-parse", "HEAD"), [])
    assert made.torch.startswith("2.") and made.python and made.device_name
    assert "1 passed" in capsys.readouterr().out


def test_a_device_that_is_missing_is_recorded_as_missing(house, capsys):
    made, code = ran(house, "cuda")
    assert code == 1
    assert (made.device, made.found, made.device_name) == ("cuda", None, None)
    assert made.programs[PATH]["outcome"] == "skipped"
    assert made.programs[PATH]["reason"] == "no cuda on this machine"
    assert record.standing(made, load(PATH, house.root / "snippets")) == "missing"
    assert "there was no cuda on the machine" in capsys.readouterr().err


@pytest.mark.parametrize(
    "old, new, reason",
    [
        ("total += number", "total += 2 * number", "does not print right.out on cpu"),
        ("total += number", "raise SystemExit(3)", "ended with SystemExit"),
        ("total += number", "import os; os._exit(3)", "the process died with code 3"),
        ("total = 0", "import warnings; warnings.warn('x'); total = 0", "ended with UserWarning"),
    ],
)
def test_a_program_that_fails_is_recorded_as_failed(house, capsys, old, new, reason):
    house.edit(f"snippets/{PATH}", old, new)
    house.commit()
    made, code = ran(house)
    assert code == 1
    assert made.programs[PATH]["outcome"] == "failed"
    assert reason in made.programs[PATH]["reason"]
    assert reason in capsys.readouterr().err


def test_a_program_without_an_output_has_not_passed(house):
    (house.root / "snippets/small/right.out").unlink()
    house.commit()
    made, code = ran(house)
    assert (code, made.programs[PATH]["outcome"]) == (1, "failed")
    assert made.programs[PATH]["out_sha256"] is None


def test_a_change_that_is_not_committed_is_recorded(house, capsys):
    house.write("notes.txt", "x")
    made, _ = ran(house)
    assert made.dirty == ["notes.txt"]
    assert record.standing(made, load(PATH, house.root / "snippets")) == "dirty"
    assert "this record proves nothing: uncommitted changes" in capsys.readouterr().err


def test_a_change_during_the_run_is_recorded(house):
    house.edit(f"snippets/{PATH}", "total = 0", "import time; time.sleep(1); total = 0")
    house.commit()
    writer = threading.Thread(target=lambda: (time.sleep(0.3), house.write("late.txt", "x")))
    writer.start()
    made, _ = ran(house)
    writer.join()
    assert made.dirty == ["late.txt"]


def test_outside_of_a_clone_no_commit_is_recorded(tmp_path, house):
    (house.root / ".git").rename(tmp_path / "elsewhere")
    made, _ = ran(house)
    assert made.commit is None
    assert record.standing(made, load(PATH, house.root / "snippets")) == "dirty"


def test_what_a_program_is_not_made_for_is_excluded_and_too_few_devices_skip_it(house):
    def why(more: str) -> tuple[str, str] | None:
        house.write(f"snippets/{PATH}", PROGRAM.format(more=more))
        return verify.why_not(load(PATH, house.root / "snippets"), "cuda", GPU)

    assert why('# devices = ["cpu"]\n') == ("excluded", "runs on cpu")
    assert why("# ranks = 2\n") == ("skipped", "needs 2 cuda devices, found 1")
    assert why("# gpus = 4\n") == ("skipped", "needs 4 cuda devices, found 1")
    assert why("# ranks = 2\n# gpus = 1\n") is None
    assert why("") is None


def test_a_program_of_several_ranks_is_recorded_by_what_all_of_them_print(house):
    house.write(f"snippets/{PATH}", PROGRAM.format(more="# ranks = 2\n"))
    made, code = ran(house)
    assert (code, made.programs[PATH]["outcome"]) == (1, "failed"), "it prints once for each rank"
    house.write("snippets/small/right.out", "total: 3\n" * 2)
    house.commit()
    made, code = ran(house)
    entry = made.programs[PATH]
    assert (code, entry["outcome"], entry["ranks"], entry["ran_on"]) == (0, "passed", 2, "cpu")
    assert entry["printed_sha256"] == entry["out_sha256"]


def test_a_gpu_job_that_runs_on_the_cpu_fails(house, monkeypatch):
    """The host saw a GPU, then the driver broke: each program's own process finds none."""
    monkeypatch.setattr(verify, "ask", lambda _: GPU)
    made, faults = verify.run("cuda", house.root / "build/verification/cuda.json", house.root)
    entry = made.programs[PATH]
    assert (entry["outcome"], entry["ran_on"]) == ("failed", "cpu")
    assert "ran on cpu in place of cuda; mend the driver" in faults[0]


def test_a_program_that_held_memory_of_the_gpu_is_recorded_with_it(house, monkeypatch):
    snippet = load(PATH, house.root / "snippets")
    seen = runner.Result(
        PATH, "cuda", "total: 3\n", "", None, "", False, 0.1, False, 0, 0.125, "cuda", 4096
    )
    monkeypatch.setattr(runner, "run", lambda *_: seen)
    entry, faults = verify.verify(snippet, "cuda", GPU)
    assert faults == []
    assert (entry["outcome"], entry["ran_on"]) == ("passed", "cuda")
    assert (entry["device_bytes"], entry["seconds"]) == (4096, 0.125)


def test_a_run_that_is_killed_leaves_the_old_record(house):
    ran(house)
    file = house.root / "build/verification/cpu.json"
    before = file.read_bytes()
    house.edit(f"snippets/{PATH}", "total = 0", "import time; time.sleep(60); total = 0")
    command = [sys.executable, "-m", "tests.snippets.verify", "--root", str(house.root)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True)
    time.sleep(3)
    os.killpg(child.pid, 9)
    child.communicate()
    assert file.read_bytes() == before
    assert [p.name for p in (house.root / "build").rglob("*.json")] == ["cpu.json"]


def test_a_program_that_cant_be_read_gives_no_record(house, capsys):
    house.edit(f"snippets/{PATH}", "seconds", "secnds")
    assert verify.main(["--root", str(house.root)]) == 1
    assert "unknown key 'secnds'" in capsys.readouterr().err
    assert not (house.root / "build").exists()


def test_a_second_record_has_a_name_that_begins_with_its_device(house, capsys):
    assert verify.main(["--name", "cpu-2.11", "--root", str(house.root)]) == 0
    assert (house.root / "build/verification/cpu-2.11.json").exists()
    with pytest.raises(SystemExit):
        verify.main(["--name", "gpu", "--root", str(house.root)])
    assert "begins with its device" in capsys.readouterr().err


def test_it_needs_torch_and_none_of_the_sites_packages():
    code = "import sys, tests.snippets.verify; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"mkdocs", "markdown", "yaml", "pymdownx", "pytest", "pygments", "torch"}


def test_without_torch_it_says_which_python_has_none(house):
    bare = "import sys; sys.modules['torch'] = None; from tests.snippets import verify; verify.main"
    code = f"{bare}; sys.exit(verify.main(['--device', 'cuda', '--root', {str(house.root)!r}]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "has no torch; name a Python that has it: make verify DEVICE=cuda" in done.stderr


def made_by_make(*arguments: str) -> str:
    done = subprocess.run(
        ["make", "--dry-run", "verify", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    return done.stdout.strip().splitlines()[-1]


def test_make_installs_nothing_for_a_device():
    assert made_by_make("DEVICE=cuda").split()[0] == "python3"
    assert made_by_make("DEVICE=cuda", "PYTHON=mine").split()[0] == "mine"
    assert made_by_make().split()[0] == ".venv/bin/python"
    assert made_by_make("NAME=cpu-2.11", "PYTHON=mine").endswith("--device cpu --name cpu-2.11")


def test_the_release_of_the_driver_is_read_where_there_is_no_tool(tmp_path):
    text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"
    (tmp_path / "version").write_text(text)
    pattern = r"Module\s+(?:for \S+\s+)?(\d[\d.]+)"
    assert verify._first(pattern, tmp_path / "version") == "580.159.04"
    text = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar\n"
    (tmp_path / "version").write_text(text)
    assert verify._first(pattern, tmp_path / "version") == "550.54.15"
    assert verify._first(pattern, Path("/nowhere")) is None
