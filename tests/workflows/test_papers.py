"""What stands around the workflows: who reviews, what is asked in issues, how one cites."""

import re

import pytest
import yaml

from tools.build import site_root
from tools.languages import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
#: What each element of an issue form must and may have in its attributes.
ELEMENTS = {
    "markdown": ({"value"}, set()),
    "input": ({"label"}, {"description", "placeholder", "value"}),
    "textarea": ({"label"}, {"description", "placeholder", "value", "render"}),
    "dropdown": ({"label", "options"}, {"description", "multiple", "default"}),
    "checkboxes": ({"label", "options"}, {"description"}),
}


def form_faults(form: dict) -> list[str]:
    """Return why the host would not show an issue form; it says nothing, it leaves the form out."""
    found = [f"has no {key}" for key in ("name", "description", "body") if not form.get(key)]
    elements = form.get("body") or []
    ids = [element["id"] for element in elements if "id" in element]
    labels = [element.get("attributes", {}).get("label") for element in elements]
    found += [f"two elements {x!r}" for x in {*ids, *labels} if x and (ids + labels).count(x) > 1]
    if all(element.get("type") == "markdown" for element in elements):
        found.append("asks nothing")
    for element in elements:
        kind, attributes = element.get("type"), element.get("attributes", {})
        if kind not in ELEMENTS:
            found.append(f"{kind} is no element")
            continue
        must, may = ELEMENTS[kind]
        found += [f"{kind} lacks {key}" for key in sorted(must - attributes.keys())]
        found += [f"{kind} has no {key}" for key in sorted(attributes.keys() - must - may)]
        if extra := element.keys() - {"type", "id", "attributes", "validations"}:
            found.append(f"{kind} has no {', '.join(sorted(extra))}")
        if not re.fullmatch(r"[\w-]+", element.get("id", "x")):
            found.append(f"{element['id']!r} is no id")
    return found


def test_there_is_a_form_for_each_kind_of_report():
    assert {form.stem for form in FORMS} == {"config", "page", "snippet", "translation"}


@pytest.mark.parametrize("file", [f for f in FORMS if f.stem != "config"], ids=lambda f: f.stem)
def test_the_forms_are_such_that_the_host_shows_them(file):
    assert form_faults(yaml.safe_load(file.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    ("old", "new", "finds"),
    [
        ("name: A snippet fails\n", "", "has no name"),
        ("type: dropdown", "type: select", "select is no element"),
        ("      options: [CPU, CUDA, ROCm, MPS, XPU, another]\n", "", "dropdown lacks options"),
        ("render: text", "language: text", "textarea has no language"),
        ("id: printed", "id: program", "two elements 'program'"),
        ("id: printed", "id: what is printed", "is no id"),
        ("    validations:\n      required: true\n", "    required: true\n", "has no required"),
    ],
)
def test_a_form_that_the_host_would_leave_out_is_found(old, new, finds):
    text = (ROOT / ".github/ISSUE_TEMPLATE/snippet.yml").read_text("utf-8")
    assert old in text
    found = form_faults(yaml.safe_load(text.replace(old, new, 1)))
    assert any(finds in fault for fault in found), found


def test_the_citation_is_whole_and_names_the_addresses_of_mkdocs_yml():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["title"]
    assert cited["message"]
    assert all(author["name"] for author in cited["authors"])
    assert cited["license"] == ["MIT", "CC-BY-4.0"]
    assert cited["url"] == site_root()
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert f"  repository: {cited['repository-code']}\n" in settings


def test_every_file_has_a_reviewer_of_the_organization_of_the_repository():
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    organization = re.search(r"repository: https://[\w.]+/([\w-]+)/", settings)[1]
    lines = (ROOT / ".github" / "CODEOWNERS").read_text("utf-8").splitlines()
    rules = [line.split() for line in lines if line and not line.startswith("#")]
    assert rules[0][0] == "*", "files that no rule names would have no reviewer"
    owners = {owner for _, *theirs in rules for owner in theirs}
    assert owners
    assert all(owner.startswith(f"@{organization}/") for owner in owners)


def test_newer_pins_are_proposed_for_actions_and_packages_but_not_for_torch():
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"github-actions", "pip"}
    assert all(update["cooldown"]["default-days"] >= 7 for update in updates)
    assert [u.get("ignore") for u in updates] == [None, [{"dependency-name": "torch"}]]
