"""Packages of a contest: installed once, read-only, and no way to talk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.tournament.contests.own.small import SETTINGS, judged, loaded, wheel, written

from unhack.core.errors import UsageError
from unhack.tournament.contests.own.packages import LOCK, PackageFolder, installed, store

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels as the only configuration of pip, and a store of its own."""
    wheels = tmp_path / "wheels"
    wheel(wheels, "rulers", "1.2", "def size(text):\n    return len(text)\n")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return wheels


def wanting(folder: Path, *packages: str, **changes: str) -> Path:
    """The small contest, which wants packages."""
    listed = ", ".join(f'"{name}"' for name in packages)
    settings = SETTINGS.replace("bound = 2.0", f"bound = 2.0\npackages = [{listed}]")
    named = {name.replace("_", "/", 1) + ".py": text for name, text in changes.items()}
    return written(folder, {"contest.toml": settings, **named})


def test_submissions_and_the_measure_import_what_the_contest_wants(tmp_path: Path) -> None:
    measure = (
        "import rulers\n\n\ndef measure(submission, cases):\n"
        "    return [float(submission.call('length', text) == rulers.size(text))\n"
        "            for text in (case['shown'] for case in cases)]\n"
    )
    folder = wanting(tmp_path / "c", "rulers")
    (folder / "measure.py").write_text(measure)
    contest = loaded(folder)
    using = "import rulers\n\n\ndef length(text):\n    return rulers.size(text)\n"
    assert judged(contest, using, tmp_path / "w").fitness == 1
    assert contest.settings["packages"] == "rulers==1.2"


def test_what_is_installed_is_taken_without_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = installed(("rulers",), place=tmp_path)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "gone"))
    assert installed(("rulers",), place=tmp_path) == first


def test_the_same_packages_have_the_same_digest_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = installed(("rulers",), place=tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    again = installed(("rulers",), place=tmp_path)
    assert isinstance(first, PackageFolder)
    assert isinstance(again, PackageFolder)
    assert (again.digest, again.versions) == (first.digest, first.versions)
    assert again.folder != first.folder


@pytest.mark.parametrize("wanted", ["rulerz", "rulers==9", "no such thing", "./nowhere.whl"])
def test_a_package_that_cannot_be_had_is_told_and_nothing_is_left(
    wanted: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="could not be installed"):
        loaded(wanting(tmp_path / "c", wanted))
    assert list(store().iterdir()) == []


def test_an_option_of_pip_cannot_pass_as_a_package(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="could not be installed"):
        loaded(wanting(tmp_path / "c", "--pre", "rulers"))


def test_a_source_distribution_runs_no_code_here(no_index: Path, tmp_path: Path) -> None:
    import tarfile

    project = tmp_path / "evil-1.0"
    project.mkdir()
    (project / "setup.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nfrom setuptools import setup\nsetup(name='evil')\n"
    )
    with tarfile.open(no_index / "evil-1.0.tar.gz", "w:gz") as archive:
        archive.add(project, "evil-1.0")
    with pytest.raises(UsageError, match="could not be installed"):
        installed(("evil",), place=tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("change", ["edit", "add", "remove", "unlock"])
def test_packages_that_were_changed_are_refused(change: str, tmp_path: Path) -> None:
    kept = installed(("rulers",), place=tmp_path)
    assert kept is not None
    kept.folder.chmod(0o755)
    module = kept.folder / "rulers.py"
    if change == "edit":
        module.chmod(0o644)
        module.write_text("def size(text):\n    return 0\n")
    elif change == "add":
        (kept.folder / "sitecustomize.py").write_text("")
    elif change == "remove":
        module.unlink()
    else:
        kept.folder.parent.chmod(0o755)
        (kept.folder.parent / LOCK).unlink()
    with pytest.raises(UsageError, match="were changed or are incomplete"):
        installed(("rulers",), place=tmp_path)


ATTEMPTS = """
import os, shutil, sys

PLACE = "/packages"


def attempts():
    module = PLACE + "/rulers.py"
    yield lambda: open(module, "a").write("x = 1\\n")
    yield lambda: open(PLACE + "/note.txt", "w").write("from one to another")
    yield lambda: os.chmod(module, 0o777)
    yield lambda: os.utime(module, (1, 1))
    yield lambda: os.rename(module, module + ".old")
    yield lambda: os.unlink(module)
    yield lambda: os.symlink("/submission/solution.py", PLACE + "/link.py")
    yield lambda: os.link(module, "/scratch/work/rulers.py")
    yield lambda: os.mkdir(PLACE + "/__pycache__/x")
    yield lambda: os.setxattr(module, "user.note", b"hello")
    yield lambda: os.truncate(module, 0)
    yield lambda: os.mknod(PLACE + "/pipe", 0o10666)


def length(text):
    done = 0
    for attempt in attempts():
        try:
            attempt()
            done += 1
        except OSError:
            pass
    return -done
"""


def test_a_submission_cannot_edit_the_packages_nor_leave_a_note_there(tmp_path: Path) -> None:
    counting = (
        "def measure(submission, cases):\n"
        "    return {'fitness': float(-submission.call('length', 'x'))}\n"
    )
    folder = wanting(tmp_path / "c", "rulers")
    (folder / "measure.py").write_text(counting)
    contest = loaded(folder)
    assert contest.packages is not None
    before = {path: path.stat() for path in contest.packages.rglob("*")}
    assert judged(contest, ATTEMPTS, tmp_path / "w").fitness == 0
    after = {path: path.stat() for path in contest.packages.rglob("*")}
    assert {p: (s.st_mtime_ns, s.st_mode) for p, s in before.items()} == {
        p: (s.st_mtime_ns, s.st_mode) for p, s in after.items()
    }
    assert loaded(folder).kept == contest.kept


def test_a_package_does_not_take_the_place_of_the_library_or_of_the_measure(
    no_index: Path, tmp_path: Path
) -> None:
    wheel(no_index, "json", "1.0", "def dumps(value):\n    return 'forged'\n")
    wheel(no_index, "measure", "1.0", "def measure(submission, cases):\n    return 2.0\n")
    contest = loaded(wanting(tmp_path / "c", "json", "measure"))
    plain = "import json\n\n\ndef length(text):\n    return len(json.dumps(text)) - 2\n"
    assert judged(contest, plain, tmp_path / "w").fitness == 1
