"""The claims about running DDP: hangs, several machines, restarts, SLURM, sharding.

Commands are taken from the page and run as they stand there.
"""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace_json
from torch.distributed import run as torchrun

from tests.snippets import launches
from tests.snippets.conftest import ROOT
from tools import pages
from tools.snippets import ROOT as HOUSE
from tools.snippets import load_all


def blocks(wanted: str) -> list[str]:
    """The shell blocks of the page that contain `wanted`."""
    page = pages.parse((HOUSE / "docs/en/ddp.md").read_text("utf-8"), "en", "ddp", "docs/en/ddp.md")
    return [fence.body for fence in page.fences if fence.lang == "bash" and wanted in fence.body]


# Hangs


def test_the_time_out_ends_the_wait_with_an_error(ranks):
    waiting, other = ranks("ddp/hang_timeout.py")
    said = re.match(r"rank 0: after (\d+) s: Timed out waiting 1000ms", waiting["__stdout__"])
    assert 1 <= int(said[1]) <= 5
    assert other["__stdout__"] == "rank 1: still loads its data\n"


def test_without_a_time_out_gloo_waits_half_an_hour():
    assert dist.distributed_c10d.default_pg_timeout.total_seconds() == 30 * 60


def test_monitored_barrier_names_those_that_are_missing_and_no_others(ranks):
    said = [one["__stdout__"] for one in ranks("ddp/hang_barrier.py")]
    assert "Ranks 1, 3 failed" in said[0]
    assert said[1] == said[3] == ""
    assert "Rank 2 successfully reached" in said[2]


def test_a_rank_that_is_late_but_comes_in_time_is_not_named(changed):
    late = "time.sleep(0.2)\n    dist.monitored_barrier(watchers)"
    assert changed("ddp/hang_barrier.py", ("time.sleep(2)", late)) == ""


def test_a_gloo_group_is_there_beside_the_group_of_the_gradients(ranks):
    assert [one["__after__"] for one in ranks("ddp/hang_barrier.py", after=backend)] == ["gloo"] * 4


def backend(namespace):
    return dist.get_backend(namespace["watchers"])


def test_each_stack_shows_where_its_rank_stands(ranks):
    waiting, other = ranks("ddp/hang_stacks.py", names=["frames"])
    assert waiting["frames"][0] == "all_reduce" and "average_loss" in waiting["frames"]
    assert other["frames"][0] == "load_batch" and "average_loss" not in other["frames"]


def test_detail_finds_collectives_that_differ_and_no_debugging_does_not(ranks):
    for one in ranks("ddp/hang_debug.py"):
        assert "Detected mismatch between collectives" in one["__stdout__"]
    for one in ranks("ddp/wrong/collectives_crossed.py"):
        assert one["__exception__"] is None


def test_the_recorder_knows_what_was_called_and_what_has_ended(ranks):
    waiting, other = (one["__stdout__"].splitlines() for one in ranks("ddp/hang_record.py"))
    called = ["1 gloo:broadcast of [4] ended", "2 gloo:all_reduce of [3] ended"]
    assert other == [f"rank 1: {call}" for call in called]
    assert waiting[:2] == [f"rank 0: {call}" for call in called]
    assert waiting[2:] == ["rank 0: 3 gloo:all_reduce of [2, 2] never ended", "rank 0: timed out"]


def test_what_never_ended_fails_by_the_time_out_while_the_other_rank_is_there(changed):
    printed = changed(
        "ddp/hang_record.py",
        ("except RuntimeError:", "except RuntimeError as error:"),
        ('print("rank 0: timed out")', 'print("rank 0:", str(error).rpartition("] ")[2])'),
    )
    assert "\nrank 0: Timed out waiting 1500ms for" in printed


def test_the_recorder_keeps_the_last_2000_collectives(ranks):
    kept = ranks("ddp/wrong/loss_summed.py", after=recorded_of_many)
    assert [one["__after__"] for one in kept] == [(2000, 2100)] * 2


