"""Delete each statement of each program and name those that no test misses (``make mutants``).

    python -m tests.snippets.mutants [amp/train | amp/wrong]

A statement whose deletion changes neither the output nor any claim teaches nothing, or is not
tested. Each mutant runs like the program itself and is compared with its ``.out``; where that does
not see it, the claim tests that name the program run on it. ``survivors.yml`` lists those that
may survive, with the reason; an entry that is no longer needed is a fault too.

Deleted are single and compound statements (imports and printed headings aside), decorators, and
the ``with`` around a body that stays.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.snippets import compare, runner
from tools import yaml_files
from tools.snippets import ROOT, SNIPPETS, Snippet, SnippetError, load_all

CLAIMS = ROOT / "tests" / "snippets"
EXEMPT = CLAIMS / "survivors.yml"
#: Tests of every program or of the harness itself: no claims of a lesson.
HARNESS = {
    "test_programs.py",
    "test_harness.py",
    "test_launches.py",
    "test_ranks.py",
    "test_cuda_rules.py",
    "test_mutants.py",
    "test_verify.py",
}


@dataclass(frozen=True)
class Mutant:
    """A program without one statement: where it stood, how it read, and what is left."""

    program: str
    line: int
    statement: str
    source: str


def _is_heading(node: ast.stmt) -> bool:
    """True for ``print("words")``: a heading of the output."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "print"
        and all(isinstance(argument, ast.Constant) for argument in node.value.args)
    )


def mutants(snippet: Snippet) -> Iterator[Mutant]:
    """Yield every mutant of `snippet`. Section markers stay, so that each can still be loaded."""
    lines = snippet.source.split("\n")

    def without(first: int, last: int, instead: str) -> str:
        markers = [text for text in lines[first - 1 : last] if "--8<--" in text]
        kept = [instead, *markers]
        kept += [""] * (last - first + 1 - len(kept))
        return "\n".join(lines[: first - 1] + kept + lines[last:])

    def shown(node: ast.AST) -> str:
        return ast.get_source_segment(snippet.source, node).split("\n")[0]

    tree = ast.parse(snippet.source)
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", []):
            source = without(decorator.lineno, decorator.end_lineno, "")
            yield Mutant(snippet.path, decorator.lineno, f"@{shown(decorator)}", source)
        if isinstance(node, ast.With):
            indent = " " * node.col_offset
            source = without(
                node.lineno, node.items[-1].context_expr.end_lineno, f"{indent}if True:"
            )
            if lines[node.body[0].lineno - 1] != lines[node.lineno - 1]:
                yield Mutant(snippet.path, node.lineno, f"{shown(node)} (body kept)", source)
        if not isinstance(node, ast.stmt) or isinstance(
            node, ast.Import | ast.ImportFrom | ast.Pass | ast.Global | ast.Nonlocal
        ):
            continue
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or _is_heading(node):
            continue
        decorators = getattr(node, "decorator_list", [])
        first = decorators[0].lineno if decorators else node.lineno
        before = lines[node.lineno - 1][: node.col_offset]
        if before.strip():  # `if x: statement` on one line: the compound statement goes
            continue
        source = without(first, node.end_lineno, f"{before}pass")
        yield Mutant(snippet.path, node.lineno, shown(node), source)


def _is_fixture(function: ast.FunctionDef) -> bool:
    """True for a fixture that a test has to ask for."""
    made = [ast.unparse(decorator) for decorator in function.decorator_list]
    return any(text.startswith("pytest.fixture") and "autouse" not in text for text in made)


def claims_of(path: str, folder: Path = CLAIMS) -> list[str]:
    """The ids of the claim tests that name the program `path`, or ask for a fixture that does."""
    found = []
    for file in sorted(folder.glob("test_*.py")):
        text = file.read_text("utf-8")
        if file.name in HARNESS or path not in text:
            continue
        functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        tests = [f for f in functions if f.name.startswith("test_")]
        fixtures = [f for f in functions if _is_fixture(f)]
        times = {f.name: ast.get_source_segment(text, f).count(path) for f in tests + fixtures}
        asked = {f.name: {argument.arg for argument in f.args.args} for f in tests + fixtures}
        using = {f.name for f in fixtures if times[f.name]}
        for _ in fixtures:  # one may ask for another
            using |= {f.name for f in fixtures if using & asked[f.name]}
        naming = [f.name for f in tests if times[f.name] or using & asked[f.name]]
        decorated = any(path in ast.unparse(d) for f in functions for d in f.decorator_list)
        if decorated or sum(times.values()) != text.count(path):
            found.append(str(file))  # named in a table or a helper: any test may use it
        else:
            found += [f"{file}::{name}" for name in naming]
    return found


def _claims_child(ids: list[str], root: str, limit: float, answer) -> None:
    """Run the tests `ids` on the programs in `root`; send pytest's exit code and its output."""
    os.environ["SNIPPETS_ROOT"] = root
    os.environ["SNIPPETS_LIMIT"] = str(limit)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    log = Path(root, "pytest.log")
    with log.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        sys.stdout = sys.stderr = stream
        import pytest
        import torch

        torch.set_num_threads(1)
        code = int(
            pytest.main(
                ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", *ids]
            )
        )
        stream.flush()
    answer.send((code, log.read_text("utf-8")))
    answer.close()
    os._exit(0)


