"""Show the whole site at one address and follow each edit.

    python -m tools.serve [--port 8000]

Every language is built side by side into a private temporary folder, so that two servers never
share one. An edit builds again what it touches and the browser reloads. A mistake is printed with
its file and line, the pages stay as they were, and the server lives on.
"""

import argparse
import html
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path

from markdown import Markdown
from mkdocs.livereload import LiveReloadServer

from tools import markdown as extensions
from tools import notebook_pages
from tools.build import Built, build_language, processes, write_root
from tools.languages import ROOT, languages, words
from tools.languages import faults as faults_of_words

HOST = "127.0.0.1"
SOURCES = ("docs", "locales", "snippets", "theme", "tools", "mkdocs.yml", "build/verification")


def is_free(port: int) -> bool:
    """Say whether a server may have the port."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return False
    return True


def taken(port: int) -> str:
    """Return what to tell who asked for a port that another program has: which one is free."""
    other = next((p for p in range(port + 1, min(port + 100, 65536)) if is_free(p)), None)
    return f"port {port} is taken" + (f": try `make serve PORT={other}`" if other else "")


Snapshot = dict[Path, int]


def snapshot(root: Path = ROOT) -> Snapshot:
    """Return the time of change of each source, by its path relative to `root`."""
    found = {}
    for top in SOURCES:
        for path in [root / top, *(root / top).rglob("*")]:
            try:
                if path.is_file() and "__pycache__" not in path.parts:
                    found[path.relative_to(root)] = path.stat().st_mtime_ns
            except FileNotFoundError:  # an editor's passing file
                continue
    return found


def touched(before: Snapshot, after: Snapshot, langs: list[str]) -> tuple[list[str], bool]:
    """Return which of `langs` to build after a change, and whether our own code changed."""
    changed = {path for path, _ in before.items() ^ after.items()}
    own = {path for path in changed if path.parts[0] in ("docs", "locales")}
    if changed - own:
        return langs, any(p.parts[0] == "tools" and p.suffix == ".py" for p in changed)
    return [lang for lang in langs if any(path.parts[1] == lang for path in own)], False


def names() -> dict[str, str] | None:
    """Return what each language calls itself, which all pages show; None if that can't be read."""
    try:
        return {lang: words(lang)["language"] for lang in languages()}
    except (ValueError, KeyError):
        return None


