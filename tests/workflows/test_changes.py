"""The list of the pages that a change changes has all of them and no other."""

import subprocess
from pathlib import Path

import pytest

from tools import changes

PAGE = "<html><head><title>{title}</title></head><body><nav>{frame}</nav>{main}</body></html>"


def write(site: Path, address: str, text="text", title="A &amp; B", frame="menu") -> None:
    file = site / address / "index.html"
    file.parent.mkdir(parents=True, exist_ok=True)
    main = f'<main id="content">{text}</main>'
    file.write_text(PAGE.format(title=title, frame=frame, main=main), encoding="utf-8")


@pytest.fixture
def sites(tmp_path) -> tuple[Path, Path]:
    """Two built sites that are equal."""
    for name in ("before", "after"):
        for lang in ("en", "fr"):
            write(tmp_path / name, f"{lang}/")
            write(tmp_path / name, f"{lang}/amp")
            (tmp_path / name / lang / "site.css").write_text("body {}")
    return tmp_path / "before", tmp_path / "after"


def listed(sites) -> dict[str, list[str]]:
    parts = changes.compare(*sites, ["en", "fr"]).split("## ")[1:]
    return {part.split("\n")[0]: part.strip().split("\n")[2:] for part in parts}


def test_equal_sites_have_no_change(sites):
    assert listed(sites) == {"English": ["No page changes."], "Français": ["No page changes."]}


def test_changed_new_and_removed_pages_are_listed_for_each_language(sites):
    before, after = sites
    write(after, "fr/amp", text="autre", title="Leçon")
    write(after, "en/ddp", title="DDP")
    (after / "en/amp/index.html").unlink()
    assert listed(sites) == {
        "English": ["- removed: `en/amp/` A & B", "- new: `en/ddp/` DDP"],
        "Français": ["- changed: `fr/amp/` Leçon"],
    }


@pytest.mark.parametrize("spoil", ["menu", "css"])
def test_what_is_around_every_page_is_one_line(sites, spoil):
    if spoil == "menu":
        write(sites[1], "en/amp", frame="another menu")
    else:
        (sites[1] / "en/site.css").write_text("body {color: red}")
    (line,) = listed(sites)["English"]
    assert line.startswith("- changed: what is around the text")
    assert listed(sites)["Français"] == ["No page changes."]


def git(folder: Path, *args: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def test_a_change_is_listed_from_the_repository(tree, tmp_path, monkeypatch):
    tree.write(".gitignore", "site/\nbuild/\n")
    git(tree.root, "init", "-q")
    commit(tree.root, "one")
    tree.edit("docs/fr/amp.md", "A small page.\n---\n", "A small page.\n---\n\nUne phrase.\n")
    commit(tree.root, "two")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    done = tree.run("tools.changes", "--base", "HEAD^1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n- ") == 1
    assert "- changed: `fr/amp/` Lesson" in done.stdout
    assert (tree.root / "build/changes.md").read_text("utf-8") == done.stdout
    assert (tmp_path / "summary").read_text("utf-8") == done.stdout
    assert (tree.root / "site/fr/amp/index.html").exists()

    # A main that does not build must not keep the change that mends it from being looked at.
    tree.write("docs/fr/amp.md", "[nowhere](nowhere.md)\n")
    commit(tree.root, "three")
    git(tree.root, "revert", "--no-edit", "HEAD")
    done = tree.run("tools.changes", "--base", "HEAD^1")
    assert done.returncode == 0, done.stderr
    assert "The pages of HEAD^1 cannot be built here" in done.stdout

    done = tree.run("tools.changes", "--base", "--upload-pack=x")
    assert done.returncode != 0
    done = tree.run("tools.changes", "--base", "nosuch")
    assert "nosuch: no such commit here; git fetch it" in done.stderr

    tree.write("docs/fr/amp.md", "[nowhere](nowhere.md)\n")
    done = tree.run("tools.changes")
    assert done.returncode == 1
    assert "nowhere.md" in done.stderr
