"""Run the notebooks: ``python -m tests.notebooks.run [page…]`` (``make notebooks``).

The code of each notebook is run once, whatever the number of languages, in a fresh kernel and an
empty folder, on the CPU. What it printed must be the ``.out`` of its programs. Then the run is left
in build/notebooks/, where the site takes the outputs from, and the notebook of each language is
written beside it. A run of this very code, with these versions, is not repeated as long as it
printed what the ``.out`` files have.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import fcntl
import json
import multiprocessing
import os
import platform
import re
import socket
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from tests.snippets import compare, runner
from tests.snippets.outputs import replace
from tools import notebooks
from tools.figures import FigureError
from tools.languages import ROOT, languages
from tools.notebooks import CURRENT, RUNS, Cell, NotebookError
from tools.pages import Page, PageError
from tools.snippets import Snippet, SnippetError, load

#: No cell takes longer, in seconds.
LIMIT = 120
#: The kernel names what it compiles by its process, and a machine has its own folders.
_COMPILED = re.compile(r"\S*/ipykernel_\d+/\d+\.py:(\d+)")
_PACKAGES = re.compile(r"(?<![\w.])/\S*/(?=site-packages/)")
#: tqdm misses a package that draws its bars in Jupyter, which no program here asks for.
_TQDM = re.compile(r"\S+ TqdmWarning: IProgress not found\..*\n.*\n")
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


def fresh(folder: Path) -> dict[str, str]:
    """Return the environment of a kernel that knows nothing of its user, in an empty `folder`."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON", "MPL"))}
    paths = [str(folder), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return own | {
        "PATH": os.pathsep.join(paths),  # for torchrun
        "IPYTHONDIR": str(folder / "ipython"),
        "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", str(folder / "matplotlib")),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONPATH": "",
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
    }


class Launcher:
    """Stands in for torchrun: starts the ranks from a parent that has imported torch already.

    torchrun starts an interpreter for itself and one for each rank, and each imports torch: seconds
    for every program of a lesson. That torchrun itself gives the same is seen each night
    (tests/snippets), and with ``--torchrun`` here.
    """

    _CLIENT = """\
#!{python}
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as parent:
    parent.connect({address!r})
    parent.sendall(json.dumps([os.getcwd(), sys.argv[1:]]).encode())
    parent.shutdown(socket.SHUT_WR)
    said = json.loads(b"".join(iter(lambda: parent.recv(65536), b"")))
print(said["text"], end="")
sys.exit(said["failed"])
"""

    def __init__(self, folder: Path, programs: dict[str, Snippet]):
        """Put a `torchrun` into the folder, for these programs by the names of their files."""
        self.programs = programs
        self.socket = socket.socket(socket.AF_UNIX)
        address = str(folder / "launcher")
        self.socket.bind(address)
        self.socket.listen()
        script = folder / "torchrun"
        script.write_text(self._CLIENT.format(python=sys.executable, address=address))
        script.chmod(0o755)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client = self.socket.accept()[0]
            except OSError:  # closed
                return
            with client:
                asked = b"".join(iter(lambda client=client: client.recv(65536), b""))
                client.sendall(json.dumps(self._answer(*json.loads(asked))).encode())

    def _answer(self, folder: str, arguments: list[str]) -> dict:
        """Run what the notebook has written into the file."""
        try:
            option, ranks, name = arguments
            snippet = self.programs[name]
            if (option, int(ranks)) != ("--nproc-per-node", snippet.lesson["ranks"]):
                raise ValueError(f"torchrun {' '.join(arguments)} is not how {name} is launched")
            source = Path(folder, name).read_text("utf-8")
            result = runner.run(dataclasses.replace(snippet, source=source), folder=Path(folder))
        except Exception as error:
            return {"text": f"{type(error).__name__}: {error}\n", "failed": 1}
        faults = compare.run_faults(snippet, dataclasses.replace(result, seconds=0))
        said = "\n".join([*faults, ""]) if faults else ""
        return {"text": result.text + said, "failed": int(bool(said or result.exception))}

    def close(self) -> None:
        """Start nothing any more."""
        self.socket.close()


class Kernels(AsyncKernelManager):
    """Forks a kernel from the parent that has imported torch already, as the programs are.

    It saves the seconds that each kernel would take to import it.
    """

    async def _async_launch_kernel(self, kernel_cmd, *, cwd, env, **_) -> None:
        arguments = kernel_cmd[kernel_cmd.index("ipykernel_launcher") + 1 :]
        child = runner.context().Process(target=_kernel, args=(arguments, str(cwd), dict(env)))
        child.start()
        self.provisioner.process = _Kernel(child)
        self.provisioner.pid = self.provisioner.pgid = child.pid
        self._reconcile_connection_info(self.provisioner.connection_info)


