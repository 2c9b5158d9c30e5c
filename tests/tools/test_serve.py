"""The server, really started in a copy of the house."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import Future

import pytest

from tests.conftest import small_house
from tools import serve
from tools.languages import languages, words
from tools.serve import HOST, snapshot, taken, touched

PATIENCE = 60  # seconds: a fault of the server, not a slow machine, takes longer


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return probe.getsockname()[1]


class Server:
    """A running server and what it has said so far."""

    def __init__(self, root, port: int):
        self.port, self.said = port, ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.serve", "--port", str(port)],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.reader = threading.Thread(target=self._listen, daemon=True)
        self.reader.start()

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.said += line

    def get(self, path: str) -> tuple[int, str, str]:
        """Return the status, the type and the text of what stands at a path."""
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}{path}", timeout=90) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["Content-Type"], error.read().decode()

    def until(self, true, what: str) -> None:
        """Wait until `true()`, for the time that patience lasts."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, (
                f"waited in vain for {what}; the server said:\n{self.said}"
            )
            time.sleep(0.05)

    def until_said(self, pattern: str) -> None:
        """Wait until the server has printed something that matches."""
        self.until(lambda: re.search(pattern, self.said), pattern)

    def end(self) -> int:
        """Send Ctrl-C; return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=PATIENCE)
        self.reader.join(timeout=PATIENCE)
        self.process.stdout.close()
        return status


SHARED = pytest.mark.xdist_group("serve")  # one worker has one server for them


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A server of a small house that is kept for all tests which leave it as it was."""
    house = small_house(tmp_path_factory.mktemp("serve") / "house")
    running = Server(house.root, free_port())
    running.house = house
    running.until_said("serving")
    yield running
    running.end()


def files(house) -> dict:
    tops = ("docs", "locales", "snippets", "tools")
    found = [path for top in tops for path in (house.root / top).rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in found if "__pycache__" not in path.parts}


@pytest.fixture
def server(running):
    """The server; what the test has edited is put back, and built, after it."""
    before, running.said = files(running.house), ""
    yield running
    changed = {path: text for path, text in files(running.house).items() if text != before[path]}
    running.said = ""
    for path in changed:
        path.write_bytes(before[path])
    if changed:
        running.until_said("built .* in")


@pytest.fixture
def house(server):
    """The house that it serves."""
    return server.house


@SHARED
def test_all_languages_are_served_at_one_address(server):
    for lang in ("en", "fr", "de"):
        status, kind, page = server.get(f"/{lang}/amp/")
        assert status == 200 and kind.startswith("text/html")
        assert f'<link rel="canonical" href="http://{HOST}:{server.port}/{lang}/amp/"' in page
    assert "Français" in server.get("/")[2]
    assert server.get("/en/absent/")[0] == 404
    status, kind, program = server.get("/de/snippets/small/right.py")
    assert status == 200 and kind.startswith("text/") and program.startswith("# /// script")


@SHARED
@pytest.mark.parametrize(
    "path, old, new, shown",
    [
        ("docs/fr/amp.md", "A small page.", "Une petite page.", "/fr/amp/"),
        ("snippets/small/right.out", "total: 3", "total: 33", "/de/amp/"),
        ("locales/de/messages.yml", "Ausgabe", "Gedruckt", "/de/amp/"),
        ("tools/markdown/code.py", '"class": "listing"', '"class": "changed"', "/en/amp/"),
    ],
    ids=["page", "snippet", "words", "tool"],
)
def test_an_edit_shows_and_the_browser_is_told_to_reload(server, house, path, old, new, shown):
    epoch = re.search(r"livereload\((\d+), ", server.get(shown)[2])[1]
    house.edit(path, old, new)
    part = new.partition('"class": ')[2] or new
    server.until(lambda: part in server.get(shown)[2], f"{part} at {shown}")
    # A browser waits at this address and reloads once it is given a later number.
    assert int(server.get(f"/livereload/{epoch}/1")[2]) > int(epoch)


@SHARED
def test_a_mistake_is_printed_with_file_and_line_and_the_server_lives_on(server, house):
    house.edit("docs/fr/amp.md", "right.py:main", "right.py:absent")
    server.until_said(r"fr: docs/fr/amp\.md:13: .*no such section")
    assert server.get("/fr/amp/")[0] == 200
    house.edit("locales/de/messages.yml", "output: Ausgabe", "output: [")
    server.until_said(r"locales/de/messages\.yml:\d+: not YAML")
    house.edit("locales/de/messages.yml", "output: [", "output: Gedruckt")
    house.edit("docs/fr/amp.md", "right.py:absent", "right.py:main")
    house.edit("docs/fr/amp.md", "A small page.", "Une petite page.")
    server.until(lambda: "Une petite page." in server.get("/fr/amp/")[2], "the mended page")
    server.until(lambda: "Gedruckt" in server.get("/de/amp/")[2], "the mended words")


