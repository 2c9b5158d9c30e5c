"""Measure the site beside a stock Material site of the same pages, in the same run.

    python -m tools.bench [--runs 3] [--lang en]

prints, for every page, Lighthouse's four scores on a phone and the compressed bytes of its first
view; how long both builds take; and how the build grows from 3 to 12 languages. Each figure is a
median. Lighthouse needs Node.js; nothing else here does.
"""

import argparse
import contextlib
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

import yaml

from tools import notebook_pages, notebooks
from tools.browser import find
from tools.languages import ROOT, languages

CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
GOALS = {"performance": 99, "accessibility": 100, "best-practices": 100, "seo": 100}
FIRST_VIEW = 100 * 1024
# Languages that Material has words for; their pages are copies, for how the build grows.
MORE = ("es", "it", "pt", "nl", "sv", "da", "pl", "cs", "fi")


class _Compressed(SimpleHTTPRequestHandler):
    """Serves files as a web host does: what is text, compressed."""

    def do_GET(self):  # noqa: N802 (http.server's name)
        """Answer with the file, or with 404."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body, kind = path.read_bytes(), self.guess_type(str(path))
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if "text" in kind else kind)
        self.send_header("Cache-Control", "max-age=600")
        if path.suffix in {".html", ".css", ".js", ".svg", ".json", ".xml", ".txt", ".md"}:
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve `folder` and give its address."""
    handler = partial(_Compressed, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess:
    """Run a command quietly; on failure print what it said and end."""
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"} | env
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done


def seconds(work: Callable[[], object], runs: int) -> float:
    """Return the median time of `work`."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)


def stock(lang: str, folder: Path) -> Path:
    """Write a stock Material site of the pages and the notebooks of a language; return its file."""
    docs = folder / "docs" / lang
    shutil.copytree(ROOT / "docs" / lang, docs)
    for name, page in notebooks.all_pages()[lang].items():
        woven = notebook_pages.made(ROOT / page.file, f"http://127.0.0.1/{lang}/").text
        (docs / f"{name}-notebook.ipynb").write_text(woven, encoding="utf-8")
    ours = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), _Loader)
    extensions = ours["markdown_extensions"]
    for options in extensions.values():
        if "lang" in options:
            options["lang"] = lang
    # Without its fonts: they come from another host, which may not be in reach here.
    config = {
        "site_name": "Stock",
        "site_url": f"http://127.0.0.1/{lang}/",
        "docs_dir": str(docs),
        "site_dir": str(folder / lang),
        "theme": {"name": "material", "language": lang, "font": False},
        "plugins": {
            "search": {},
            "mkdocs-jupyter": {"include_source": True, "cache": False},
        },
        "markdown_extensions": extensions,
    }
    file = folder / f"{lang}.yml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return file


class _Loader(yaml.SafeLoader):
    """Reads MkDocs's !ENV as nothing: the stock site needs none of it."""


_Loader.add_constructor("!ENV", lambda *_: None)


def forget(root: Path = ROOT) -> None:
    """Remove what builds have kept, so that the next one makes all of it."""
    for kept in ("build/cache/pages", "build/cache/templates", notebook_pages.KEPT):
        shutil.rmtree(root / kept, ignore_errors=True)


def mkdocs(config: Path, site: Path, root: str) -> None:
    """Build one language from a configuration file, as `mkdocs build` does, all of it anew."""
    forget()
    run(sys.executable, "-m", "mkdocs", "build", "-q", "-f", config, "-d", site, SITE_ROOT=root)


def lighthouse() -> Path:
    """Install Lighthouse as bench/package-lock.json says, if it isn't yet, and return it."""
    if not shutil.which("npm"):
        sys.exit("the scores need Node.js (npm); `python -m tools.bench --no-lighthouse` without")
    place = ROOT / "build" / "bench"
    place.mkdir(parents=True, exist_ok=True)
    program = place / "node_modules" / "lighthouse" / "cli" / "index.js"
    lock = (ROOT / "bench" / "package-lock.json").read_bytes()
    kept = place / "package-lock.json"
    if not program.is_file() or not kept.is_file() or kept.read_bytes() != lock:
        print("installing Lighthouse", flush=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(ROOT / "bench" / name, place)
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=place)
    return program


def scores(program: Path, url: str, runs: int) -> dict[str, float]:
    """Return the median scores of a page on a phone, and the bytes of its first view."""
    flags = "--headless=new --no-sandbox --disable-gpu --disable-background-networking"
    found = []
    for _ in range(runs):
        command = ["node", program, url, "--quiet", "--output=json", f"--chrome-flags={flags}"]
        report = json.loads(run(*command, CHROME_PATH=find() or "").stdout)
        requests = report["audits"]["network-requests"]["details"]["items"]
        found.append(
            {name: round(100 * report["categories"][name]["score"]) for name in CATEGORIES}
            | {"bytes": sum(request["transferSize"] for request in requests)}
        )
    return {key: median(one[key] for one in found) for key in found[0]}


def pages(lang: str) -> list[str]:
    """Return the addresses of a language's pages below the site's."""
    names = sorted(file.stem for file in (ROOT / "docs" / lang).glob("*.md"))
    return [f"{lang}/" if name == "index" else f"{lang}/{name}/" for name in names]


def compare(langs: list[str], runs: int, with_lighthouse: bool) -> None:
    """Print both sites' build times, scores and weights."""
    with tempfile.TemporaryDirectory() as folder:
        ours, other = Path(folder, "ours"), Path(folder, "stock")
        ours.mkdir()
        other.mkdir()
        configs = {lang: stock(lang, other) for lang in langs}
        with served(ours) as root, served(other) as stock_root:
            times = {"ours": 0.0, "stock": 0.0}
            for lang in langs:
                build = partial(mkdocs, languages()[lang], ours / lang, root)
                times["ours"] += seconds(build, runs)
                build = partial(mkdocs, configs[lang], other / lang, stock_root)
                times["stock"] += seconds(build, runs)
            ratio = times["ours"] / times["stock"]
            print(
                f"build, {len(langs)} languages one after the other: {times['ours']:.2f} s, "
                f"stock {times['stock']:.2f} s: {ratio:.2f} times (goal: at most 1.5)\n"
            )
            if not with_lighthouse:
                return
            program = lighthouse()
            head = "page", "perf/access/practices/seo", "first view", "stock", "first view"
            print("{:<25} {:<25} {:>10}   {:<18} {:>10}".format(*head), flush=True)
            for path in (path for lang in langs for path in pages(lang)):
                row = [scores(program, address + path, runs) for address in (root, stock_root)]
                scored = ["/".join(f"{one[name]:g}" for name in CATEGORIES) for one in row]
                weight = [f"{one['bytes'] / 1024:.1f} KiB" for one in row]
                missed = [name for name, goal in GOALS.items() if row[0][name] < goal]
                missed += ["first view"] * (row[0]["bytes"] > FIRST_VIEW)
                note = f"  below the goal: {', '.join(missed)}" if missed else ""
                line = "{:<25} {:<25} {:>10}   {:<18} {:>10}{}"
                cells = path, scored[0], weight[0], scored[1], weight[1], note
                print(line.format(*cells), flush=True)


def growth(runs: int) -> None:
    """Print how long the build takes for the languages there are and for twelve."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "house")
        for name in ("docs", "locales", "snippets", "theme", "tools"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        for name in ("constraints.txt", "mkdocs.yml", "pyproject.toml"):
            shutil.copy(ROOT / name, copy)

        def build() -> None:
            forget(copy)
            run(sys.executable, "-m", "tools.build", cwd=copy)

        first = seconds(build, runs)
        few = len(languages(copy))
        for lang in MORE[: 12 - few]:
            for room in ("docs", "locales"):
                shutil.copytree(copy / room / "fr", copy / room / lang)
            config = copy / "locales" / lang / "mkdocs.yml"
            text = config.read_text("utf-8")
            for key in ("docs/", "site/", "language: ", "lang: "):
                text = text.replace(f"{key}fr", f"{key}{lang}")
            config.write_text(text, encoding="utf-8")
        second = seconds(build, runs)
        many = len(languages(copy))
        print(
            f"\nbuild, all side by side on {os.cpu_count()} cores: {few} languages {first:.2f} s, "
            f"{many} languages {second:.2f} s: {(second - first) / (many - few):.2f} s for one more"
        )


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("--runs", type=int, default=3, help="a figure is the median of so many")
    cli.add_argument("--lang", choices=languages(), action="append", help="only this language")
    cli.add_argument("--no-lighthouse", action="store_true", help="only the build times")
    a = cli.parse_args()
    compare(a.lang or list(languages()), a.runs, not a.no_lighthouse)
    growth(a.runs)


if __name__ == "__main__":
    main()
