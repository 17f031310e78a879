"""The standard library of jobs that run as another user: readable, or refused by a file's name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from unhack.core.errors import SandboxUnavailableError
from unhack.core.problem import Problem
from unhack.sandbox.job import Isolation
from unhack.sandbox.linux import landlock
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root's jobs run as another user"),
    pytest.mark.skipif(not landlock.abi_version(), reason="no Landlock"),
]
MODULES = [
    "array", "asyncio", "bz2", "collections.abc", "concurrent.futures", "csv", "dataclasses",
    "decimal", "email.mime.text", "fractions", "hashlib", "inspect", "json.tool", "logging",
    "statistics", "threading", "typing", "unicodedata", "xml.etree.ElementTree", "zoneinfo",
]  # fmt: skip
TASK = Task(Problem("p", ""), FunctionVerifier("f", (Case((2,), expected=4),)))

IN_A_CLOSED_FOLDER = """
import os, sys
from unhack.sandbox.guest.server import library
os.chdir(sys.argv[1])
sys.path[:] = [sys.argv[1], sys.argv[1] + "/lib-dynload"]
os.setgroups([])
os.setresgid(54321, 54321, 54321)
os.setresuid(54321, 54321, 54321)
try:
    library.open_library(sys.path[:])
    import decimal, email.mime.text
    print("imported", os.getcwd() == sys.argv[1])
except (PermissionError, ImportError) as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def backend() -> Iterator[Pool]:
    with closing(Pool(slots=1, isolation=Isolation.LANDLOCK)) as pool:
        yield pool


@pytest.mark.slow
def test_every_module_can_be_imported_wherever_python_stands(backend: Pool) -> None:
    sources = [f"import {name}\ndef f(x): return 2 * x\n" for name in MODULES]
    batch = run_batch(TASK, sources, backend=backend)
    failed = [name for name, reward in zip(MODULES, batch.rewards, strict=True) if reward != 1.0]
    assert failed == []


def test_the_way_to_the_library_opens_no_file_beside_it(backend: Pool, tmp_path: Path) -> None:
    library = Path(os.__file__).resolve().parent
    ways = [os.path.relpath(path, library) for path in ("/etc/passwd", sys.executable, __file__)]
    ways += ["../..", "site-packages", "../../bin", str(library.parent)]
    source = (
        "import os\ndef f(x):\n    found = []\n"
        f"    for way in {ways!r}:\n        for look in (os.listdir, open):\n"
        "            try:\n                look(way)\n                found.append(way)\n"
        "            except OSError:\n                pass\n    return found or 4\n"
    )
    [verdict] = run_batch(TASK, [source], backend=backend).verdicts
    assert verdict.passed, verdict.cases


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A library in a folder that only root may enter."""
    tmp_path.chmod(0o700)
    folder = tmp_path / "python"
    folder.mkdir(mode=0o755)
    source = Path(os.__file__).resolve().parent
    for entry in source.iterdir():
        if entry.name not in {"site-packages", "test", "lib-dynload"}:
            (folder / entry.name).symlink_to(entry)
    (folder / "lib-dynload").mkdir()
    return folder


def opened(folder: Path) -> str:
    source = str(Path(landlock.__file__).resolve().parents[3])
    ran = subprocess.run(
        [sys.executable, "-S", "-c", IN_A_CLOSED_FOLDER, str(folder)],
        capture_output=True,
        check=False,
        env={"PYTHONPATH": source},
    )
    return (ran.stdout + ran.stderr).decode()


def test_a_file_that_is_closed_is_named_with_what_to_do(closed: Path) -> None:
    (closed / "csv.py").unlink()
    (closed / "csv.py").write_text("")
    (closed / "csv.py").chmod(0o600)
    text = opened(closed)
    assert text.startswith("PermissionError")
    assert f"cannot read {closed}" in text
    assert "chmod -R o+rX" in text


def test_a_closed_package_is_named_where_it_is_shown(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name in ("acme", "other"):
        (tmp_path / name).mkdir(mode=0o700)
    code = (
        "import os, sys; from unhack.sandbox.guest.server import library\n"
        "os.setgroups([]); os.setresuid(54321, 54321, 54321)\n"
        "for names in ({'json'}, {'acme'}, None):\n"
        "    try:\n        library.check_readable([], [sys.argv[1]], names)\n"
        "    except PermissionError as error:\n        print(error)\n"
    )
    for folder in [*tmp_path.parents][:-1]:
        if not folder.stat().st_mode & 1:
            folder.chmod(folder.stat().st_mode | 0o011)
    source = str(Path(landlock.__file__).resolve().parents[3])
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code, str(tmp_path)],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": source},
    )  # fmt: skip
    assert ran.stdout.count("chmod -R o+rX") == 2
    assert ran.stdout.count(f"{tmp_path}/acme of") == 2


def test_a_python_that_has_moved_finds_its_own_modules(tmp_path: Path) -> None:
    library = Path(os.__file__).resolve().parent
    (tmp_path / "there").symlink_to(library)
    code = (
        "import sys, json, encodings; from unhack.sandbox.guest.server import library\n"
        "library.follow([sys.argv[1:]])\n"
        "print(encodings.__path__, sys.prefix); import encodings.idna, json.tool\n"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code, str(library), str(tmp_path / "there")],
        capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path(landlock.__file__).resolve().parents[3])},
    )  # fmt: skip
    assert ran.stdout.startswith(f"['{tmp_path}/there/encodings'] ")


@pytest.mark.slow
def test_a_worker_that_cannot_read_the_library_refuses_its_jobs(
    monkeypatch: pytest.MonkeyPatch, closed: Path
) -> None:
    from unhack.sandbox.pool import worker_start

    closed.chmod(0o700)
    real = str(Path(os.__file__).resolve().parent / "lib-dynload")
    monkeypatch.setattr(worker_start, "import_path", lambda: [str(closed), real])
    with (
        closing(Pool(slots=1, isolation=Isolation.LANDLOCK)) as pool,
        pytest.raises(SandboxUnavailableError, match="of Python's library"),
    ):
        run_batch(TASK, ["def f(x): return 2 * x"], backend=pool)
