"""Publishing to a real repository: all or nothing, whatever happens and whoever else publishes."""

import json
import os
from pathlib import Path

import pytest

from tests.conftest import WARM
from tests.publish.conftest import LANGS

HERE = Path(__file__).parent


def steps(house, *command: str):
    """Run steps.py in the house; return what it prints."""
    env = house.env | {"PYTHONPATH": os.pathsep.join([house.env["PYTHONPATH"], str(HERE)])}
    done = WARM.run(["steps", *command], house.root, env, 300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(house, says: str, version: str = "2.13", alias: str = "latest") -> None:
    """Check that publishing fails with `says` and leaves the branch as it was."""
    before = house.tip()
    done = house.publish(version, alias)
    assert done.returncode == 1, done.stdout
    assert says in done.stderr
    assert done.stderr.endswith("nothing was published\n")
    assert "Traceback" not in done.stderr
    assert house.tip() == before


def hook(house, name: str, script: str) -> None:
    """Give the remote a hook."""
    file = house.remote / "hooks" / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_each_version_stands_in_every_language_beside_those_before_it(published):
    for lang in LANGS:
        listed = published.versions(lang)
        assert list(listed) == ["dev", "2.13", "2.12", "2.11"]
        assert listed["2.13"] == ["latest"]
        assert set(published.ls(lang)) == {
            *("dev", "2.13", "2.12", "2.11", "latest"),
            *("index.html", "versions.html", "versions.json"),
        }
        alias, version = (
            published.git("rev-parse", f"gh-pages:{lang}/{name}", at=published.remote)
            for name in ("latest", "2.13")
        )
        assert alias == version
    assert published.incomplete("2.13") == published.incomplete("dev") == []
    assert {"index.html", "404.html", "robots.txt", "sitemap.xml", "llms.txt", ".nojekyll"} <= set(
        published.ls()
    )


def test_a_version_is_one_commit_on_top_of_the_others(published):
    log = published.git("log", "--format=%H %P", "gh-pages", at=published.remote).splitlines()
    tips = list(published.tips.values())[::-1]
    assert [line.split() for line in log] == [
        [a, b] for a, b in zip(tips, tips[1:], strict=False)
    ] + [[tips[-1]]]


def test_older_versions_stay_byte_for_byte_as_they_were(published):
    for version in ("2.11", "2.12", "2.13"):
        for lang in LANGS:
            first, now = (
                published.git("rev-parse", f"{tip}:{lang}/{version}", at=published.remote)
                for tip in (published.tips[version], "gh-pages")
            )
            assert first == now


def test_canonical_links_sitemaps_and_robots_name_the_latest_by_full_addresses(published):
    root = "https://lessons.example/scale/"
    for version in ("2.12", "2.13"):
        page = published.show(f"fr/{version}/amp/index.html")
        assert f'<link rel="canonical" href="{root}fr/latest/amp/">' in page
        for lang in LANGS:
            assert f'hreflang="{lang}" href="{root}{lang}/latest/amp/">' in page
        assert f'hreflang="x-default" href="{root}en/latest/amp/">' in page
        assert f'property="og:image" content="{root}fr/{version}/assets/social/amp.png"' in page
        assert '<meta name="robots"' not in page
    # dev is found by those who look for it, not by search engines
    page = published.show("fr/dev/amp/index.html")
    assert '<meta name="robots" content="noindex">' in page
    assert f'<link rel="canonical" href="{root}fr/dev/amp/">' in page
    index = published.show("sitemap.xml")
    for lang in LANGS:
        assert f"<loc>{root}{lang}/latest/sitemap.xml</loc>" in index
        sitemap = published.show(f"{lang}/latest/sitemap.xml")
        assert f"<url><loc>{root}{lang}/latest/ddp/</loc>" in sitemap
        assert f'hreflang="x-default" href="{root}en/latest/ddp/"/>' in sitemap
    assert f"Sitemap: {root}sitemap.xml" in published.show("robots.txt")


def test_an_older_release_does_not_take_latest_back_and_others_keep_theirs(house):
    assert house.publish("2.13", "latest").returncode == 0
    newer = house.git("rev-parse", "gh-pages:en/2.13", at=house.remote)
    house.version("2.9")
    done = house.publish("2.9", "latest")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == ["latest stays with 2.13, which is newer"]
    assert house.versions("de") == {"2.13": ["latest"], "2.9": []}
    assert house.git("rev-parse", "gh-pages:en/latest", at=house.remote) == newer
    # a later edition of the same version keeps its alias and replaces its pages alone
    house.version("2.13")
    house.tree.edit("docs/en/amp.md", "A small page.", "A mended page.")
    source = house.commit()
    assert house.publish("2.13").returncode == 0
    assert "A mended page." in house.show("en/latest/amp/index.html")
    assert house.versions("en") == {"2.13": ["latest"], "2.9": []}
    # the same again changes nothing, and an older commit does not replace a later one
    tip = house.tip()
    done = house.publish("2.13", "latest")
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "published already")
    assert house.tip() == tip
    house.git("checkout", "--quiet", "HEAD~2")
    house.git("checkout", "--quiet", "HEAD~1")
    refused(house, f"2.13 is published from the later commit {source[:12]} already")


