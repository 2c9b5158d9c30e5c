"""Run the Python blocks of a page as a reader would paste them: one after the other, one session.

The blocks of a program of several ranks can't be pasted so: in order, they are a file of its own,
which is run on its ranks.

pytest-codeblocks takes the blocks off the page; each is then matched with the section that the
page embeds there, so that a failure names page, section and line, and so that no block is missed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import re
import sys
import tempfile
import traceback
import types
import warnings
from dataclasses import dataclass
from pathlib import Path

import markdown
import pytest_codeblocks
import yaml
from pymdownx.snippets import SnippetMissingError

from tests import kept
from tests.snippets import compare, runner
from tools.pages import Page
from tools.snippets import ROOT, SNIPPETS, Snippet, load

_FENCE = re.compile(r"^([ \t>]*`{3,})[ \t]*\{?[ \t]*\.?(?:python|py)(?=[\s}]|$).*$", re.M)


class PasteError(Exception):
    """A page whose blocks can't be told apart. Its text says where and what to do."""


@dataclass(frozen=True)
class Step:
    """A block of code to run (`code`), or an output that the page shows (`out`)."""

    where: str
    program: str
    code: str | None = None
    out: str | None = None


def expand(text: str, snippets: Path = SNIPPETS) -> str:
    """The Markdown `text` with its includes in place, by the site's own settings."""
    settings = yaml.safe_load(_plain_yaml(ROOT / "mkdocs.yml"))
    options = settings["markdown_extensions"]["pymdownx.snippets"] | {"base_path": [str(snippets)]}
    md = markdown.Markdown(
        extensions=["pymdownx.snippets"], extension_configs={"pymdownx.snippets": options}
    )
    return "\n".join(md.preprocessors["snippet"].run(text.split("\n"))) + "\n"


def _plain_yaml(file: Path) -> str:
    """The file without YAML tags (!ENV), which are MkDocs's own."""
    return re.sub(r"!\S+", "", file.read_text("utf-8"))


def steps(page: Page, snippets: Path = SNIPPETS) -> list[Step]:
    """What to run and compare on `page`, in order.

    Raises PasteError when pytest-codeblocks does not find the blocks that the page has.
    """
    fences = [f for f in page.fences if f.lang in ("python", "text")]
    for fence in fences:
        if fence.include is None:
            raise PasteError(f"{page.file}:{fence.line}: the block is no include; embed a section")
    try:
        text = _FENCE.sub(r"\1python", expand(page.text, snippets))
    except SnippetMissingError as error:
        raise PasteError(f"{page.file}:1: {error}; 'make check' says which line") from error
    taken = [
        b for b in pytest_codeblocks.extract_from_buffer(io.StringIO(text)) if b.syntax == "python"
    ]
    python = [f for f in fences if f.lang == "python"]
    if len(taken) != len(python) or any(block.marks for block in taken):
        raise PasteError(
            f"{page.file}:1: the page has {len(python)} Python blocks, pytest-codeblocks takes "
            f"{len(taken)}; open each with ```python and leave out its skip marks"
        )
    blocks = iter(taken)
    found = []
    for fence in fences:
        path, section = fence.include.path, fence.include.section
        where = f"{page.file}:{fence.line}: {path}" + (f":{section}" if section else "")
        if fence.lang == "python":
            found.append(Step(where, path, code=next(blocks).code))
        else:
            name = path.removesuffix(".out")
            device = name.rpartition(".")[2] if "." in name else None
            program = (name.removesuffix(f".{device}") if device else name) + ".py"
            if device in (None, "cpu"):  # what another device prints can't be shown here
                found.append(Step(where, program, out=path))
    return found


def run(found: list[Step], snippets: Path = SNIPPETS) -> list[str]:
    """Run `found` in one namespace, in this process. Return the faults, in order.

    A block of a program that declares an error must raise it (in one of its blocks), and execution
    goes on. What the blocks of a program print, from its first one on, must be its ``.out`` where
    the page shows it.
    """
    faults = []
    main = types.ModuleType("__main__")
    programs: dict[str, Snippet] = {}
    printed: dict[str, str] = {}
    before = sys.modules["__main__"]
    sys.modules["__main__"] = main
    try:
        for number, step in enumerate(found):
            path = step.program
            snippet = programs.setdefault(path, load(path, snippets))
            if step.out is not None:
                wrong = compare.differences(
                    (snippets / step.out).read_text("utf-8"),
                    printed.get(path, ""),
                    snippet.lesson["varies"],
                    snippet.lesson["rtol"],
                )
                if wrong:
                    lines = "\n".join(f"  {difference}" for difference in wrong)
                    faults.append(
                        f"{step.where}: the blocks above it, pasted, print something else:\n{lines}"
                        "\n  show the program's sections in order and all that it needs"
                    )
                continue
            output = io.StringIO()
            error = _run_block(step, snippet, main.__dict__, output, f"<paste {number}>")
            text = output.getvalue()
            declared = snippet.lesson["raises"]
            if error is not None and type(error).__name__ == declared:
                text += runner.last_line(error) + "\n"
            elif error is not None:
                faults.append(f"{step.where}: {_told(error, step, f'<paste {number}>')}")
            printed[path] = printed.get(path, "") + text
    finally:
        sys.modules["__main__"] = before
    for path, snippet in programs.items():
        for key in ("raises", "warns"):
            name = snippet.lesson[key]
            # A line `Name: message`, or the name alone of an error that has no message.
            if name and path in printed and not re.search(rf"(?m)\b{name}(: |$)", printed[path]):
                faults.append(f'{path}: declares {key} = "{name}", but pasted it does not show it')
    return faults


