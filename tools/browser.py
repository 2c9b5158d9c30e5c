"""The Chromium that the tests look at the pages with.

    python -m tools.browser

finds one or installs one, and prints where it is. `CHROMIUM=/path/to/it` names another.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


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
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if os.path.exists(own) else None


def install() -> None:
    """Install Chromium: the system's package where we may, else Playwright's build."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {"stdout": subprocess.DEVNULL}
        subprocess.run(["apt-get", "update"], **quiet)
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "chromium"], **quiet)
    if not find():
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])


def main() -> None:
    """Run the command."""
    try:
        if not find():
            print("installing Chromium for the tests", flush=True)
            install()
        if not find():
            sys.exit("no Chromium to test the pages with: install one, or say CHROMIUM=/path/to/it")
    except FileNotFoundError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
