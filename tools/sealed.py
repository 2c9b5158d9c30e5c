"""Files of a cache: read only if they are whole, replaced at once, named by what they depend on."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

_LENGTH = hashlib.sha256().digest_size


def digest(parts: Iterable[object]) -> str:
    """Return the hash of bytes as they are and of other parts as `repr` writes them."""
    whole = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        whole.update(b"%d:" % len(content) + content)
    return whole.hexdigest()


def read(file: Path) -> bytes | None:
    """Return what was written into a file; None where there is none, or not all of it."""
    try:
        whole = file.read_bytes()
    except FileNotFoundError:
        return None
    seal, content = whole[:_LENGTH], whole[_LENGTH:]
    return content if hashlib.sha256(content).digest() == seal else None


def write(file: Path, content: bytes) -> None:
    """Write a file after its own hash; another process may be writing it at the same time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as new:
        new.write(hashlib.sha256(content).digest() + content)
    os.replace(new.name, file)