class _Kernel:
    """What Jupyter asks of a `subprocess.Popen`, for a child of the fork server."""

    stdin = stdout = stderr = None

    def __init__(self, child):
        self.child, self.pid, self.kill, self.terminate = (
            child,
            child.pid,
            child.kill,
            child.terminate,
        )

    def poll(self) -> int | None:
        return self.child.exitcode

    def wait(self) -> int:
        self.child.join()
        return self.child.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def _kernel(arguments: list[str], cwd: str, env: dict[str, str]) -> None:
    """Be the kernel (in the child)."""
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))  # it ends with its parent
    import torch
    from ipykernel import kernelapp

    torch.set_num_threads(1)
    runner.use_device("cpu")
    kernelapp.launch_new_instance(argv=arguments)
    os._exit(0)


def clean(text: str) -> str:
    """Return what a cell printed without what is of one process or one machine."""
    text = _COLORS.sub("", text).replace("\r\n", "\n")  # what `!` starts writes to a terminal
    text = _COMPILED.sub(r"<cell>:\1", text)
    return _TQDM.sub("", _PACKAGES.sub("", text))


def told(page: Page, number: int, cell: Cell, what: str) -> NotebookError:
    """Return the error that names page, section and cell."""
    of = f" ({cell.program}:{cell.part})" if cell.program else ""
    shown = "\n".join(f"    {line}" for line in cell.source.split("\n"))
    where = f"{page.file}:{cell.line}: #{cell.section}: cell {number} of the notebook{of}"
    return NotebookError(f"{where} {what}\n{shown}")


def execute(page: Page, code: list[Cell], root: Path, torchrun: bool) -> nbformat.NotebookNode:
    """Run code cells in a fresh kernel; raises NotebookError for the first that fails.

    Programs of several ranks are launched by a Launcher, or by `torchrun` itself.
    """
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(cell.source, id=f"cell-{n}") for n, cell in enumerate(code, 1)
        ]
    )
    for cell, one in zip(notebook.cells, code, strict=True):
        if one.fails:
            cell.metadata["tags"] = ["raises-exception"]
    with (
        tempfile.TemporaryDirectory(prefix="notebook-") as folder,
        tempfile.TemporaryDirectory(prefix="notebook-home-") as home,
        contextlib.ExitStack() as stack,
    ):
        launches = {
            one.source.split()[-1]: load(one.program, root / "snippets")
            for one in code
            if one.part == "run"
        }
        if launches and not torchrun:
            stack.callback(Launcher(Path(home), launches).close)
        client = NotebookClient(
            notebook,
            timeout=LIMIT,
            kernel_manager_class=Kernels,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
            # A torch error has a traceback of pages; the last line is what the lesson shows.
            extra_arguments=["--InteractiveShell.xmode=Minimal", "--log-level=ERROR"],
        )
        with client.setup_kernel(env=fresh(Path(home)), cwd=folder):
            for number, (cell, one) in enumerate(zip(notebook.cells, code, strict=True), 1):
                try:
                    client.execute_cell(cell, number - 1, execution_count=number)
                except CellExecutionError as error:
                    what = f"fails: {error.ename}: {clean(error.evalue)}"
                    raise told(page, number, one, what) from None
                except CellTimeoutError:
                    raise told(page, number, one, f"did not end within {LIMIT} s") from None
                except DeadKernelError:
                    raise told(page, number, one, "ended the whole kernel") from None
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in list(cell.outputs):
            if output.output_type == "stream":
                output.text = clean(output.text)
                if not output.text:
                    cell.outputs.remove(output)
            elif output.output_type == "error":
                output.evalue = clean(output.evalue)
                output.traceback = [clean(line) for line in output.traceback]
    return notebook


def printed(outputs: list) -> str:
    """Return what an executed cell printed, as an ``.out`` has it."""
    said = []
    for output in outputs:
        if output.output_type == "stream" and output.name == "stderr":
            # A warning's place and its line of code are left out.
            said += re.findall(r"^\S+?:\d+: (\w*Warning: .*\n)", output.text, re.M)
            if not said:
                said.append(output.text)
        elif output.output_type == "stream":
            said.append(output.text)
        elif output.output_type == "error":
            said.append(": ".join(filter(None, [output.ename, output.evalue])) + "\n")
    return "".join(said)


