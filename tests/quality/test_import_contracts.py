"""The walls of the source tree: a mutant that breaks one turns the check of imports red."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sampling import quick_ones

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
GUEST = "unhack.sandbox.guest"
MUTANTS = {
    "the runner imports findings": ("candidate/runner", "from unhack.core import finding"),
    "the runner imports advantages": ("candidate/runner", "from unhack.core import group"),
    "the runner imports a judge": ("candidate/runner", f"from {GUEST}.judge import math_equal"),
    "the runner imports a reward's code": (
        "candidate/runner",
        f"from {GUEST}.reward import stub_modules",
    ),
    "the runner imports a package": ("candidate/runner", "import rich"),
    "the candidate's half of a seal imports the other": (
        "candidate/serve",
        f"from {GUEST}.judge import modules",
    ),
    "a function of the candidate imports a judge late": (
        "candidate/program",
        f"def late():\n    from {GUEST}.judge import modules\n    return modules",
    ),
    "the fork server imports a judge": ("server/fork_server", f"import {GUEST}.judge.modes"),
    "the fork server imports verdicts": ("server/fork_server", "from unhack.core import verdict"),
    "the first process of a tree imports the pool": (
        "server/init",
        "from unhack.sandbox.pool import pool",
    ),
    "the reward's code imports a judge": ("reward/call", f"from {GUEST}.judge import modules"),
    "the kernel's calls import jobs": ("../linux/calls", "from unhack.sandbox import job"),
    "plain data imports problems": ("../../core/plain", "from unhack.core import problem"),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__", "suites", "corpus")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "import_contract.py", folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def checked(folder: Path) -> subprocess.CompletedProcess[str]:
    """What `make check` says of the imports below `folder`."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_tree_as_it_is_keeps_every_contract(copy: Path) -> None:
    found = checked(copy)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("mutant", quick_ones(MUTANTS, list(MUTANTS)[::4]))
def test_a_broken_wall_turns_the_check_red(copy: Path, mutant: str) -> None:
    place, line = MUTANTS[mutant]
    path = (copy / "src/unhack/sandbox/guest" / f"{place}.py").resolve()
    whole = path.read_text()
    path.write_text(f"{whole}\n{line}\n")
    try:
        found = checked(copy)
    finally:
        path.write_text(whole)
    assert found.returncode != 0
    assert "BROKEN" in found.stdout
