"""Runs the publisher in processes of its own and stops it between any two of its steps.

    python steps.py watched <version> <alias> <file>   one process; what <file>, the published
                                                branch, holds before each of its steps
    python steps.py kills <version> <alias> <step>...  one process for each of the steps, killed
                                                before it; and one that is not
    python steps.py publish <version> <alias>   one process, killed only by a hook
    python steps.py meanwhile <command> <version> <alias>  runs <command> before each push
    python steps.py overtaken <other> <version> <alias>    publishes <other> before the first push
    python steps.py together <version>...       all at once

A step is another program that it starts, which is every use of git and the gate. The pages are
built once for all houses, into $BUILT. Prints JSON.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tools import publish

_build = publish.build
_Popen = subprocess.Popen.__init__


def built(version: str, site: Path) -> dict[str, list[str]]:
    """Do what publish.build does, once for each version."""
    kept = Path(os.environ["BUILT"], f"pages-{version}")
    with open(f"{kept}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (kept / "pages.json").exists():
            (kept / "pages.json").write_text(json.dumps(_build(version, kept)))
    shutil.copytree(kept, site, copy_function=os.link)
    return json.loads((kept / "pages.json").read_text())


def before_each_step(do) -> None:
    """Call `do(number, command)` before each program that this process starts."""
    count = 0

    def start(self, command, *args, **options):
        nonlocal count
        count += 1
        do(count, command)
        _Popen(self, command, *args, **options)

    subprocess.Popen.__init__ = start


def run(version: str, alias: str, do=None) -> tuple[int, str]:
    """Publish in a forked process, the leader of a group; return its exit status and words."""
    read, write = os.pipe()
    if not (child := os.fork()):
        os.setsid()
        os.close(read)
        os.dup2(write, 1)
        os.dup2(write, 2)
        if do:
            before_each_step(do)
        status = 0
        try:
            print(publish.publish(version, alias, "origin", "gh-pages"))
        except publish.Refused as error:
            print(error)
            status = 1
        sys.stdout.flush()
        os._exit(status)
    os.close(write)
    with os.fdopen(read) as words:
        said = words.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def tip() -> str:
    """Return the published commit."""
    return publish.git("ls-remote", "origin", "refs/heads/gh-pages").partition("\t")[0]


def warm(version: str) -> None:
    """Build the pages, which may start programs too, before the steps are counted."""
    built(version, Path(os.environ["TMPDIR"], f"warm-{version}"))


def watched(version: str, alias: str, file: str) -> list[dict]:
    """Publish; return each step and what was published before it."""
    log = Path(os.environ["TMPDIR"], "steps")

    def do(number, command):
        with log.open("a") as lines:
            step = {"command": " ".join(command), "tip": Path(file).read_text().strip()}
            print(json.dumps(step), file=lines)

    warm(version)
    status, said = run(version, alias, do)
    assert status == 0, said
    steps = [json.loads(line) for line in log.read_text().splitlines()]
    log.unlink()
    return steps


def kills(version: str, alias: str, *steps: str):
    """Kill before each of the steps; say what was published after it. Then publish."""

    def kill_before(wanted):
        def do(number, command):
            if number == wanted:
                Path(os.environ["TMPDIR"], "step").write_text(" ".join(command))
                os.killpg(0, signal.SIGKILL)

        return do

    warm(version)
    for step in map(int, steps):
        status, said = run(version, alias, kill_before(step))
        command = Path(os.environ["TMPDIR"], "step").read_text()
        yield {"step": step, "command": command, "status": status, "said": said, "tip": tip()}
    status, said = run(version, alias)
    assert status == 0, said


def main(what: str, *rest: str) -> None:
    """Do what the command line says."""
    publish.build, publish.named = built, lambda *_: None
    if what == "watched":
        print(json.dumps(watched(*rest)))
    elif what == "kills":
        print(json.dumps(list(kills(*rest))))
    elif what == "publish":
        print(json.dumps(run(*rest)))
    elif what == "meanwhile":
        publish.time.sleep = lambda _: None

        def other(_, command):
            if "push" in command:
                os.spawnvp(os.P_WAIT, "sh", ["sh", "-c", rest[0]])

        print(json.dumps(run(*rest[1:], other)))
    elif what == "overtaken":
        publish.time.sleep = lambda _: None
        waiting = [rest[0]]

        def overtake(_, command):
            if "push" in command and waiting:
                status, said = run(waiting.pop(), "")
                assert status == 0, said

        print(json.dumps(run(*rest[1:], overtake)))
    elif what == "together":
        for version in rest:
            warm(version)
        children = []
        for version in rest:
            if not (child := os.fork()):
                os._exit(run(version, "")[0])
            children.append(child)
        print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children]))


if __name__ == "__main__":
    main(*sys.argv[1:])