def recorded_of_many(namespace):
    for _ in range(2099):  # and one by the program
        dist.all_reduce(namespace["loss"])
    entries = json.loads(_dump_fr_trace_json())["entries"]
    return len(entries), entries[-1]["collective_seq_id"]


# Several machines, restarts, SLURM: the very commands of the page


def test_two_machines_meet():
    (command,) = blocks("--nnodes 2")
    (name,) = blocks("export HEAD=gpu")
    export = name.replace("gpu-1:29400", "localhost:$PORT")
    machine = f"{export}\n{command}"
    ended, _ = launches.as_printed([machine] * 2, [ROOT / "ddp/launch.py"])
    printed = "".join(out for out, _ in ended)
    told = sorted(
        re.findall(r"RANK=(\d) LOCAL_RANK=(\d) WORLD_SIZE=(\d) .* GROUP_RANK=(\d)", printed)
    )
    assert told == [("0", "0", "2", "0"), ("1", "0", "2", "1")]
    assert printed.count("the sum is 3") == 2


def test_node_rank_is_ignored_by_the_rendezvous_of_the_page():
    arguments = shlex.split(blocks("--nnodes 2")[0])[1:]
    assert torchrun.parse_args(arguments).rdzv_backend == "c10d"
    source = Path(torchrun.__file__).read_text("utf-8")
    assert "node_rank is only used for static rdzv_backend" in source


@pytest.fixture(scope="module")
def killed():
    """What the page's command prints whose rank 1 is killed in epoch 2, and its checkpoint."""
    ended, files = launches.as_printed(blocks("KILL_IN_EPOCH=2"), [ROOT / "ddp/elastic.py"])
    return ended[0][0], torch.load(io.BytesIO(files["elastic.pt"]))


@pytest.mark.xdist_group("killed")
def test_a_killed_rank_is_restarted_and_training_continues_from_the_checkpoint(killed):
    printed, _ = killed
    starts = [line for line in printed.splitlines() if line.startswith("start")]
    assert starts == ["start number 0, at epoch 0", "start number 1, at epoch 2"]
    epochs = re.findall(r"^epoch (\d)", printed, re.M)
    assert epochs == ["0", "1", "2", "3", "4"]


@pytest.mark.xdist_group("killed")
def test_after_a_restart_the_weights_are_those_of_the_undisturbed_run(killed, ranks):
    printed, checkpoint = killed
    undisturbed = ranks("ddp/elastic.py", names=["model"])[0]
    for name, weight in undisturbed["model"].items():
        assert torch.equal(weight, checkpoint["model"][name])
    lines = [line for line in printed.splitlines() if line.startswith("epoch")]
    assert lines == undisturbed["__stdout__"].splitlines()[1:]


def test_the_batches_of_an_epoch_do_not_depend_on_where_the_run_started(ranks, lesson, tmp_path):
    whole = lesson("ddp/elastic.py", names=["model", "inputs"], folder=tmp_path)
    saved = torch.load(tmp_path / "elastic.pt")
    assert saved["epoch"] == 4
    again = ranks("ddp/elastic.py", names=["model", "start"], folder=tmp_path)
    assert [one["start"] for one in again] == [5, 5]
    assert torch.equal(again[1]["model"]["weight"], whole[0]["model"]["weight"])


def test_a_file_that_a_program_looks_for_at_its_start_is_its_own():
    """Both run in one folder: it would go on from what another program has left there."""
    sources = {program.path: program.source for program in load_all(ROOT)}
    looked_for = [
        (path, name)
        for path, source in sources.items()
        for name in re.findall(r'exists\("([^"]+)"\)', source)
    ]
    assert len(looked_for) >= 2
    for path, name in looked_for:
        assert [p for p, source in sources.items() if f'"{name}"' in source] == [path]


def test_the_file_for_slurm_is_what_the_page_shows_and_has_no_mistake_of_syntax():
    file = ROOT / "ddp/train.sbatch"
    (shown,) = blocks("#SBATCH")
    assert shown.strip() == file.read_text("utf-8").strip()
    assert subprocess.run(["bash", "-n", file], capture_output=True).stderr == b""


