"""The standard library as a job will find it: looked at once privileges are gone, before any job.

Without namespaces a job reads the host's own files. When root starts the pool, jobs run as another
user, to whom the way to the library may be closed: a Python below /root, for one. Then imports go
by names relative to the library, which is the worker's working directory from before its privileges
went: what is below it can be opened whatever stands above.

Covered: folders above the library that the job's user may not enter; folders and files of the
library itself that it cannot read, which keep the worker from starting, so that no right answer
fails for the want of `import decimal`.
Not covered: modules that this interpreter was built without; a job that changes its working
directory and imports afterwards; names and sizes (never contents) of what stands beside the
library, which a job can ask for by relative names; site-packages, of which a worker loads what it
needs beforehand.
"""

from __future__ import annotations

import os
import sys
from importlib import machinery
from typing import Any, cast

_USED = ("array", "csv", "dataclasses", "_decimal", "fractions", "hashlib", "math", "statistics",
         "textwrap", "threading", "unicodedata", "zlib")  # fmt: skip


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
    for module in list(sys.modules.values()):
        places: Any = getattr(module, "__path__", None)
        if type(places) is list:
            module.__path__ = [relative(place) for place in cast("list[str]", places)]
    # Each finder lists its folder now: a job may read what is in the library, not the list of it.
    machinery.PathFinder.find_spec("no_such_module")


def _advice(closed: str) -> str:
    return (
        f"jobs run as a user of their own, who cannot read {closed} of Python's library, so that "
        "right answers would fail at an import; open it to every user (chmod -R o+rX), or use a "
        "Python that every user can read, such as one under /usr, /usr/local or /opt"
    )
