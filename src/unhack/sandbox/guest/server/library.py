"""Python's library and packages as a job will find them: looked at once privileges are gone, before
any job.

Without namespaces a job reads the host's own files. When root starts the pool, jobs run as another
user, to whom the way to the library may be closed: a Python below /root, for one. Then imports go
by names relative to the library, which is the worker's working directory from before its privileges
went: what is below it can be opened whatever stands above.

Covered: folders above the library that the job's user may not enter; folders and files of the
library and of packages that it cannot read, which keep the worker from starting, so that no right
answer fails for the want of `import decimal`; an installation that stands elsewhere in the root.
Not covered: modules that this interpreter was built without; a job that changes its working
directory and imports afterwards; names and sizes (never contents) of what stands beside the
library, which a job can ask for by relative names; files inside a package that are closed one by
one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import machinery
from typing import Any, cast

_USED = ("array", "csv", "dataclasses", "_decimal", "fractions", "hashlib", "math", "statistics",
         "textwrap", "threading", "unicodedata", "zlib")  # fmt: skip
_PLACES = ("executable", "_base_executable", "prefix", "base_prefix", "exec_prefix",
           "base_exec_prefix", "_stdlib_dir")  # fmt: skip
"""Names in `sys` of the places of this interpreter."""


def open_library(folders: list[str]) -> None:
    """Make the import path `folders`, of which the first is the library, readable to this user.

    The working directory must be the library; it stays that only where it has to. Raises
    PermissionError, with what to do.
    """
    if not _unreadable(folders):
        os.chdir("/")
        return
    library = folders[0]
    _import_relatively(library)
    closed = _unreadable([os.path.relpath(folder, library) for folder in folders])
    if closed:
        raise PermissionError(_advice(os.path.normpath(os.path.join(library, closed))))


def follow(moved: list[list[str]]) -> None:
    """Let this interpreter find itself at the places that it has inside; `moved` are pairs of
    folders, before and after."""

    def place(path: str) -> str:
        for before, after in moved:
            if path == before or path.startswith(f"{before}/"):
                return after + path[len(before) :]
        return path

    if not moved:
        return
    _change_paths(place)
    for name in _PLACES:
        if isinstance(value := getattr(sys, name, None), str):
            setattr(sys, name, place(value))
    sys.path_importer_cache.clear()


def check_readable(folders: list[str], sites: list[str], names: set[str] | None = None) -> None:
    """Raise PermissionError, with what to do, where this user cannot read the library `folders` or
    a package in `sites`: of those called `names`, or of all."""
    closed = _unreadable(folders) or next(filter(None, (_closed_in(s, names) for s in sites)), "")
    if closed:
        raise PermissionError(_advice(closed))


def _closed_in(site: str, names: set[str] | None) -> str:
    """The first package or module in a folder that cannot be read, the folder itself where it
    cannot; else empty."""
    if not os.access(site, os.R_OK | os.X_OK):
        return site
    for entry in sorted(os.listdir(site)):
        top = entry.partition(".")[0]
        path = os.path.join(site, entry)
        needed = os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK
        wanted = top.isidentifier() if names is None else top in names
        if wanted and not os.access(path, needed):
            return path
    return ""


def _unreadable(folders: list[str]) -> str:
    """The first folder or file of those that programs use that cannot be read; else empty."""
    for folder in folders:
        try:
            names = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return folder
        for name in names:
            path = os.path.join(folder, name)
            if name.partition(".")[0] in _USED and not os.access(path, os.R_OK):
                return path
    return ""


class _RelativeFinder(machinery.FileFinder):
    """Finds modules in a folder whose absolute name cannot be used."""

    def __init__(self, path: str, *details: Any) -> None:
        super().__init__(path, *details)
        self.path = path

    def find_spec(self, fullname: str, target: Any = None) -> machinery.ModuleSpec | None:
        spec = super().find_spec(fullname, target)
        place = getattr(spec.loader, "path", None) if spec is not None else None
        if spec is not None and place is not None:
            spec.origin = place
        return spec


def _import_relatively(library: str) -> None:
    details: list[Any] = [
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    ]

    def hook(path: str) -> _RelativeFinder:
        if os.path.isabs(path) or not os.path.isdir(path):
            raise ImportError
        return _RelativeFinder(path, *details)

    def relative(path: str) -> str:
        inside = path == library or path.startswith(f"{library}/")
        return os.path.relpath(path, library) if inside else path

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()
    sys.path[:] = map(relative, sys.path)
    _change_paths(relative)
    # Each finder lists its folder now: a job may read what is in the library, not the list of it.
    machinery.PathFinder.find_spec("no_such_module")


def _change_paths(change: Callable[[str], str]) -> None:
    """Change the folders in which the packages that are loaded look for their modules."""
    for module in list(sys.modules.values()):
        places: Any = getattr(module, "__path__", None)
        if type(places) is list:
            module.__path__ = [change(place) for place in cast("list[str]", places)]


def _advice(closed: str) -> str:
    return (
        f"jobs run as a user of their own, who cannot read {closed} of Python's library or packages"
        ", so that right answers would fail at an import; open it to all (chmod -R o+rX), or "
        "use an environment that every user can read, such as one under /usr, /usr/local or /opt"
    )