def test_slurm_starts_one_torchrun_on_each_machine_with_arguments_that_torchrun_takes(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    record = "import json, sys; print(json.dumps(sys.argv[1:]))"
    (tools / "srun").write_text(f"#!{sys.executable}\n{record}\n")
    (tools / "scontrol").write_text(
        '#!/bin/sh\n[ "$*" = "show hostnames gpu-[1-2]" ]\nprintf "gpu-1\\ngpu-2\\n"\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    variables = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "SLURM_JOB_NODELIST": "gpu-[1-2]",
        "SLURM_NNODES": "2",
        "SLURM_JOB_ID": "77",
        "SLURM_CPUS_PER_TASK": "32",
    }
    file = (ROOT / "ddp/train.sbatch").read_text("utf-8")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", file],
        cwd=tmp_path,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    option, cpus, program, *arguments = json.loads(done.stdout)
    assert program == "torchrun"
    asked = torchrun.parse_args(arguments)
    assert (asked.nnodes, asked.nproc_per_node, asked.training_script) == ("2", "4", "train.py")
    assert (asked.rdzv_backend, asked.rdzv_endpoint, asked.rdzv_id) == ("c10d", "gpu-1:29400", "77")
    settings = dict(re.findall(r"^#SBATCH --(\S+) (\S+)$", file, re.M))
    assert settings["nodes"] == "2" and settings["ntasks-per-node"] == "1"
    assert settings["gpus-per-node"] == asked.nproc_per_node
    assert (option, cpus) == ("--cpus-per-task", settings["cpus-per-task"])


# Sharding


def test_fsdp_has_the_losses_of_ddp_and_holds_half_of_everything(lesson):
    for one in lesson("ddp/fsdp.py"):
        lines = one["__stdout__"].splitlines()
        losses = {
            k: [line[5:] for line in lines if line.startswith(f"{k}") and "loss" in line]
            for k in ("DDP ", "FSDP")
        }
        assert losses["DDP "] == losses["FSDP"]
        counts = [
            [int(n) for n in re.findall(r"\d{4,}", line)] for line in lines if "holds" in line
        ]
        assert counts[0] == [2 * n for n in counts[1]]


def test_fsdp_trains_to_the_weights_of_ddp(lesson):
    ran = [one["__after__"] for one in lesson("ddp/fsdp.py", after=trained)]
    for theirs, *mine in zip(ran[0]["plain"], *(one["parts"] for one in ran), strict=True):
        torch.testing.assert_close(torch.cat(mine), theirs, rtol=0, atol=1e-5)


def trained(namespace):
    """The weights under DDP, and this rank's parts of those under FSDP."""
    return {
        "plain": list(namespace["plain"].parameters()),
        "parts": [weight.to_local() for weight in namespace["sharded"].parameters()],
    }


def test_each_layer_is_whole_on_no_rank_after_the_step(lesson):
    first, second = lesson("ddp/fsdp.py", after=parts)
    assert all(
        a["shape"] == b["shape"]
        for a, b in zip(first["__after__"], second["__after__"], strict=True)
    )
    for part in first["__after__"]:
        assert part["held"][0] * 2 == part["shape"][0]


def test_only_one_layer_at_a_time_is_whole(changed):
    look = """
layers, whole = (sharded[0], sharded[2], sharded[4]), []


def note(layer, inputs):
    whole.append(sum(not hasattr(one.weight, "_local_tensor") for one in layers))


for layer in layers:
    layer.register_forward_pre_hook(note)
sharded(points)
print("whole:", whole)
del ddp
"""
    printed = changed("ddp/fsdp.py", ("del ddp\n", look))
    assert printed.count("whole: [1, 1, 1]") == 2


def parts(namespace):
    return [
        {"shape": list(weight.shape), "held": list(weight.to_local().shape)}
        for weight in namespace["sharded"].parameters()
    ]