def test_what_the_gate_refuses_is_not_published_and_its_words_are_passed_on(house):
    house.root.joinpath("closed").touch()
    refused(house, "docs/en/amp.md: small/right.py has no record: make verify DEVICE=cpu\n")


def test_without_a_gate_nothing_is_published(house):
    house.root.joinpath("tools/gate.py").unlink()
    house.commit()
    refused(house, "No module named tools.gate")


def test_a_page_that_does_not_build_in_one_language_stops_them_all(house):
    house.tree.edit("docs/fr/amp.md", "index.md#loop", "absent.md")
    house.commit()
    refused(house, "fr: docs/fr/amp.md:8: ")


def test_changes_without_a_commit_are_not_published(house):
    house.tree.edit("docs/fr/amp.md", "A small page.", "Autre.")
    refused(house, "commit these changes first, or undo them:\nM docs/fr/amp.md")


@pytest.mark.parametrize(
    ("version", "alias", "says"),
    [
        ("2.12", "latest", "which is 2.13 (constraints.txt), or dev: not '2.12'"),
        ("../x", "latest", "not '../x'"),
        ("2.13", "", "no version is latest yet: say ALIAS=latest"),
        ("2.13", "2.14", "an alias is a word like latest, not '2.14'"),
        ("2.13", "dev", "not 'dev'"),
        ("dev", "latest", "dev is no release, and so never latest: leave ALIAS away"),
    ],
)
def test_a_name_that_would_mislead_is_refused(house, version, alias, says):
    refused(house, says, version, alias)


def test_a_remote_out_of_reach_is_told(house):
    house.git("remote", "set-url", "origin", "/absent.git")
    refused(house, "'/absent.git' does not appear to be a git repository")


def test_a_push_that_the_remote_refuses_is_told_and_not_repeated(house):
    hook(house, "pre-receive", 'echo "closed for today" >&2; echo . >> tries; exit 1')
    refused(house, "closed for today")
    assert (house.remote / "tries").read_text() == ".\n"