def _run_block(step, snippet, namespace, output, name) -> BaseException | None:
    """Run the code of `step`; warnings are errors unless `snippet` declares them."""

    def show(message, category, filename, lineno, file=None, line=None):
        print(f"{category.__name__}: {message}")

    with warnings.catch_warnings(), contextlib.redirect_stdout(output):
        warnings.resetwarnings()
        warnings.simplefilter("error")
        if snippet.lesson["warns"]:
            warnings.filterwarnings("always", category=runner.category(snippet))
            warnings.showwarning = show
        try:
            exec(compile(step.code, name, "exec", dont_inherit=True), namespace)
        except (Exception, SystemExit) as error:
            return error
    return None


def _told(error: BaseException, step: Step, name: str) -> str:
    """The error, with the line of the block at which it arose."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
    line = lines[-1] if lines else getattr(error, "lineno", None) or 1
    return (
        f"pasted, line {line} of the block fails: {step.code.split(chr(10))[line - 1].strip()!r}\n"
        f"  {runner.last_line(error)}\n"
        "  a reader has run only the blocks above this one; show what it needs before it"
    )


def _child(found: list[Step], snippets: Path, answer) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch

    torch.set_num_threads(1)
    runner.use_device("cpu")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        answer.send(run(found, snippets))
    answer.close()
    os._exit(0)


def run_aside(found: list[Step], snippets: Path = SNIPPETS, limit: float = 120) -> list[str]:
    """As `run`, in a process forked from a warm parent and stopped after `limit` seconds.

    The programs of several ranks are run by `run_ranks`.
    """
    several = {
        path for path in {s.program for s in found} if load(path, snippets).lesson["ranks"] > 1
    }
    faults = []
    for path in sorted(several):
        faults += run_ranks([s for s in found if s.program == path], load(path, snippets))
    alone = [s for s in found if s.program not in several]
    if not alone:
        return faults
    outs = [(snippets / s.out).read_text("utf-8") for s in alone if s.out is not None]
    given = [("paste", s.program, s.code, load(s.program, snippets).lesson) for s in alone]
    return faults + kept.RUNS.get(
        [given, outs], lambda: _run_alone(alone, snippets, limit), lambda found: not found
    )


def _run_alone(found: list[Step], snippets: Path, limit: float) -> list[str]:
    warm = runner.context()
    receiver, sender = warm.Pipe(duplex=False)
    child = warm.Process(target=_child, args=(found, snippets, sender))
    child.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return [f"the blocks of the page did not end within {limit:.0f} s"]
        return receiver.recv()
    except EOFError:
        return ["the process that ran the blocks died; see its output above"]
    finally:
        receiver.close()
        child.kill()
        child.join()


def run_ranks(found: list[Step], snippet: Snippet) -> list[str]:
    """Run the blocks among `found`, all of the program `snippet`, as a file on its ranks.

    Return the faults. The blocks above an output that the page shows must print that output.
    """
    faults, blocks, shown = [], [], False
    for step in found:
        if step.out is None:
            blocks.append(step)
            shown = False
            continue
        shown = True
        if not blocks:
            faults.append(f"{step.where}: no block above it; show the program before its output")
            continue
        result, failed = _run_file(blocks, snippet)
        if failed:
            return faults + failed
        wrong = compare.differences(
            (snippet.root / step.out).read_text("utf-8"),
            result.text,
            snippet.lesson["varies"],
            snippet.lesson["rtol"],
        )
        if wrong:
            lines = "\n".join(f"  {difference}" for difference in wrong)
            faults.append(
                f"{step.where}: the blocks above it, as a file on {snippet.lesson['ranks']} ranks, "
                f"print something else:\n{lines}\n"
                "  show the program's sections in order and all that it needs"
            )
    if not shown:
        faults += _run_file(blocks, snippet)[1]
    return faults


def _run_file(blocks: list[Step], snippet: Snippet) -> tuple[runner.Result, list[str]]:
    """Run `blocks` as one file on the ranks of `snippet`; return what it gave, and the faults."""
    lines = [
        (step, number, line)
        for step in blocks
        for number, line in enumerate(step.code.rstrip("\n").split("\n"), 1)
    ]
    source = "\n".join(line for *_, line in lines) + "\n"
    result, _ = kept.run_ranks(dataclasses.replace(snippet, source=source))
    faults = compare.run_faults(snippet, dataclasses.replace(result, seconds=0))
    if result.line and result.exception != snippet.lesson["raises"]:
        step, number, line = lines[result.line - 1]
        faults = [
            f"{step.where}: as a file on {snippet.lesson['ranks']} ranks, line {number} of the "
            f"block fails on rank {result.rank}: {line.strip()!r}\n"
            f"  {result.traceback.rstrip().rpartition(chr(10))[2]}\n"
            "  the file is the blocks of this program on the page; show all that it needs"
        ]
    elif faults:
        faults = [f"{blocks[0].where}: pasted into a file: {fault}" for fault in faults]
    return result, faults
