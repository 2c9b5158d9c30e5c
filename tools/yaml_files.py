"""YAML that people write: read so that a mistake is told by its line and its cure."""

from __future__ import annotations

from collections.abc import Callable

import yaml

# libyaml's parser takes a tenth of the time; PyYAML's own words for a mistake are the better ones.
_FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: What PyYAML was reading when it found that something is not closed.
_OPEN = {
    "while scanning a quoted scalar": "quote",
    "while parsing a flow sequence": "'['",
    "while parsing a flow mapping": "'{'",
}


class YamlError(ValueError):
    """Text that is not YAML. Reads ``file:line: what is wrong; what to do``."""


def load(text: str, shown: str, before: int = 0) -> object:
    """Return what the YAML `text` says; `shown` names its file, `before` counts the lines above.

    Raises YamlError. What was opened and not closed is told where it opens: where PyYAML stumbles
    may be many lines further.
    """
    return _read(yaml.load, text, shown, before)


def check(text: str, shown: str) -> None:
    """Raise YamlError where `text` is not YAML, whatever tags it uses."""
    _read(yaml.compose, text, shown, 0)


def _read(how: Callable, text: str, shown: str, before: int) -> object:
    try:
        return how(text, _FAST)
    except yaml.YAMLError:
        try:
            return how(text, yaml.SafeLoader)
        except yaml.YAMLError as error:
            raise YamlError(_told(text, error, shown, before)) from error


def _told(text: str, error: yaml.YAMLError, shown: str, before: int) -> str:
    at = getattr(error, "problem_mark", None)
    line, problem = at.line + 1 if at else 1, getattr(error, "problem", None) or "unreadable"
    context = getattr(error, "context", None)
    opens, what = (error.context_mark.line + 1, _OPEN[context]) if context in _OPEN else (0, "")
    if what != "quote" and (quote := _quote(text, line)) >= max(opens, 1):
        opens, what = quote, "quote"
    if opens:
        return (
            f"{shown}:{opens + before}: not YAML, the {what} that opens here does not end; end it"
        )
    return f"{shown}:{line + before}: not YAML ({problem}); quote text that holds ':' or '#'"


def _quote(text: str, line: int) -> int:
    """Return where the last quotation opens that goes over lines and ends by `line`; 0 if none."""
    opens = 0
    try:
        for token in yaml.scan(text):
            if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"'):
                start, end = token.start_mark.line + 1, token.end_mark.line + 1
                if start < end <= line:
                    opens = start
    except yaml.YAMLError:
        pass
    return opens
