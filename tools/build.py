"""Build the site: every language side by side, each fault with its file and line.

    python -m tools.build [--lang fr] [--site-dir site]

A language is built aside and then put in the place of the old one, so that a build that fails
leaves the site as it was. Any fault, MkDocs's warnings included, makes the command fail.
"""

import argparse
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tools import front
from tools.languages import ROOT, languages
from tools.languages import faults as faults_of_words

_LINKED = re.compile(r"^Doc file '(?P<page>[^']+)' contains an? .*?link '(?P<near>[^']+)'")


@dataclass
class Built:
    """What came of building a language: its faults, and whether there are pages to show."""

    lang: str
    faults: list[str] = field(default_factory=list)
    complete: bool = False


class _Faults(logging.Handler):
    """Collects what MkDocs and its plugins warn of."""

    def __init__(self, docs: Path):
        super().__init__(logging.WARNING)
        self.docs, self.found = docs, []

    def emit(self, record: logging.LogRecord) -> None:
        # The traceback of a fault in a page helps no author; its message has been logged.
        message = record.getMessage()
        if message.startswith(("Error reading page", "Error building page")):
            return
        self.found.append(located(message, self.docs))


def located(message: str, docs: Path, root: Path = ROOT) -> str:
    """Return MkDocs's warning about a link with the file and line of the link before it."""
    if link := _LINKED.match(message):
        file = docs / link["page"]
        shown = file.relative_to(root) if file.is_relative_to(root) else file
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if link["near"] in line:
                return f"{shown}:{number}: {message}"
    return message


def build_language(lang: str, site: Path, site_root: str | None = None, version: str = "") -> Built:
    """Build one language into `site`/<lang>, in this process; never raises for a fault of content.

    `site_root` is the address that the whole site will have, if not the one in mkdocs.yml;
    `version` is what it will be published as, at /<lang>/<version>/.
    """
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    os.environ["SITE_VERSION"] = version  # tools/hooks.py
    if site_root:
        os.environ["SITE_ROOT"] = site_root
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort, BuildError, ConfigurationError

    os.chdir(ROOT)  # base_path of the snippets is relative to it
    result = Built(lang)
    docs = ROOT / "docs" / lang
    if not docs.is_dir():
        result.faults.append(f"docs/{lang}: no such folder; the language has no pages yet")
        return result
    log = logging.getLogger("mkdocs")
    log.propagate = False
    log.setLevel(logging.WARNING)
    log.handlers[:] = [handler := _Faults(docs)]
    new, old, live = site / f".{lang}.new", site / f".{lang}.old", site / lang
    try:
        # strict=False: MkDocs would throw the pages away; the faults are counted here instead.
        config = load_config(str(languages()[lang]), site_dir=str(new), strict=False)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
        result.complete = True
    except BuildError as error:
        handler.found.append(str(error))
    except Abort as error:
        if not handler.found:  # else it is logged already
            handler.found.append(str(error))
    except ConfigurationError as error:
        handler.found.append(f"{languages()[lang].relative_to(ROOT)}: {error}")
    except Exception as error:
        file, line = getattr(error, "filename", None), getattr(error, "lineno", None)
        at = f"{Path(file).relative_to(ROOT)}:{line}: " if file and line else ""
        handler.found.append(f"{at}{type(error).__name__}: {error}")
    result.faults = list(dict.fromkeys(handler.found))
    if result.complete:
        shutil.rmtree(old, ignore_errors=True)
        if live.exists():
            live.rename(old)
        new.rename(live)
        shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(new, ignore_errors=True)
    return result


def write_root(site: Path, langs: Iterable[str], site_root: str) -> None:
    """Write what stands above the languages: the page that leads to them and the lists of them."""
    for path, text in front.files(langs, site_root).items():
        (site / path).write_text(text, encoding="utf-8")


def site_root() -> str:
    """Return the address of the site: $SITE_ROOT or what mkdocs.yml says."""
    from mkdocs.utils.yaml import yaml_load

    with (ROOT / "mkdocs.yml").open("rb") as file:
        return yaml_load(file)["extra"]["site_root"]


def processes(langs: Iterable[str]) -> int:
    """Return how many processes are to build `langs` side by side.

    One more than there are processors: three languages on two would take the time of four.
    """
    return min(len(list(langs)), (os.cpu_count() or 1) + 1)


def build_all(site: Path, langs: Iterable[str], version: str = "") -> list[str]:
    """Build `langs` side by side into the folder `site`; return the faults.

    `version` is what they will be published as. With any fault `site` stays as it was.
    """
    langs = list(langs)
    if faults := faults_of_words():
        return faults
    site.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=site) as aside:
        build = partial(build_language, site=Path(aside), version=version)
        with ProcessPoolExecutor(processes(langs)) as pool:
            built = list(pool.map(build, langs))
        faults = [f"{b.lang}: {fault}" for b in built for fault in b.faults]
        if not faults:
            for lang in langs:
                shutil.rmtree(site / lang, ignore_errors=True)
                Path(aside, lang).rename(site / lang)
            write_root(site, languages(), site_root())
    return faults


def main() -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("--lang", choices=languages(), action="append", help="only this language")
    cli.add_argument(
        "--site-dir", type=Path, default=ROOT / "site", help="where to (default: site)"
    )
    a = cli.parse_args()
    langs = a.lang or list(languages())
    try:
        faults = build_all(a.site_dir.absolute(), langs)
    except OSError as error:
        sys.exit(f"cannot write {error.filename or a.site_dir}: {error.strerror or error}")
    if faults:
        count = f"{len(faults)} fault{'s' * (len(faults) != 1)}"
        sys.exit("\n".join([*faults, f"{count}: nothing was built"]))
    print(f"built {', '.join(langs)} into {os.path.relpath(a.site_dir)}/")


if __name__ == "__main__":
    main()
