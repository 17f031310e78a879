"""The demo's folder: rewards, pages and a tournament that a reader may open afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

from unhack.core.errors import UsageError

MARK = "made-by-unhack-demo.txt"
"""The file by which a later demo knows that it may replace what is there."""


def fresh_folder(path: Path) -> Path:
    """`path` as an empty folder; an earlier demo there is removed. Raises UsageError for a folder
    with anything else in it."""
    if path.is_dir() and any(path.iterdir()):
        if not (path / MARK).is_file():
            raise UsageError(f"--out {path}: this folder holds other files; name a new one")
        shutil.rmtree(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {path}: {error.strerror}") from None
    (path / MARK).write_text("`unhack demo` made this folder and may replace it.\n")
    return path