def test_a_page_edited_while_words_could_not_be_read_is_built_with_them(monkeypatch, tmp_path):
    monkeypatch.setattr(serve, "snapshot", dict)
    builder, built, answers = serve.Builder(tmp_path, "x"), [], [["a fault"], []]
    monkeypatch.setattr(serve, "faults_of_words", lambda: answers.pop(0))
    monkeypatch.setattr(builder, "_built", lambda langs: built.append(langs) or [])
    builder.build(["en"])
    builder.build(["de"])
    assert built == [["en", "de"]]


def test_a_mistake_that_was_there_at_the_start_shows_in_the_browser_until_it_is_mended(tree):
    tree.edit("docs/fr/amp.md", "right.py:main", "right.py:absent")
    running = Server(tree.root, free_port())
    running.until_said("serving")
    assert "docs/fr/amp.md:13: " in running.get("/fr/")[2]
    assert running.get("/en/")[0] == 200
    tree.edit("docs/fr/amp.md", "right.py:absent", "right.py:main")
    running.until(lambda: "total += number" in running.get("/fr/amp/index.md")[2], "the page")
    running.end()


@SHARED
def test_a_warning_is_printed_and_the_page_is_shown_all_the_same(server, house):
    house.edit("docs/en/amp.md", "index.md#loop", "absent.md")
    server.until_said(r"en: docs/en/amp\.md:8: .*'absent\.md'")
    assert 'href="absent.md"' in server.get("/en/amp/")[2]


def test_a_taken_port_is_told_at_once_with_a_free_one(tree):
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        done = tree.run("tools.serve", "--port", str(port))
    assert done.returncode == 1
    assert f"port {port} is taken: try `make serve PORT=" in done.stderr
    assert "built" not in done.stdout


def test_the_port_that_is_offered_is_free():
    with socket.create_server((HOST, 0)) as other:
        offered = int(re.search(r"PORT=(\d+)", taken(other.getsockname()[1]))[1])
        socket.create_server((HOST, offered)).close()


def children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes through /proc")
def test_no_process_outlives_the_server_however_it_ends(tree):
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        running = Server(tree.root, free_port())
        running.until_said("serving")
        pids = children(running.process.pid)
        assert pids
        running.process.send_signal(how)
        running.process.wait(timeout=PATIENCE)
        running.until(lambda pids=pids: not any(map(alive, pids)), f"the end of {pids} after {how}")
        running.end()
        if how != signal.SIGKILL:
            assert running.process.returncode == 0, running.said
            assert "Traceback" not in running.said


def test_a_change_of_one_language_builds_that_one_and_a_shared_one_all(tree):
    langs = ["en", "fr", "de"]

    def change(path: str) -> tuple[list[str], bool]:
        before = snapshot(tree.root)
        tree.write(path, "changed")
        return touched(before, snapshot(tree.root), langs)

    assert change("docs/fr/amp.md") == (["fr"], False)
    assert change("locales/de/figures.yml") == (["de"], False)
    assert change("locales/de/messages.yml") == (["de"], False)
    assert change("snippets/small/right.py") == (langs, False)
    assert change("theme/new.css") == (langs, False)
    assert change("build/verification/cpu.json") == (langs, False)  # the badges speak of it
    assert change("tools/new.py") == (langs, True)
    before = snapshot(tree.root)
    assert touched(before, before, langs) == ([], False)


def test_a_changed_name_of_a_language_builds_all(tree, monkeypatch, tmp_path):
    monkeypatch.setattr(serve, "snapshot", lambda: snapshot(tree.root))
    monkeypatch.setattr(serve, "languages", lambda: languages(tree.root))
    monkeypatch.setattr(serve, "words", lambda lang: words(lang, tree.root))
    builder, built = serve.Builder(tmp_path, "x"), []
    monkeypatch.setattr(builder, "build", built.append)
    tree.edit("locales/de/messages.yml", "output: ", "output: X")
    builder()
    tree.edit("locales/de/messages.yml", "language: ", "language: X")
    builder()
    tree.write("locales/de/messages.yml", "not: [words")
    builder()
    assert built == [["de"], ["en", "de", "fr"], ["en", "de", "fr"]]


