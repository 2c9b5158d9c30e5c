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
from playwright.sync_api import sync_playwright

from tests.site.look import Site, watch
from tools.browser import find
from tools.languages import ROOT

SITE_ROOT = "https://lessons.example/scale/"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


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
def worker_id(request) -> str:
    """The name of this worker, `master` without any."""
    return getattr(request.config, "workerinput", {}).get("workerid", "master")


@pytest.fixture(scope="session")
def site(folder):
    """The site, served on a free port below /scale/ or what its folder is called."""
    handler = partial(_Quiet, directory=str(folder.parent))
    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}/{folder.name}/")
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a worker."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, site):
    """A function that opens a page of the site and fails the test for what goes wrong there.

    open_page("en/amp/", width=390, scheme="dark", javascript=False); `bad=html` puts a planted
    page in its place, and `page.faults` is what the watch has seen; only then it isn't an error.
    """
    contexts, pages = [], []

    def open_page(path, width=1280, scheme="light", javascript=True, bad=None):
        context = browser.new_context(
            viewport={"width": width, "height": 844 if width < 500 else 900},
            color_scheme=scheme,
            java_script_enabled=javascript,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.faults = watch(page, site.url)
        if bad is None:
            pages.append(page)
        else:
            # Not the browser's own request for an icon of a page without one.
            icon = '<link rel="icon" href="data:,">'
            page.route(
                site.url + path,
                lambda route: route.fulfill(body=icon + bad, content_type="text/html"),
            )
        page.goto(path if ":" in path else site.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    faults = [fault for page in pages for fault in page.faults]
    assert not faults, "\n".join(faults)
