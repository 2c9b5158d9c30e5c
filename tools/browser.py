"""The Chromium that the tests look at the pages with.

    python -m tools.browser

finds one or installs one. `CHROMIUM=/path/to/it` names another.

Its headless shell, which has no windows, opens a page in half the time: where packages may be
installed it is, even beside a Chromium with windows.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Says that this environment has asked for the shell once: not every system has a package of it.
ASKED = Path(sys.prefix, "headless-shell")


def find() -> str | None:
    """Return the path of Chromium: $CHROMIUM, the machine's own, or Playwright's; or None.

    Raises FileNotFoundError if $CHROMIUM names none.
    """
    if named := os.environ.get("CHROMIUM"):
        if not shutil.which(named):
            raise FileNotFoundError(f"CHROMIUM={named} is no program; unset it or mend it")
        return shutil.which(named)
    for name in NAMES:
        if path := shutil.which(name):
            return path
    return own()


def own() -> str | None:
    """Return the path of the Chromium that Playwright has installed, or None."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


def packages() -> bool:
    """Return whether this process may install packages of the system."""
    return bool(shutil.which("apt-get")) and os.geteuid() == 0


def install() -> None:
    """Install Chromium: the system's package where we may, else Playwright's build."""
    if packages():
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        get = ["apt-get", "install", "-y", "--no-install-recommends"]
        subprocess.run(["apt-get", "update"], **quiet)
        if subprocess.run([*get, SHELL], **quiet).returncode and not find():
            subprocess.run([*get, "chromium"], **quiet)
    if not find():
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])
    ASKED.touch()


def wanting() -> bool:
    """Return whether there is none, or a better one to be had."""
    found = find()
    if found is None or os.environ.get("CHROMIUM"):
        return found is None
    return not shutil.which(SHELL) and packages() and not ASKED.exists()


def main() -> None:
    """Run the command."""
    try:
        if wanting():
            print("installing Chromium for the tests", flush=True)
            install()
        if not find():
            sys.exit("no Chromium to test the pages with: install one, or say CHROMIUM=/path/to/it")
    except FileNotFoundError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
