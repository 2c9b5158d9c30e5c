"""How much the warm parent saves: all programs forked from it, and each as its own process.

python -m tests.snippets.bench
"""

import os
import subprocess
import sys
import tempfile
import time

from tests.snippets import runner
from tools.snippets import load_all


def main() -> int:
    """Print both times and their ratio; 1 if the warm parent is less than 10 times as fast."""
    runner.hide_accelerators()
    programs = [s for s in load_all() if "cpu" in s.lesson["devices"]]
    started = time.perf_counter()
    runner.run(programs[0])
    start = time.perf_counter() - started

    started = time.perf_counter()
    for program in programs:
        runner.run(program)
    warm = time.perf_counter() - started

    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    started = time.perf_counter()
    for program in programs:
        ranks = program.lesson["ranks"]
        launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
        command = [sys.executable, *(launcher if ranks > 1 else []), program.file]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(command, cwd=folder, env=environment, capture_output=True)
    cold = time.perf_counter() - started

    print(f"{len(programs)} programs, one after the other")
    print(f"  start of the warm parent, once: {start:6.1f} s")
    print(f"  forked from the warm parent:    {warm:6.1f} s  ({warm / len(programs):.2f} s each)")
    print(f"  each as its own process:        {cold:6.1f} s  ({cold / len(programs):.2f} s each)")
    print(f"  ratio: {cold / warm:.1f} without the start, {cold / (warm + start):.1f} with it")
    return 0 if cold / warm >= 10 else 1


if __name__ == "__main__":
    sys.exit(main())