def follow(parent: int) -> None:
    """In a build process: end when the server has gone, however it went; leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def show_faults(folder: Path, built: Built) -> None:
    """Where a language has no pages yet, show why there; else its old pages stay."""
    if not built.complete and not folder.exists():
        folder.mkdir()
        text = html.escape("\n".join(built.faults))
        page = f"<!doctype html><title>{built.lang}: not built</title><pre>{text}</pre>"
        (folder / "index.html").write_text(page, encoding="utf-8")


@cache
def _markdown(lang: str) -> Markdown:
    """Return what turns the pages of a language into HTML."""
    from mkdocs.config import load_config

    config = load_config(str(languages()[lang]))
    return Markdown(extensions=config.markdown_extensions, extension_configs=config.mdx_configs)


def warm_up(page: str, lang: str, url: str) -> None:
    """In a build process: render a page and its notebook, so that after an edit all is loaded."""
    file = ROOT / "docs" / lang / page
    try:
        text = file.read_text("utf-8")
        extensions.rendering = file
        _markdown(lang).reset().convert(text.partition("\n---\n")[2])
        if notebook_pages.has_notebook(text, file.stem):
            notebook_pages.made(file, f"{url}{lang}/", anew=True)
    except Exception:  # the build tells what is wrong with a page
        return
    finally:
        extensions.rendering = None


class Builder:
    """Builds languages in warm processes; called by the server after each change.

    A language is always built by the same process, which holds what it has read and loaded.
    """

    def __init__(self, site: Path, url: str):
        self.site, self.url = site, url
        self.files, self.names = snapshot(), names()
        self.pools: list[ProcessPoolExecutor] = []
        self.free = threading.RLock()  # held while the processes are asked for something
        self.waiting: list[str] = []  # languages to build once the words can be read

    def __call__(self) -> None:
        """Build what has changed since the last call. Never raises: the server would hang."""
        before, self.files = self.files, snapshot()
        langs, code = touched(before, self.files, list(languages()))
        called, self.names = self.names, names()
        if called != self.names:
            langs = list(languages())
        if code:
            self.close()  # warm processes hold the modules as they were
        if langs:
            self.build(langs)

    def build(self, langs: list[str]) -> None:
        """Build `langs`; print how it went."""
        with self.free:
            self._build(langs)

    def _build(self, langs: list[str]) -> None:
        start = time.monotonic()
        langs = [lang for lang in languages() if lang in langs or lang in self.waiting]
        unread = faults_of_words()  # each language names the others: none can be built
        self.waiting = langs if unread else []
        built = [Built(lang, unread) for lang in langs] if unread else self._built(langs)
        for b in built:
            show_faults(self.site / b.lang, b)
        faults = unread or [f"{b.lang}: {fault}" for b in built for fault in b.faults]
        done = [b.lang for b in built if b.complete]
        for fault in faults:
            print(fault, file=sys.stderr, flush=True)
        took = f" in {time.monotonic() - start:.1f} s"
        print(f"built {', '.join(done)}{took}" if done else "nothing built", end="", flush=True)
        print(f"; faults: {len(faults)}, see above" if faults else "", flush=True)

    def _built(self, langs: list[str]) -> list[Built]:
        """Build `langs` and what stands above them; never raises."""
        if not self.pools:
            # spawn: the server has threads, and a forked child would also hold its port
            self.pools = [
                ProcessPoolExecutor(
                    1,
                    mp_context=multiprocessing.get_context("spawn"),
                    initializer=follow,
                    initargs=(os.getpid(),),
                )
                for _ in range(processes(languages()))
            ]
            threading.Thread(target=self._warm_up, args=[self.pools], daemon=True).start()
        try:
            built = [
                self._pool(lang).submit(build_language, lang, self.site, self.url) for lang in langs
            ]
            built = [one.result() for one in built]
            write_root(self.site, languages(), self.url)
        except BrokenProcessPool:
            self.close()
            built = [
                Built(lang, ["its build process died; the next edit starts another"])
                for lang in langs
            ]
        except Exception as error:  # such as words that can't be read
            built = [Built(lang, [str(error)]) for lang in langs]
        return built

    def _pool(self, lang: str) -> ProcessPoolExecutor:
        """Return the process that builds a language."""
        return self.pools[list(languages()).index(lang) % len(self.pools)]

    def _warm_up(self, pools: list[ProcessPoolExecutor]) -> None:
        """After the first build, let each process load what an edit will ask of it.

        That is done page by page: an edit waits for no more than one.
        """
        for page in sorted(file.name for file in (ROOT / "docs" / "en").glob("*.md")):
            with self.free:
                if pools is not self.pools:
                    return
                try:
                    done = [
                        self._pool(lang).submit(warm_up, page, lang, self.url)
                        for lang in languages()
                    ]
                    for one in done:
                        one.result()
                except BrokenProcessPool:
                    return  # the next build tells, and starts others
            time.sleep(0.01)  # who waits for a build goes first

    def close(self) -> None:
        """End the processes."""
        with self.free:
            for pool in self.pools:
                pool.shutdown(cancel_futures=True)
            self.pools = []


class _Server(LiveReloadServer):
    """MkDocs's server, which says when it can be reached and looks for changes by itself.

    Its own observer starts late and tells only what happens from then on: an edit made during the
    first build would wait for the next one.
    """

    def server_activate(self) -> None:
        super().server_activate()
        print(f"serving {self.url} in {', '.join(languages())}; Ctrl-C ends it", flush=True)

    def service_actions(self) -> None:
        """Ask for a build if anything changed since the last; the serving thread calls this."""
        super().service_actions()
        if snapshot() != self.builder.files:
            with self._rebuild_cond:
                self._want_rebuild = True
                self._rebuild_cond.notify_all()


def serve(port: int) -> None:
    """Serve until Ctrl-C or a signal to end. Raises OSError if the port can't be had."""
    url = f"http://{HOST}:{port}/"
    with tempfile.TemporaryDirectory(prefix="scale-by-example-") as folder:
        site = Path(folder)
        builder = Builder(site, url)
        server = _Server(builder, HOST, port, folder, shutdown_delay=0.2)
        server.build_delay = 0.05

        def not_found(_code: int) -> bytes | None:
            page = site / "en" / "404.html"
            return page.read_bytes() if page.is_file() else None

        server.error_handler = not_found
        try:
            builder.build(list(languages()))
            server.watch(str(ROOT / "mkdocs.yml"))  # with nothing to watch no page would reload
            server.serve()
        except KeyboardInterrupt:
            print()
        finally:
            builder.close()
            if server.serve_thread.is_alive():
                server.shutdown()


def _port(text: str) -> int:
    """Read the number of a port."""
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; ports are the numbers 1 to 65535")
    return int(text)


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("--port", type=_port, default=8000)
    port = cli.parse_args().port
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    for name in (signal.SIGINT, signal.SIGTERM):  # a shell's `&` would have us ignore SIGINT
        signal.signal(name, signal.default_int_handler)
    if not is_free(port):
        sys.exit(taken(port))
    try:
        serve(port)
    except OSError as error:
        sys.exit(f"cannot serve at port {port}: {error.strerror or error}")


if __name__ == "__main__":
    main()