WARM = r"""
import sys
from pathlib import Path
from tools.build import build_language
from tools.serve import warm_up

site, url = Path("other").absolute(), "http://127.0.0.1/"
site.mkdir(exist_ok=True)
build_language("en", site, url)
if sys.argv[1:]:
    sys.exit()
Path("docs/en/bad.md").write_text("---\nnot: [YAML\n---\n/// figure | absent\n///\n")
for page in ("index.md", "bad.md", "absent.md", "amp.md"):
    print(page, "nbconvert" in sys.modules)
    warm_up(page, "en", url)
print("end", "nbconvert" in sys.modules)
"""


def test_after_the_first_build_a_process_loads_what_an_edit_will_ask_of_it(tree):
    for options in ["before"], []:  # as of a start before: what was kept is taken
        done = subprocess.run(
            [sys.executable, "-c", WARM, *options], cwd=tree.root, capture_output=True, text=True
        )
        assert done.stderr == ""
    assert done.stdout.split() == [
        *("index.md", "False", "bad.md", "False", "absent.md", "False", "amp.md", "False"),
        *("end", "True"),
    ]


class Slow:
    """A process that takes its time; it counts what it was asked."""

    def __init__(self):
        self.asked = []

    def submit(self, *call):
        """Do nothing for a while."""
        time.sleep(0.02)
        self.asked.append(call)
        done = Future()
        done.set_result(None)
        return done

    def shutdown(self, **_options):
        """End."""


def test_processes_that_end_during_the_warm_up_are_asked_for_nothing_more(tree, monkeypatch):
    monkeypatch.setattr(serve, "snapshot", dict)
    monkeypatch.setattr(serve, "ROOT", tree.root)
    raised = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    for _ in range(5):
        builder, pool = serve.Builder(tree.root, "x"), Slow()
        builder.pools = [pool]
        warming = threading.Thread(target=builder._warm_up, args=[builder.pools])
        warming.start()
        time.sleep(0.03)  # in the middle of a page
        builder.close()
        asked = len(pool.asked)
        warming.join()
        assert not raised and len(pool.asked) == asked == len(languages())


def test_an_edit_waits_for_one_page_of_the_warm_up_and_no_more(tree, monkeypatch, tmp_path):
    monkeypatch.setattr(serve, "snapshot", dict)
    monkeypatch.setattr(serve, "ROOT", tree.root)
    for number in range(10):
        tree.write(f"docs/en/page{number}.md", "")
    builder, pool, before = serve.Builder(tmp_path, "x"), Slow(), []

    def build(langs: list[str]) -> None:
        before.append(len(pool.asked))
        time.sleep(0.1)
        before.append(len(pool.asked))

    monkeypatch.setattr(builder, "_build", build)
    builder.pools = [pool]
    warming = threading.Thread(target=builder._warm_up, args=[builder.pools])
    warming.start()
    time.sleep(0.1)
    builder.build(["en"])
    warming.join()
    assert 0 < before[0] < len(pool.asked) / 2
    assert before[0] == before[1]  # no page is rendered beside what is built
    asked = {call[1:3] for call in pool.asked}
    assert len(pool.asked) == len(asked) == 12 * len(languages())
    builder.pools = []  # the code has changed: these processes end
    builder._warm_up([pool])
    assert len(pool.asked) == len(asked)


class Idle:
    """A process that does nothing; it notes what it was asked to build."""

    def __init__(self, *_arguments, **_options):
        self.built = []

    def submit(self, _function, lang: str, *_arguments):
        """Say that the language was built."""
        self.built.append(lang)
        done = Future()
        done.set_result(serve.Built(lang, complete=True))
        return done


def test_a_language_has_a_process_of_its_own_that_is_warmed_up_once(monkeypatch, tmp_path):
    monkeypatch.setattr(serve, "snapshot", dict)
    monkeypatch.setattr(serve, "ProcessPoolExecutor", Idle)
    monkeypatch.setattr(serve, "processes", lambda langs: 2)
    monkeypatch.setattr(serve, "write_root", lambda *_: None)
    builder, warmed, called = serve.Builder(tmp_path, "x"), [], threading.Event()

    def warm_up(pools: list) -> None:
        warmed.append(pools)
        called.set()

    monkeypatch.setattr(builder, "_warm_up", warm_up)
    for langs in ["en", "de", "fr"], ["fr"], ["de"], ["de", "en"]:
        assert [built.lang for built in builder._built(langs)] == langs
    assert called.wait(PATIENCE)
    first, second = builder.pools
    assert first.built == ["en", "fr", "fr", "en"]
    assert second.built == ["de", "de", "de"]
    assert warmed == [builder.pools]


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http"])
def test_what_is_no_port_is_refused(tree, port):
    done = tree.run("tools.serve", f"--port={port}")
    assert done.returncode == 2
    assert f"'{port}' is no port; ports are the numbers 1 to 65535" in done.stderr
