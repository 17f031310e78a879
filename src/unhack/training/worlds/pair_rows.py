"""The rows of the file that `unhack audit --pairs` writes: one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError


def read_pair_rows(path: Path) -> list[dict[str, Any]]:
    """The rows, each with the texts `prompt`, `hack` and `clean`. Raises UsageError for a file
    without rows or with a line that is none."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file; `unhack audit TARGET --pairs FILE` writes one")
    found: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            texts = [row[key] for key in ("prompt", "hack", "clean")]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}:{number}: no pair (prompt, hack, clean): {error}") from error
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(f"{path}:{number}: prompt, hack and clean have to be text")
        found.append(row)
    if not found:
        raise UsageError(f"{path}: no pair; the audit that wrote it found no hack")
    return found
