"""Runs the command line in this process."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from unhack.cli import progress
from unhack.cli.app import main

SEATS = "parsing/seat-ranges"


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Its stdout as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("score", …, stdin="…")`; no signs of life, which a slow machine alone would show."""
    monkeypatch.setattr(progress, "EVERY_S", 1e6)

    def call(*arguments: str | Path, stdin: str = "") -> Ran:
        source = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["unhack", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", source)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        taken = capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else int(code is not None), taken.out, taken.err)

    return call


@pytest.fixture(scope="session")
def seats() -> Path:
    """The directory of a built-in task with all-or-nothing scores."""
    from unhack.tasks.suite import find_paths

    [path] = find_paths(SEATS)
    return path


def write_rows(path: Path, rows: list[Any]) -> Path:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
