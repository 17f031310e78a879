"""Files that are on the disk as a whole or not at all, and logs that grow by whole lines.

Covered: a kill, a power cut or a full disk between any two steps.
Not covered: file systems that lie about fsync; two writers of one log (`store.run_folder` has the
lock); folders that untrusted processes write to (`sandbox.workspace.safe_files`).
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file so that a crash leaves the old one or the new one. Raises OSError.

    The data are on the disk when this returns, and so is the name.
    """
    handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def append_whole(path: Path, data: bytes, *, sync: bool) -> None:
    """Add bytes at the end of a file; where that fails, the file is as it was. Raises OSError.

    With `sync` the bytes are on the disk when this returns, and so is the name of a new file.
    """
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        size = os.fstat(handle).st_size
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(handle, left) :]
            if sync:
                os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)
    if sync and not size:
        sync_folder(path.parent)


def read_whole_lines(path: Path, *, repair: bool = False) -> list[bytes]:
    """The lines of a log without their ends; none where there is no file. Raises OSError.

    A last line that a crash cut off, or that is still being written, is passed over; `repair` cuts
    it off in the file too.
    """
    data = path.read_bytes() if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if repair and len(whole) < len(data):
        os.truncate(path, len(whole))
    return whole.split(b"\n")[:-1]


def sync_folder(folder: Path) -> None:
    """Write the names of a directory to the disk. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
