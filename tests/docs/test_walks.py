"""The reading orders of ARCHITECTURE.md are those in which the code runs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "unhack"
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
INSIDE = "sandbox/guest/"
WALKS = ("completion", "finding", "submission", "rollout")
MAX_FILES = 8
LONG = ("finding", "rollout")
"""What runs for longer than the default tests allow."""


def reading_order(walk: str) -> list[str]:
    """The files that the chapter of one life begins with."""
    chapter = PAGE.split(f"## The life of one {walk}\n")[1].split("\n## ")[0]
    [paragraph] = re.findall(r"^Read: (.+?)\n\n", chapter, re.MULTILINE | re.DOTALL)
    return re.findall(r"`([\w/]+\.py)`", paragraph)


def imports(path: str) -> str:
    """The import statements of a file."""
    tree = ast.parse((PACKAGE / path).read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "\n".join(ast.unparse(node) for node in found)


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_is_short_and_its_files_are_there(walk: str) -> None:
    files = reading_order(walk)
    assert 5 <= len(files) <= MAX_FILES
    assert [path for path in files if not (PACKAGE / path).is_file()] == []


@pytest.mark.parametrize(
    "walk",
    [
        pytest.param(one, marks=[pytest.mark.slow, pytest.mark.sample] if one in LONG else ())
        for one in WALKS
    ],
)
def test_the_code_runs_in_the_order_of_reading(walk: str) -> None:
    if walk == "rollout":
        pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "docs" / "walks.py"), walk],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ran = done.stdout.split()
    outside = [path for path in reading_order(walk) if not path.startswith(INSIDE)]
    assert [path for path in ran if path in outside] == outside


def test_what_runs_inside_the_sandbox_is_started_by_what_is_read_before_it() -> None:
    files = reading_order("completion")
    inside = [path for path in files if path.startswith(INSIDE)]
    assert inside == files[-len(inside) :]
    for path in inside:
        before = "\n".join(imports(other) for other in files[: files.index(path)])
        room, name = path.removesuffix(".py").rsplit("/", 1)
        assert f"from unhack.{room.replace('/', '.')} import {name}" in before
