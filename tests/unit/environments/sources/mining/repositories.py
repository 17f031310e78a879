"""Small git repositories for the tests of mining."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Project:
    """A repository in the making."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        _git(folder, "init", "-q", "-b", "main")

    def commit(self, files: Mapping[str, str | bytes | None], message: str = "x") -> str:
        """Write or delete files and commit them; the id."""
        for path, content in files.items():
            file = self.folder / path
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        _git(self.folder, "add", "-A", "-f")
        _git(self.folder, "commit", "-q", "--allow-empty", "-m", message)
        return self.head(self.folder)

    @staticmethod
    def head(folder: Path) -> str:
        """The id of the newest commit."""
        return _git(folder, "rev-parse", "HEAD")


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=ENVIRON, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


START = {
    "shapes/__init__.py": "from .core import area\n",
    "shapes/core.py": "def area(a, b):\n    return a + b\n",
    "tests/test_core.py": (
        "from shapes import area\n\n\ndef test_two():\n    assert area(2, 2) == 4\n"
    ),
    "README.md": "Shapes.\n",
}
FIXED = "def area(a, b):\n    return a * b\n"
FIX_TESTS = START["tests/test_core.py"] + "\n\ndef test_area():\n    assert area(3, 5) == 15\n"
