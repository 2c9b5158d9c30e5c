"""The Makefile, the words, the pins and the front door."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tools import browser, yaml_files
from tools.languages import faults, languages, words

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def names(requirements: list) -> set[str]:
    return {name for name in requirements if isinstance(name, str)}


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_make_help_prints_a_line_for_each_command():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    targets = set(re.findall(r"^\.PHONY: (\w+)$", MAKEFILE, re.M)) - {"browser"}
    assert {line.split()[1] for line in done.stdout.splitlines()} == targets
    assert {"serve", "test", "build", "outputs", "lint", "help"} <= targets


def test_ci_calls_exactly_make_test():
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[-1] == "exec make test"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.xdist_group("together")
def test_tests_of_a_group_go_to_one_worker(request, worker_id):
    """What they share is made once. Whoever runs them without workers has one for all."""
    assert worker_id == "master" or request.node.nodeid.endswith("@together")


def test_every_package_is_pinned_exactly_and_in_one_place():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    direct = set().union(*map(names, groups.values()))
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in direct), (
        "a version outside of the pins"
    )
    assert direct <= pins().keys()
    assert list(pins()) == sorted(pins())


def test_the_site_needs_no_torch():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert "torch" not in groups["site"]
    loads = "import sys, tools.build, tools.serve, tools.hooks, tools.checks, tools.markdown.code"
    check = f"{loads}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT).returncode == 0


def test_every_language_has_the_same_words():
    assert faults() == []


def test_the_templates_and_extensions_use_words_that_there_are():
    used = set()
    for file in (ROOT / "theme").rglob("*.html"):
        used |= set(re.findall(r"\bwords\.(\w+)", file.read_text("utf-8")))
    assert used <= words("en").keys()


@pytest.fixture
def locales(tmp_path):
    """A copy of the words and settings of all languages."""
    shutil.copytree(ROOT / "locales", tmp_path / "locales")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("fr/messages.yml", "close:", "cloze:", r"messages.yml: 'close' is missing \(English"),
        ("fr/messages.yml", "close:", "cloze:", r"messages.yml:\d\d: 'cloze' is not in English"),
        (
            "fr/messages.yml",
            'minutes: "{n}',
            'minutes: "{m}',
            r":\d\d: 'minutes' has not .*; use {n}$",
        ),
        (
            "fr/messages.yml",
            'minutes: "{n}\u00a0minutes"',
            'minutes: "{n} minutes',
            r":\d+: not YAML, the quote that opens",
        ),
        ("fr/figures.yml", "  bits16:", "  bit16:", r"figures.yml: 'loop.bits16' is missing"),
        (
            "fr/figures.yml",
            "{largest}",
            "most",
            r"figures.yml:\d+: 'formats.facts' .* {largest}, {step}$",
        ),
        ("fr/figures.yml", '  group: "', '  group: "a" "', r"figures.yml:\d: not YAML \("),
        ("fr/mkdocs.yml", "INHERIT: ", 'INHERIT: "', "fr/mkdocs.yml:1: not YAML, the quote that"),
    ],
)
def test_words_that_differ_from_english_are_told_with_file_and_key(
    locales, file, old, new, message
):
    path = locales / "locales" / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    found = faults(locales)
    assert any(re.search(message, fault) for fault in found), found
    assert len(found) == (1 if "z" not in new and "bit16" not in new else 2)
    assert not any("\n" in fault or "Error" in fault for fault in found)


def test_what_is_opened_is_told_where_it_opens():
    for text, line in (
        ('a: b\nc: "d\ne: "f"\n', 2),
        ("a: b\nc: 'd\ne: f\n", 2),
        ('a: "b\n  c"\nd: [e\nf: g\n', 3),
        ("a: {b\nc: d\ne: f", 1),
        ("a: b\nc: d: e\n", 2),
    ):
        with pytest.raises(yaml_files.YamlError, match=rf"^x\.yml:{line + 10}: not YAML.*; "):
            yaml_files.load(text, "x.yml", before=10)


def test_words_that_are_no_words_are_refused(tmp_path):
    folder = tmp_path / "locales" / "xx"
    folder.mkdir(parents=True)
    with pytest.raises(ValueError, match="locales/xx/messages.yml: no such file"):
        words("xx", tmp_path)
    (folder / "messages.yml").write_text("close: no\n")
    with pytest.raises(ValueError, match="quote words like"):
        words("xx", tmp_path)


def test_a_language_is_a_folder_and_english_is_first(tmp_path):
    for lang in ("it", "de"):
        (tmp_path / "locales" / lang).mkdir(parents=True)
        (tmp_path / "locales" / lang / "mkdocs.yml").write_text("")
    (tmp_path / "locales" / "en").mkdir()
    assert list(languages(tmp_path)) == ["en", "de", "it"]


def test_the_site_and_its_repository_are_named_in_one_place():
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    addresses = re.findall(r'https://[^"\s\]]+', settings.split("nav:")[0])
    assert len(addresses) == 2
    for top in ("docs", "locales", "snippets", "theme", "tools"):
        for file in (ROOT / top).rglob("*"):
            if file.suffix in {".md", ".yml", ".html", ".py", ".js", ".css"}:
                text = file.read_text("utf-8")
                assert not any(address.rstrip("/") in text for address in addresses), file


def test_the_browser_is_the_one_that_is_named(monkeypatch, tmp_path):
    own = tmp_path / "chromium"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(own))
    assert browser.find() == str(own)
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError, match="absent is no program"):
        browser.find()
    monkeypatch.delenv("CHROMIUM")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.find() == str(own)


@pytest.mark.parametrize(
    "there, may, asked, wanting",
    [
        ([], False, False, True),
        ([], False, True, True),
        (["chromium"], True, False, True),
        (["chromium"], True, True, False),
        (["chromium"], False, False, False),
        ([browser.SHELL, "chromium"], True, False, False),
    ],
)
def test_a_browser_is_installed_if_there_is_none_and_the_quick_one_is_asked_for_once(
    monkeypatch, tmp_path, there, may, asked, wanting
):
    for name in there:
        tmp_path.joinpath(name).write_text("#!/bin/sh\n")
        tmp_path.joinpath(name).chmod(0o755)
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser, "own", lambda: None)
    monkeypatch.setattr(browser, "packages", lambda: may)
    monkeypatch.setattr(browser, "ASKED", tmp_path / "asked")
    if asked:
        browser.ASKED.touch()
    assert browser.wanting() == wanting
    if there:
        assert browser.find() == str(tmp_path / there[0])


def test_a_clone_stays_clean_after_every_command():
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    made = {"/.venv/", "/site/", "/build/", "__pycache__/", ".pytest_cache/", ".ruff_cache/"}
    assert made <= set(ignored)


def test_the_settings_of_each_language_inherit_the_english_ones():
    for lang, file in languages().items():
        if lang != "en":
            settings = yaml.safe_load(file.read_text("utf-8"))
            assert settings["INHERIT"] == "../../mkdocs.yml"
            assert settings["docs_dir"] == f"../../docs/{lang}"
            assert settings["theme"]["language"] == lang
            extensions = settings["markdown_extensions"]
            ours = {name for name in extensions if name.startswith("tools.markdown.")}
            assert {extensions[name]["lang"] for name in ours} == {lang}