def test_a_process_killed_before_any_of_its_steps_leaves_the_branch_as_it_was(house):
    assert steps(house, "publish", "dev", "")[0] == 0
    before = house.tip()
    branch = house.remote / "refs/heads/gh-pages"
    assert branch.read_text().strip() == before
    # One that is killed before a step has published what it would have by then.
    seen = steps(house, "watched", "2.12", "latest", str(branch))
    assert len(seen) > 60 and seen[-1]["command"].startswith("git push")
    assert {step["tip"] for step in seen} == {before}
    assert house.git("rev-parse", "gh-pages~1", at=house.remote) == before
    # And what it leaves behind is in nobody's way.
    before = house.tip()
    some = [*range(1, len(seen) - 1, 7), len(seen) - 1, len(seen)]
    killed = steps(house, "kills", "2.13", "latest", *map(str, some))
    assert killed[-1]["command"].startswith("git push")
    assert len({kill["command"] for kill in killed}) > 5
    assert {kill["status"] for kill in killed} == {-9}
    assert {kill["tip"] for kill in killed} == {before}
    assert house.git("rev-parse", "gh-pages~1", at=house.remote) == before
    for version in ("2.12", "2.13", "dev"):
        assert house.incomplete(version) == []
    house.git("fsck", "--strict", at=house.remote)


@pytest.mark.parametrize("moment", ["pre-receive", "update", "post-receive"])
def test_a_process_killed_while_it_pushes_leaves_the_branch_as_it_was_or_complete(house, moment):
    assert steps(house, "publish", "dev", "")[0] == 0
    before = house.tip()
    hook(house, moment, "kill -9 0")
    assert steps(house, "publish", "2.13", "latest")[0] == -9
    if moment == "post-receive":
        assert house.git("rev-parse", "gh-pages~1", at=house.remote) == before
        assert house.incomplete("2.13") == []
    else:
        assert house.tip() == before
    (house.remote / "hooks" / moment).unlink()
    assert steps(house, "publish", "2.13", "latest")[0] == 0
    assert house.incomplete("2.13") == house.incomplete("dev") == []


def test_whom_another_overtakes_publishes_on_top_of_theirs(house):
    assert steps(house, "publish", "2.13", "latest")[0] == 0
    status, said = steps(house, "overtaken", "2.12", "dev", "")
    assert status == 0, said
    assert "someone else published meanwhile: again, on theirs" in said
    assert house.versions() == {"dev": [], "2.13": ["latest"], "2.12": []}
    for version in house.versions():
        assert house.incomplete(version) == []
    assert house.git("rev-list", "--count", "gh-pages", at=house.remote) == "3"


def test_whom_others_overtake_always_is_told_and_can_try_again(house):
    assert steps(house, "publish", "2.13", "latest")[0] == 0
    here = f"git --git-dir={house.remote} -c user.name=Other -c user.email=o@example.org"
    other = (
        f"{here} update-ref refs/heads/gh-pages "
        f"$({here} commit-tree -p gh-pages -m Other gh-pages^{{tree}})"
    )
    status, said = steps(house, "meanwhile", other, "dev", "")
    assert status == 1
    assert said.endswith("others published 5 times meanwhile: publish again\n")
    assert house.git("log", "-1", "--format=%s", "gh-pages", at=house.remote) == "Other"
    assert list(house.versions()) == ["2.13"]
    assert house.publish("dev").returncode == 0
    assert house.incomplete("dev") == house.incomplete("2.13") == []


def test_of_publishers_at_once_none_is_lost(house):
    assert steps(house, "publish", "2.13", "latest")[0] == 0
    assert steps(house, "together", "2.10", "2.11", "2.12", "dev") == [0, 0, 0, 0]
    for lang in LANGS:
        assert list(house.versions(lang)) == ["dev", "2.13", "2.12", "2.11", "2.10"]
    for version in ("dev", "2.13", "2.12", "2.11", "2.10"):
        assert house.incomplete(version) == []


def test_a_commit_made_while_the_pages_are_built_is_not_mixed_with_them(house):
    gate = (house.root / "tools/gate.py").read_text()
    other = "git commit --quiet --allow-empty --message=Other"
    meanwhile = f"import subprocess\nsubprocess.run({other.split()}, check=True)\n"
    house.tree.write("tools/gate.py", gate + meanwhile)
    house.commit()
    refused(house, "another commit was checked out meanwhile: publish again")