def faults(
    page: Page, code: list[Cell], outputs: list[list], root: Path = ROOT, torchrun: bool = False
) -> list[str]:
    """Return where what the cells printed is not the ``.out`` of their programs."""
    found = []
    for path in dict.fromkeys(cell.program for cell in code if cell.program):
        snippet = load(path, root / "snippets")
        lesson, of = snippet.lesson, [n for n, cell in enumerate(code) if cell.program == path]
        where = f"{page.file}:{code[of[0]].line}: #{code[of[0]].section}: {path}"
        text = "".join(
            printed(outputs[n]) for n in of if not code[n].source.startswith("%%writefile")
        )
        out = snippet.out_path()
        if not out.is_file():
            found.append(f"{where}: has no {out.name}; run 'make outputs' and read what it wrote")
            continue
        expected = out.read_text("utf-8")
        if lesson["warns"]:  # a kernel has standard error apart from standard output
            expected, text = (_warnings_first(t, lesson["warns"]) for t in (expected, text))
        if lesson["raises"]:  # Jupyter names an error without its module, and strips its lines
            expected, text = (_stripped(t, lesson["raises"]) for t in (expected, text))
        if lesson["ranks"] > 1 and torchrun:  # the lines of the ranks come as they come
            expected, text = ("\n".join(sorted(t.splitlines())) for t in (expected, text))
        wrong = compare.differences(expected, text, lesson["varies"], lesson["rtol"])
        if wrong:
            lines = "\n".join(f"  {difference}" for difference in wrong[:10])
            found.append(f"{where}: its cells print something else than {out.name}:\n{lines}")
    return found


def _warnings_first(text: str, name: str) -> str:
    lines = text.splitlines()
    return "\n".join(sorted(lines, key=lambda line: not line.startswith(f"{name}: ")))


def _stripped(text: str, name: str) -> str:
    text = re.sub(rf"(?m)^(?:\w+\.)+(?={name}(?::|$))", "", text)
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def installed(page: Page, root: Path = ROOT) -> dict[str, str]:
    """Return the versions that a notebook runs with; raises NotebookError if others are pinned."""
    found = {}
    for name, pinned in notebooks.versions(page, root).items():
        found[name] = metadata.version(name).partition("+")[0]
        if found[name] != pinned:
            raise NotebookError(
                f"constraints.txt:1: {name} {pinned} is to run the notebooks, {found[name]} is "
                "installed; let make set up .venv"
            )
    return found | {"python": platform.python_version()}


def run(page: Page, root: Path = ROOT, torchrun: bool = False) -> str:
    """Run a page's notebook unless there is such a run; say which. Raises NotebookError."""
    code = [cell for cell in notebooks.cells(page, root) if cell.kind == "code"]
    sources = [cell.source for cell in code]
    file = notebooks.run_file(page, sources, root)
    file.parent.mkdir(parents=True, exist_ok=True)
    with (file.parent / f".{page.name.replace('/', '-')}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # who comes second finds the run of the first
        kept = notebooks.read_run(page, sources, root)
        if kept.state == CURRENT and not faults(page, code, kept.outputs, root, torchrun):
            return f"unchanged  {page.name}"
        found = installed(page, root)
        notebook = execute(page, code, root, torchrun)
        if wrong := faults(page, code, [cell.outputs for cell in notebook.cells], root, torchrun):
            raise NotebookError("\n".join(wrong))
        notebook.metadata = nbformat.from_dict(
            {"run": {"page": page.name, "versions": found}}
            | {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        )
        nbformat.validate(notebook)
        replace(file, nbformat.writes(notebook))
    return f"ran        {page.name}"


def write(page: Page, root: Path = ROOT, address: str = "") -> Path:
    """Weave the notebook of a page and leave it in build/notebooks/<lang>/."""
    file = root / RUNS / page.lang / f"{page.name}.ipynb"
    file.parent.mkdir(parents=True, exist_ok=True)
    replace(file, notebooks.weave(page, root, address))
    return file


def main(arguments: list[str] | None = None) -> int:
    """Run and weave the notebooks of the named pages (all without a name); 1 if one failed."""
    from tools.build import site_root

    cli = argparse.ArgumentParser(prog="make notebooks", description=__doc__.splitlines()[0])
    cli.add_argument("pages", nargs="*", help="amp")
    cli.add_argument("--torchrun", action="store_true", help="launch ranks by torchrun, slowly")
    chosen = cli.parse_args(arguments)
    runner.hide_accelerators()
    try:
        found = notebooks.all_pages()
    except PageError as error:
        print(error, file=sys.stderr)
        return 1
    names = chosen.pages or sorted({name for theirs in found.values() for name in theirs})
    if unknown := [name for name in names if name not in found["en"]]:
        print(f"no page docs/en/{unknown[0]}.md shows a program", file=sys.stderr)
        return 1

    def one(name: str) -> tuple[bool, str]:
        said = []
        try:
            for lang in languages():
                if page := found.get(lang, {}).get(name):
                    said.append(run(page, torchrun=chosen.torchrun))
                    write(page, address=f"{site_root()}{lang}/")
        except (NotebookError, SnippetError, FigureError) as error:
            return False, str(error)
        return True, said[0]

    right = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            for fine, said in pool.map(one, names):
                right &= fine
                print(said, file=sys.stdout if fine else sys.stderr, flush=True)
        except KeyboardInterrupt:
            print("stopped; what had run is kept", file=sys.stderr)
            for child in multiprocessing.active_children():  # else the pool waits for each kernel
                child.kill()
            return 130
    if right:
        print(f"the notebooks are in {RUNS}/<language>/")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
