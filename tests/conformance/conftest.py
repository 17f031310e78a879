"""Running `examine.py` as this user, as another, and on a lesser host."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from unhack.sandbox.rootfs import interpreter

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
ORDINARY_ID = 61_234
"""A uid and gid without privilege; it needs no entry in the password file."""

Examine = Callable[..., Any]


@cache
def python_for(uid: int | None) -> str | None:
    """An interpreter that a user may run; None when there is none."""
    trial = "import ctypes, sys; assert sys.version_info >= (3, 11)"
    candidates = [interpreter(), shutil.which("python3.11"), "/usr/bin/python3"]
    for path in dict.fromkeys(filter(None, candidates)):
        if run([path, "-c", trial], uid).returncode == 0:
            return path
    return None


def run(command: list[str], uid: int | None) -> subprocess.CompletedProcess[str]:
    """Run a command as `uid`, or as this process's user; nothing of the environment goes along."""
    other: dict[str, Any] = {"user": uid, "group": uid, "extra_groups": []} if uid else {}
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCE),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        return subprocess.run(
            command,
            env=environ,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            **other,
        )
    except PermissionError as error:
        return subprocess.CompletedProcess(command, 126, "", str(error))


@pytest.fixture
def examine() -> Examine:
    """`examine(*words, uid=None, host=None)`: what `examine.py` finds, under those conditions."""

    def ask(*words: str, uid: int | None = None, host: str | None = None) -> Any:
        # One that root's jobs, too, may read at the level `landlock`.
        lowered = ORDINARY_ID if os.geteuid() == 0 else None
        python = python_for(uid or lowered)
        if python is None:
            pytest.skip("no interpreter here that an ordinary user may run")
        command = [python, str(HERE / "examine.py"), *words]
        if host:
            command = [python, str(HERE / "lesser_host.py"), host, *command]
        done = run(command, uid)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.fixture(params=["this user", pytest.param("an ordinary user", marks=pytest.mark.slow)])
def uid(request: pytest.FixtureRequest) -> int | None:
    """None for the user of this process, and where that is root, an ordinary one besides."""
    if request.param == "this user":
        return None
    if os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user already")
    return ORDINARY_ID
