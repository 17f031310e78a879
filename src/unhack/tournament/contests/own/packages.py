"""Packages that a contest wants: installed once, addressed by what was asked for, read-only.

    kept = installed(("toolz==1.0",), place=folder)      kept.folder goes before a process's path

pip installs them as wheels, by the user's own configuration of pip, into a fresh folder below
`$XDG_CACHE_HOME/unhack/packages`, which is complete or absent. A folder that is there is taken as
it is, without a network, once its files are those that were installed.

Covered: a package that cannot be had is told before anything is spent; files that were changed, or
added, since; several tournaments that install the same at once.
Not covered: source distributions, which would run their code on this host: only wheels are taken.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.sandbox.host_start import start_host
from unhack.sandbox.linux.sockets import receive
from unhack.store.errors import storing
from unhack.tournament.record.kept_files import file_hashes

LOCK = "installed.json"
"""Beside the packages: versions, and the hash of all files."""
_INSTALLER = "unhack.tournament.contests.own.installer"
_PATIENCE_S = 900.0


@dataclass(frozen=True, slots=True)
class PackageFolder:
    """Installed packages."""

    folder: Path
    versions: tuple[str, ...]
    """`name==version` of every distribution, what was required by others included."""
    digest: str
    """Over the files that were installed, without compiled ones."""


def installed(wanted: Sequence[str], *, place: Path) -> PackageFolder | None:
    """The folder of the wanted packages, made now if it is not there; None for no packages.

    `place` is where they are wanted, for messages. Raises UsageError with pip's words, StoreError.
    """
    if not wanted:
        return None
    folder = store() / _key(wanted)
    if not folder.exists():
        _install(wanted, folder, place)
    return _checked(folder)


def store() -> Path:
    """The folder of all installed sets."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "unhack" / "packages"


def _key(wanted: Sequence[str]) -> str:
    version = ".".join(map(str, sys.version_info[:2]))
    return content_hash(*sorted(wanted), version, sysconfig.get_platform())[:32]


def _install(wanted: Sequence[str], folder: Path, place: Path) -> None:
    with storing(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        packages = beside / "packages"
        found = _ask_pip(wanted, packages)
        if found.get("error"):
            raise UsageError(
                f"{place}: the packages that it wants could not be installed "
                f"({', '.join(wanted)}): {found['error']}"
            )
        lock = {
            "wanted": sorted(wanted),
            "versions": found["versions"],
            "digest": _digest(packages, compiled=False),
            "files": _digest(packages, compiled=True),
        }
        with storing(folder.parent):
            (beside / LOCK).write_text(json.dumps(lock, indent=1))
            _make_read_only(beside)
            with contextlib.suppress(OSError):  # another process was first
                beside.rename(folder)
    finally:
        _remove(beside)


def _ask_pip(wanted: Sequence[str], packages: Path) -> dict[str, Any]:
    """The word of the installer: `versions`, or an `error`."""
    ours, theirs = socket.socketpair()
    ours.settimeout(_PATIENCE_S)
    with ours:
        with theirs:
            config = {"wanted": list(wanted), "into": str(packages), "prefix": sys.prefix}
            process = start_host(_INSTALLER, theirs, config=config)
        try:
            told = b"".join(iter(lambda: receive(ours.recv, 1 << 16), b""))
        except TimeoutError:
            told = json.dumps({"error": f"pip took longer than {_PATIENCE_S:g} s"}).encode()
        finally:
            process.end(within_s=1.0)
    try:
        return json.loads(told)
    except ValueError:
        return {"error": "pip could not be started; is it installed beside unhack?"}


def _checked(folder: Path) -> PackageFolder:
    try:
        lock = json.loads((folder / LOCK).read_bytes())
        packages = folder / "packages"
        if _digest(packages, compiled=True) == lock["files"]:
            return PackageFolder(packages, tuple(lock["versions"]), lock["digest"])
    except (OSError, ValueError, KeyError):
        pass
    raise UsageError(
        f"{folder}: installed packages were changed or are incomplete; remove the folder, and they "
        "are installed anew"
    )


def _digest(folder: Path, *, compiled: bool) -> str:
    found = file_hashes(folder)
    counted = [item for item in found.items() if compiled or not item[0].endswith(".pyc")]
    return content_hash(*(part for item in counted for part in item))


def _make_read_only(folder: Path) -> None:
    """For every user id; executable bits stay."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o555 if executable else 0o444)


def _remove(folder: Path) -> None:
    if folder.exists():
        for path in (folder, *folder.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
