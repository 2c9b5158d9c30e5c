"""Starts `python -m tools...` in a copy of the house, without its second of importing.

A parent that has loaded what the tools import, and nothing of the house, forks a process for each
command, which loads the copy's own `tools` and ends as any other would.
"""

import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

LOADED = """
concurrent.futures.process http.server jinja2.ext material.plugins.search.plugin mike.commands
mkdocs.commands.build mkdocs.config mkdocs.contrib.search multiprocessing.popen_fork PIL.ImageDraw
PIL.ImageFont pygments.formatters.html pygments.lexers.python pygments.lexers.shell
markdown.extensions.abbr markdown.extensions.admonition markdown.extensions.attr_list
markdown.extensions.def_list markdown.extensions.footnotes markdown.extensions.md_in_html
markdown.extensions.tables markdown.extensions.toc pymdownx.blocks.block pymdownx.details
pymdownx.highlight pymdownx.inlinehilite pymdownx.keys pymdownx.snippets pymdownx.superfences
pymdownx.tabbed tomllib zipfile
""".split()


USED = [name for name in LOADED if name.startswith("markdown.extensions.")] + [
    f"pymdownx.{name}" for name in ("details", "inlinehilite", "keys", "superfences", "tabbed")
]


class Parent:
    """The parent, started when it is first needed."""

    def __init__(self):
        self.process = None

    def run(self, command, cwd: Path, env: dict, timeout: float) -> subprocess.CompletedProcess:
        """Do what subprocess.run([sys.executable, "-m", *command], ...) does."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            wanted = [list(map(str, command)), str(cwd), dict(env), str(out), str(err)]
            self.process.stdin.write(json.dumps(wanted).encode() + b"\n")
            self.process.stdin.flush()
            child = int(self.process.stdout.readline())
            if not select.select([self.process.stdout], [], [], timeout)[0]:
                os.kill(child, signal.SIGKILL)
                self.process.stdout.readline()
                raise subprocess.TimeoutExpired(command, timeout)
            status = int(self.process.stdout.readline())
            said = out.read_text("utf-8"), err.read_text("utf-8")
        return subprocess.CompletedProcess(command, status, *said)

    def end(self) -> None:
        """End it, if it was started."""
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


def _become(command: list[str], cwd: str, env: dict[str, str], out: str, err: str) -> None:
    """Run the command in this process, a new one."""
    for number, path in ((0, os.devnull), (1, out), (2, err)):
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # $TMPDIR may be another
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))
    sys.path[0] = cwd
    if "PYTHONPATH" in env:
        sys.path[1:1] = env["PYTHONPATH"].split(os.pathsep)
    sys.argv = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


def _use() -> None:
    """Use what compiles its patterns or looks for its parts only when it is used."""
    import jinja2
    import markdown
    from mkdocs_jupyter import convert
    from nbconvert.exporters import HTMLExporter
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    HTMLExporter(config=convert.get_nbconvert_app(no_prompt=True).config)
    jinja2.Environment().from_string("{% for a in b if a %}{{ a | e }}{% else %}-{% endfor %}")
    markdown.markdown("# a\n\nb *c* `d` [e](f)\n", extensions=USED)
    for name in ("python", "text", "bash"):
        highlight("a = 1", get_lexer_by_name(name), HtmlFormatter())


def _main() -> None:
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    for name in LOADED:
        __import__(name)
    _use()
    while line := sys.stdin.readline():  # one is sent at a time
        if not (child := os.fork()):
            return _become(*json.loads(line))
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    _main()
