"""Runs of notebooks as they would be, without running anything, for tests of what comes after."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools import notebooks
from tools.pages import Page
from tools.snippets import load


def run(page: Page, root: Path, **versions: str) -> Path:
    """Write the run of a page's notebook, in which its programs print their ``.out``."""
    code = [cell for cell in notebooks.cells(page, root) if cell.kind == "code"]
    last = {cell.program: number for number, cell in enumerate(code)}
    cells = []
    for number, cell in enumerate(code):
        outputs = []
        if cell.program and last[cell.program] == number:
            snippet = load(cell.program, root / "snippets")
            text, raises = snippet.out_path().read_text("utf-8"), snippet.lesson["raises"]
            before, found, said = text.partition(f"{raises}: ") if raises else (text, "", "")
            outputs.append(new_output("stream", name="stdout", text=before))
            if found:
                said = said.rstrip("\n")
                trace = [f"{raises}: {said}"]
                outputs.append(new_output("error", ename=raises, evalue=said, traceback=trace))
        cells.append(new_code_cell(cell.source, id=f"cell-{number}", outputs=outputs))
    found = notebooks.versions(page, root) | {"python": "3.11.7"} | versions
    file = notebooks.run_file(page, [cell.source for cell in code], root)
    file.parent.mkdir(parents=True, exist_ok=True)
    notebook = new_notebook(cells=cells, metadata={"run": {"page": page.name, "versions": found}})
    file.write_text(nbformat.writes(notebook), encoding="utf-8")
    return file


def all_runs(root: Path) -> None:
    """Write the runs of all notebooks."""
    for theirs in notebooks.all_pages(root).values():
        for page in theirs.values():
            run(page, root)
