"""The built site, served from a sub-path, and a browser to look at it with."""

import fcntl
import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.notebooks import run as runs
from tests.site.look import Site, pages, watch
from tools import notebooks
from tools.languages import ROOT

SITE_ROOT = "https://lessons.example/scale/"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing: a failed request is a fault of the page that made it."""


class Server(ThreadingHTTPServer):
    """A server of files."""

    def handle_error(self, request, client_address):
        """Print an error as usual; a browser that leaves a page before all has come is none."""
        if not isinstance(sys.exc_info()[1], BrokenPipeError | ConnectionResetError):
            super().handle_error(request, client_address)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, worker_id) -> Path:
    """The folder of the built site: built once a run, whatever the number of workers.

    SITE=site looks at a site that is built already.
    """
    if ready := os.environ.get("SITE"):
        return Path(ready).absolute()
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    site = base / "served" / "scale"
    with (base / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not site.exists():
            # A notebook with all kinds of outputs; of the others it is enough to see the code.
            runs.run(notebooks.all_pages()["en"]["amp"])
            done = subprocess.run(
                [sys.executable, "-m", "tools.build", "--site-dir", site],
                cwd=ROOT,
                env=os.environ | {"SITE_ROOT": SITE_ROOT},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"the site does not build:\n{done.stdout}{done.stderr}"
    return site


@pytest.fixture(scope="session")
def site(folder):
    """The site, served on a free port below /scale/ or what its folder is called."""
    handler = partial(_Quiet, directory=str(folder.parent))
    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}/{folder.name}/")
        server.shutdown()


@pytest.fixture(scope="session")
def known() -> dict:
    """What accessibility() has looked at on the pages before."""
    return {}


@pytest.fixture(scope="session")
def tab(browser, site):
    """A tab of the browser, for all pages that are only looked at: a new one costs more."""
    context = browser.new_context(
        reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"]
    )
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.faults, page.path = watch(page, site.url), None
    yield page
    context.close()


def turned(tab, path: str, site):
    """Yield the tab at a page, which is loaded once for all tests that follow each other there."""
    new = tab.path != path
    if new:
        tab.goto("about:blank")  # or the page before would be drawn anew for this width
        tab.path = path
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.emulate_media(color_scheme="light")
    if new:
        tab.goto(site.url + path)
    yield tab
    faults = "\n".join(tab.faults)
    tab.faults.clear()
    assert not faults, faults


# Of a module, so that pytest runs all tests of a page together, each page on one worker.
@pytest.fixture(
    scope="module",
    params=[pytest.param(path, marks=pytest.mark.xdist_group(path)) for path in pages()],
)
def path(request) -> str:
    """The path of each page in turn."""
    return request.param


@pytest.fixture
def page(tab, path, site):
    """Each page in turn, to be left as it was found, and with nothing gone wrong."""
    yield from turned(tab, path, site)
