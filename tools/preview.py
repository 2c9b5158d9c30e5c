"""Serve a published branch as its host would: below the site's own path, with its one 404 page."""

import signal
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

HOST = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    """Serves `directory` at `below`; every other address is not found."""

    def __init__(self, *args, below: str, **options):
        self.below = below
        super().__init__(*args, **options)

    def translate_path(self, path: str) -> str:
        inside = path.startswith(self.below)
        return super().translate_path("/" + path[len(self.below) :] if inside else "/ /")

    def list_directory(self, path):
        """Show no listing: hosts of pages don't."""
        self.send_error(404)

    def send_error(self, code: int, *message) -> None:
        page = Path(self.directory, "404.html")
        if code != 404 or not page.is_file():
            return super().send_error(code, *message)
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing: the address was said once."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address) -> None:
        """Say nothing of a browser that left before it had everything."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, site_root: str, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of `folder` at the path of `site_root`; port 0 takes a free one.

    Its `address` is where the site then is. Raises OSError if the port can't be had.
    """
    below = urlsplit(site_root).path.rstrip("/") + "/"
    handler = partial(_Handler, directory=str(folder), below=below)
    made = _Server((HOST, port), handler)
    made.address = f"http://{HOST}:{made.server_port}{below}"
    return made


def serve(folder: Path, site_root: str, port: int) -> None:
    """Serve until Ctrl-C or a signal to end."""
    for name in (signal.SIGINT, signal.SIGTERM):  # a shell's `&` would have us ignore SIGINT
        signal.signal(name, signal.default_int_handler)
    try:
        with server(folder, site_root, port) as serving:
            print(f"serving {serving.address}; Ctrl-C ends it", flush=True)
            serving.serve_forever()
    except KeyboardInterrupt:
        print()
    except OSError as error:
        sys.exit(f"cannot serve at port {port} ({error.strerror}): try PORT={port + 1}")
