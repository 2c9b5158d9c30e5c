"""Stands in for the host's `gh`: a program that answers from, and writes to, a state file.

The state is JSON in $FAKE_GH: `artifacts` (with `packed`, the zip, in base64), `runs` by workflow,
`attestations`, `issues`; `calls` is what was asked.
"""

import base64
import hashlib
import json
import os
import re
import sys
from pathlib import Path

STATE = Path(os.environ["FAKE_GH"])


def option(args: list[str], name: str) -> str:
    """Return the value of an option."""
    return args[args.index(name) + 1]


def api(state: dict, path: str) -> None:
    """Answer a GET."""
    if match := re.search(r"/actions/artifacts\?name=([\w-]+)&", path):
        named = [a for a in state["artifacts"] if a["name"] == match[1]]
        shown = [{k: v for k, v in a.items() if k != "packed"} for a in named]
        print(json.dumps({"artifacts": shown}))
    elif match := re.search(r"/actions/artifacts/(\d+)/zip$", path):
        (artifact,) = [a for a in state["artifacts"] if a["id"] == int(match[1])]
        sys.stdout.buffer.write(base64.b64decode(artifact["packed"]))
    elif match := re.search(r"/actions/workflows/([\w.]+)/runs\?branch=main&head_sha=(\w+)$", path):
        runs = state["runs"].get(match[1], [])
        status = runs.pop(0) if runs else None
        print(json.dumps({"workflow_runs": [{"status": status}] if status else []}))
    else:
        sys.exit(f"HTTP 404: {path}")


def verify(state: dict, args: list[str]) -> None:
    """Verify an attestation as the real one does: every claim must hold."""
    claim = {
        "sha256": hashlib.sha256(Path(args[0]).read_bytes()).hexdigest(),
        "repo": option(args, "--repo"),
        "workflow": option(args, "--signer-workflow"),
        "digest": option(args, "--source-digest"),
        "ref": option(args, "--source-ref"),
        "hosted": "--deny-self-hosted-runners" in args,
    }
    if claim not in state["attestations"]:
        sys.exit("no matching attestations found")


def issue(state: dict, args: list[str]) -> None:
    """List, create, edit or close issues."""
    if args[0] == "list":
        label = option(args, "--label")
        shown = [i for i in state["issues"] if i["open"] and label in i["labels"]]
        print(json.dumps([{"number": i["number"], "title": i["title"]} for i in shown]))
    elif args[0] == "create":
        state["issues"].append(
            {
                "number": len(state["issues"]) + 1,
                "title": option(args, "--title"),
                "labels": [option(args, "--label")],
                "body": Path(option(args, "--body-file")).read_text("utf-8"),
                "open": True,
            }
        )
    else:
        (one,) = [i for i in state["issues"] if i["number"] == int(args[1])]
        if args[0] == "edit":
            one["body"] = Path(option(args, "--body-file")).read_text("utf-8")
        elif args[0] == "close":
            one["open"] = False


def main() -> None:
    """Answer one call."""
    args = sys.argv[1:]
    state = json.loads(STATE.read_text("utf-8"))
    state["calls"].append(args)
    try:
        if args[0] == "api":
            api(state, args[1])
        elif args[:2] == ["attestation", "verify"]:
            verify(state, args[2:])
        elif args[0] == "issue":
            issue(state, args[1:])
        elif args[:2] == ["label", "create"]:
            pass
        else:
            sys.exit(f"unknown command {args}")
    finally:
        STATE.write_text(json.dumps(state), encoding="utf-8")


if __name__ == "__main__":
    main()
