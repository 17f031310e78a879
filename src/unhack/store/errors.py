"""Errors of run folders, in words that say what to do."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from unhack.core.errors import UnhackError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_MIN_FREE_BYTES = 1 << 20
_FORBIDDEN = {errno.EACCES, errno.EPERM}


class StoreError(UnhackError):
    """A run folder cannot be read or written, or holds something that nobody wrote there."""


@contextmanager
def storing(folder: Path) -> Generator[None]:
    """Turn what the system says of files below `folder` into a StoreError that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(_explain(folder, error)) from error
    except sqlite3.Error as error:
        raise StoreError(_explain_database(folder, error)) from error


def check_room(folder: Path) -> None:
    """Raise StoreError where there is hardly any room left: what went wrong may be due to that."""
    with storing(folder):
        if shutil.disk_usage(folder).free < _MIN_FREE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _explain(folder: Path, error: OSError) -> str:
    place = error.filename or folder
    if error.errno in _FULL:
        return (
            f"{folder}: the disk or the quota is full; what is stored is safe: make room and resume"
        )
    if error.errno in _FORBIDDEN:
        return f"{place}: no permission ({error.strerror}); this user must own the run folder"
    if error.errno == errno.EROFS:
        return f"{place}: this file system is read-only; choose a folder on another"
    return f"{place}: {error.strerror or error}"


def _explain_database(folder: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "full" in text:
        return (
            f"{folder}: the disk or the quota is full; what is stored is safe: make room and resume"
        )
    if "readonly" in text or "unable to open" in text:
        return f"{folder}: the database cannot be written ({text}); this user must own the folder"
    if "locked" in text:
        return f"{folder}: another process holds the database; wait for it or end it"
    return f"{folder}: the database is damaged ({text}); restore the folder from a copy"
