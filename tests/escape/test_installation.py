"""Packages are found wherever an environment lies, and nothing that lies beside it is seen.

The places are those that a sandbox has for itself, and others that are closed to most users.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from unhack.sandbox.rootfs import interpreter, site_directories

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
PLACES = ("/tmp", "/dev/shm", os.path.expanduser("~"))
WORD = "beside_the_environment"
_LEFT_OUT = shutil.ignore_patterns("test", "*-packages", "__pycache__", "idlelib", "config-*")


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Generator[Path]:
    """A folder with a blank and an odd letter in its name, in which there is a secret."""
    folder = Path(tempfile.mkdtemp(prefix="of änn ", dir=request.param))
    (folder / WORD).write_text("secret")
    yield folder
    shutil.rmtree(folder)


def package(folder: Path) -> None:
    (folder / "acme_tools").mkdir(parents=True)
    (folder / "acme_tools/__init__.py").touch()
    (folder / "acme_tools/late.py").touch()


def seen_from(python: str, path: list[str]) -> dict[str, list[object]]:
    done = subprocess.run(
        [python, "-P", str(HERE / "installation_run.py"), "acme_tools", WORD],
        env={**os.environ, "PYTHONPATH": ":".join([*path, str(SOURCE), str(HERE)])},
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.sample
def test_packages_are_found_and_nothing_beside_them_is_seen(place: Path) -> None:
    site = place / "env/lib/site-packages"
    package(site)
    seen = seen_from(sys.executable, [str(site)])
    assert seen == {kind: [1, []] for kind in seen}
    assert len(seen) == 7


def test_a_package_in_a_folder_of_the_path_is_shown_alone(place: Path) -> None:
    package(place / "source")
    (place / f"source/{WORD}.py").touch()
    seen = seen_from(sys.executable, [str(place / "source")])
    assert seen == {kind: [1, []] for kind in seen}


def test_a_python_in_the_place_of_its_packages_shows_nothing_else_of_it(place: Path) -> None:
    # As conda has it; and a home may be the prefix of a Python.
    library = Path(sysconfig.get_path("stdlib"))
    lib = place / "lib" / library.name
    shutil.copytree(library, lib, ignore=_LEFT_OUT, symlinks=True)
    for shared in library.parent.glob("libpython*"):
        shutil.copy(shared, lib.parent, follow_symlinks=False)
    (place / "bin").mkdir()
    python = shutil.copy(interpreter(), place / "bin/python3")
    for folder in (".ssh", "envs", "work"):
        (place / folder).mkdir()
        (place / folder / WORD).touch()
    package(lib / "site-packages")
    assert Path(ask(python, "print(sys.prefix)")).samefile(place)
    seen = seen_from(str(python), site_directories())
    assert seen == {kind: [1, []] for kind in seen}


def ask(python: str, code: str) -> str:
    done = subprocess.run(
        [python, "-c", f"import sys; {code}"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_package_that_jobs_cannot_read_is_refused_by_its_name(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root's jobs run as another user")
    package(tmp_path / "site-packages")
    (tmp_path / "site-packages/acme_tools").chmod(0o700)
    with pytest.raises(AssertionError, match=r"cannot read .*acme_tools .*chmod -R o\+rX"):
        seen_from(sys.executable, [str(tmp_path / "site-packages")])
