"""The parts of publishing by themselves: the front pages, the offline copy, the preview."""

import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest

from tools import front, offline, preview
from tools.front import Version

ONLINE = "https://lessons.example/scale/fr/2.13/"
FILES = {"index.html", "amp/index.html", "amp/index.md", "snippets/amp/train.py", "assets/site.css"}


@pytest.mark.parametrize(
    ("path", "link", "copied"),
    [
        ("index.html", "amp/", "amp/index.html"),
        ("index.html", "amp/#loop", "amp/index.html#loop"),
        ("index.html", ".", "index.html"),
        ("amp/index.html", "..", "../index.html"),
        ("amp/index.html", "../#top", "../index.html#top"),
        ("amp/index.html", "./", "index.html"),
        ("amp/index.html", "../assets/site.css", "../assets/site.css"),
        ("amp/index.html", "index.md", "index.md"),
        ("amp/index.html", "../../../fr/2.13/amp/", "index.html"),
        ("amp/index.html", "../../../de/2.13/amp/", ONLINE.replace("fr", "de") + "amp/"),
        ("amp/index.html", "../../versions.html", ONLINE.replace("2.13/", "versions.html")),
        ("amp/index.html", "../absent.zip", f"{ONLINE}absent.zip"),
        ("amp/index.html", "#loop", "#loop"),
        ("amp/index.html", "https://pytorch.org/", "https://pytorch.org/"),
        ("amp/index.html", "mailto:a@b.example", "mailto:a@b.example"),
        ("amp/index.html", "data:,", "data:,"),
    ],
)
def test_a_link_of_the_offline_copy_names_its_file_or_leads_out(path, link, copied):
    made = offline.page(f'<a class="x" href="{link}">x</a>', path, FILES, ONLINE)
    assert made == f'<a class="x" href="{copied}">x</a>'


def test_what_looks_like_a_link_in_a_program_stays_as_it_is():
    text = "<pre>&lt;a href=&quot;amp/&quot;&gt;</pre>"
    assert offline.page(text, "index.html", FILES, ONLINE) == text


def test_the_front_leads_to_latest_else_to_the_newest_else_to_the_language():
    older, newer = Version("2.12", frozenset({"latest"})), Version("2.13")
    assert front.home([newer, older]) == "latest/"
    assert front.home([newer]) == "2.13/"
    assert front.home([]) == ""
    made = front.files(["en", "fr"], "https://lessons.example", {"en": [newer, older], "fr": []})
    assert 'href="en/latest/"' in made["index.html"] and 'href="fr/"' in made["index.html"]
    assert "en/versions.html" in made
    assert set(front.files(["en"], "https://lessons.example/x/")) == {
        *("index.html", "404.html", "sitemap.xml", "robots.txt", "llms.txt")
    }


def test_the_preview_serves_as_a_host_of_project_pages_does(tmp_path):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "index.html").write_text("English")
    (tmp_path / "404.html").write_text("none")
    (tmp_path / "empty").mkdir()
    with preview.server(tmp_path, "https://lessons.example/scale/") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert server.address.endswith("/scale/")
        assert urllib.request.urlopen(server.address + "en").read() == b"English"
        root = server.address.removesuffix("scale/")
        for absent in (f"{server.address}fr/", f"{server.address}empty/", f"{root}en/", root):
            with pytest.raises(urllib.error.HTTPError, match="404") as answer:
                urllib.request.urlopen(absent)
            assert answer.value.read() == b"none"
            answer.value.close()
        server.shutdown()


def test_make_preview_serves_the_branch_as_it_would_be_and_publishes_nothing(house):
    assert house.publish("2.13", "latest").returncode == 0
    tip = house.tip()
    house.tree.edit("docs/en/amp.md", "A small page.", "Not yet committed.")
    house.root.joinpath("closed").touch()  # what the gate would refuse can be looked at
    command = [sys.executable, "-m", "tools.publish", "dev", "--preview", "--port", "0"]
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell's `&` has it
    process = subprocess.Popen(
        command, cwd=house.root, env=house.env, stdout=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGINT, ignored)
    with process:
        try:
            address = process.stdout.readline().removeprefix("serving ").partition(";")[0]
            for path, text in (
                ("en/dev/amp/", "Not yet"),
                ("en/latest/", "Home"),
                ("", "en/latest/"),
            ):
                assert text in urllib.request.urlopen(address + path).read().decode()
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()
    assert house.tip() == tip
    assert list((house.root.parent / "tmp").iterdir()) == []


def test_make_publish_wants_a_version():
    done = subprocess.run(["make", "-n", "publish"], cwd=front.ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "make publish VERSION=2.13 ALIAS=latest" in done.stderr
