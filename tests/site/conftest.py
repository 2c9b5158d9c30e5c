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

from tests.site.look import Site
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
