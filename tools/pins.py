"""Write constraints.txt from what pip resolved: `make pins` calls this.

pip's report (`pip install --dry-run --report -`) comes on standard input.
"""

import json
import re
import sys

HEAD = """\
# The exact version of every package, direct and transitive, in this one place.
# `make pins` writes this file from the groups in pyproject.toml with the newest versions.
# torch and pip keep the versions that stand here: the lessons' outputs were made with this torch;
# to move to another, change its line by hand and run `make outputs`.
"""


def constraints(report: dict, held: list[str]) -> str:
    """Return the text of constraints.txt for a pip report and the lines that stay as they are."""
    versions = {
        re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower():
        # "2.13.0+cpu" is a build of 2.13.0 for one kind of machine: pin what all builds share.
        item["metadata"]["version"].partition("+")[0]
        for item in report["install"]
    }
    for line in held:
        name, _, version = line.strip().partition("==")
        versions[name] = version
    return HEAD + "".join(f"{name}=={versions[name]}\n" for name in sorted(versions))


if __name__ == "__main__":
    sys.stdout.write(constraints(json.load(sys.stdin), sys.argv[1:]))
