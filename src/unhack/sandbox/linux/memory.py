"""The memory that this process and its children may still take.

Covered: what the kernel says is available; limits of control groups, v1 and v2, from this process's
own up to the root that is in sight.
Not covered: swap; groups above a container, which the kernel does not show.
Sources: proc_meminfo(5), the kernel's cgroup-v1 and cgroup-v2 documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_FILES = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Limit and use, in v2 and in v1."""
_UNKNOWN = 1 << 62
"""More than there is: for a kernel that does not say."""


def available_bytes() -> int:
    """Bytes that can be taken without swapping and without meeting a limit of a group."""
    free = [_free_in_group(folder) for folder in _own_groups()]
    return max(0, min([_available(), *free]))


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _UNKNOWN
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in fields else _UNKNOWN


def _own_groups() -> Iterator[Path]:
    """The groups of this process in which memory may be limited, and all above them."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, names, path = line.split(":", 2)
        mounts: tuple[Path, ...] = ()
        if not names:
            mounts = (_MOUNT, _MOUNT / "unified")
        elif "memory" in names.split(","):
            mounts = (_MOUNT / "memory",)
        for mount in mounts:
            folder = mount / path.lstrip("/")
            yield folder
            yield from (above for above in folder.parents if above.is_relative_to(mount))


def _free_in_group(folder: Path) -> int:
    for limit_name, use_name in _FILES:
        try:
            limit = (folder / limit_name).read_text().strip()
            used = int((folder / use_name).read_text())
        except (OSError, ValueError):
            continue
        if limit.isdigit():
            return int(limit) - used
    return _UNKNOWN