def claims_hold(ids: list[str], root: Path, limit: float, each: float) -> bool:
    """True when the tests `ids` pass on the programs in `root` within `limit` seconds.

    `each` is how many a program of several ranks may take.
    """
    if not ids:
        return True
    warm = runner.context()
    receiver, sender = warm.Pipe(duplex=False)
    child = warm.Process(target=_claims_child, args=(ids, str(root), each, sender))
    child.start()
    sender.close()
    code, log = None, ""
    try:
        if receiver.poll(limit):
            code, log = receiver.recv()
    except EOFError:  # a test took the whole process with it
        code = 1
    finally:
        receiver.close()
        child.kill()
        child.join()
    if code is None:
        return False  # it hangs: somebody would notice
    if code not in (0, 1):
        raise RuntimeError(f"pytest ended with {code} for {ids}:\n{log}")
    return code == 0


def time_for(good: runner.Result) -> float:
    """The seconds that a mutant may take, from how long the program itself took.

    One that needs more hangs, as ranks do that wait for each other, and is as good as found.
    """
    return 10 * good.elapsed + 5


def survives(mutant: Mutant, original: Snippet, ids: list[str], limit: float) -> bool:
    """True when neither the output nor a claim notices that the statement is gone.

    Nor that the program takes more than `limit` seconds.
    """
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        root = Path(folder)
        shutil.copytree(original.root, root, dirs_exist_ok=True)
        (root / mutant.program).write_text(mutant.source, "utf-8")
        changed = dataclasses.replace(original, source=mutant.source, root=root)
        result = runner.run(changed, limit=limit)
        if compare.faults(changed, dataclasses.replace(result, seconds=0)):
            return False
        return claims_hold(ids, root, 20 * (3 * original.lesson["seconds"] + 10), limit)


def listed(exempt: Path) -> dict[tuple[str, str], str]:
    """The reasons of `exempt` by program and statement. Raises ValueError where one has none."""
    entries = yaml_files.load(exempt.read_text("utf-8"), exempt.name) if exempt.exists() else None
    keys = ("program", "statement", "reason")
    for entry in entries or []:
        if not isinstance(entry, dict) or not all(str(entry.get(k) or "").strip() for k in keys):
            raise ValueError(f"{exempt.name}: {entry!r}; each entry has a {', a '.join(keys)}")
    return {(e["program"], e["statement"]): e["reason"] for e in entries or []}


def chosen(programs: list[Snippet], only: str) -> list[Snippet]:
    """The programs that `only` names: one of them (amp/train) or a folder (amp/wrong)."""
    name = only.removeprefix("snippets/").removesuffix(".py").rstrip("/")
    return [
        p for p in programs if not name or p.path == f"{name}.py" or p.path.startswith(f"{name}/")
    ]


def main(
    only: str = "", root: Path = SNIPPETS, exempt: Path = EXEMPT, claims: Path = CLAIMS
) -> int:
    """Print the survivors of the chosen programs; 1 if there is one that `exempt` does not list."""
    started = time.monotonic()
    runner.hide_accelerators()
    try:
        programs = chosen(load_all(root), only)
    except SnippetError as error:
        print(error, file=sys.stderr)
        return 1
    if not programs:
        print(f"no program is called {only!r}; name one (amp/train) or a folder", file=sys.stderr)
        return 1
    programs = [p for p in programs if "cpu" in p.lesson["devices"]]
    try:
        reasons = listed(exempt)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    needed, bad, count, limits = set(), 0, 0, {}
    with ThreadPoolExecutor(2) as pool:
        for program, result in zip(programs, pool.map(runner.run, programs), strict=True):
            if found := compare.faults(program, dataclasses.replace(result, seconds=0)):
                print("\n".join(found))
                return 1
            limits[program.path] = time_for(result)
        ids = {p.path: claims_of(p.path, claims) for p in programs}
        work = [(m, p, ids[p.path], limits[p.path]) for p in programs for m in mutants(p)]
        for (mutant, *_), alive in zip(
            work, pool.map(lambda item: survives(*item), work), strict=True
        ):
            count += 1
            if not alive:
                continue
            key = (mutant.program, mutant.statement)
            if key in reasons:
                needed.add(key)
                continue
            bad += 1
            print(f"snippets/{mutant.program}:{mutant.line}: {mutant.statement}", flush=True)
    paths = {p.path for p in programs}
    for program, statement in sorted(reasons.keys() - needed):
        if program in paths or not only:
            bad += 1
            print(f"{exempt.name}: {program}: {statement!r} does not survive; remove the entry")
    print(
        f"{count} mutants of {len(programs)} programs in {time.monotonic() - started:.0f} s, "
        f"{bad} to look at"
        + ("; print what the statement does, test the claim, or delete it" if bad else "")
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [os.environ.get("ONLY", "")]))
