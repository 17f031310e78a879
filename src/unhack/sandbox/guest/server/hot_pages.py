"""Make each fork cheaper: copy the pages that every job writes while forking, not fault by fault.

After a fork, the first write to each shared page costs a page fault (under virtualisation well over
a microsecond) in the child, and another in the parent. A Python job writes some 400 pages, nearly
always the same ones: reference counts, free lists, the interpreter's state. The kernel copies a
page during fork(2) already, without any fault, when the page is pinned for direct I/O. So: run one
job, see which pages it and its server made their own (`rehearsal`), and pin those by registering
them as io_uring buffers. The ring is never used for I/O, and no job can reach it.

`benchmarks/fork_cost.py` measures what that saves. Where io_uring or locked memory is not to be
had, nothing is pinned.
Sources: io_uring_register(2), proc_pid_pagemap(5), the kernel's `copy_present_page`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Callable, Generator, Iterable, Iterator

from unhack.sandbox.linux import calls

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SETUP, _REGISTER = 425, 427  # the same on every architecture
_REGISTER_BUFFERS = 0
_MAX_RANGES = 1000
_MAX_BYTES = 6 << 20
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56


class PageWatch:
    """Reads which pages a process alone has: after a fork, those that it has written since.

    It makes room for what it reads beforehand, because looking must write no page of its own.
    """

    def __init__(self, proc: int) -> None:
        """`proc` is a descriptor of /proc."""
        self._proc = proc
        self._mappings = list(_writable_mappings(proc))
        self._seen: list[list[bytearray]] = []
        self._rooms = [self._make_room() for _ in range(2)]

    def _make_room(self) -> list[bytearray]:
        return [bytearray((end - start) // _PAGE * 8) for start, end in self._mappings]

    def look(self, pid: int | str) -> None:
        """Read what a process has now; twice at most. Raises OSError."""
        room = self._rooms.pop()
        pagemap = os.open(f"{pid}/pagemap", os.O_RDONLY, dir_fd=self._proc)
        for (start, _), data in zip(self._mappings, room, strict=True):
            os.preadv(pagemap, [data], start // _PAGE * 8)
        os.close(pagemap)
        self._seen.append(room)

    def pages(self) -> set[int]:
        """Addresses of the pages that one of those looked at had to itself."""
        return {
            start + index * _PAGE
            for room in self._seen
            for (start, _), data in zip(self._mappings, room, strict=True)
            for index, (entry,) in enumerate(struct.iter_unpack("Q", data))
            if entry & _PRESENT and entry & _EXCLUSIVE
        }


def pin(trial: Callable[[], None], cloner: calls.Cloner, proc: int) -> int:
    """Pin what `trial` writes when it runs in a fork; the number of pages pinned.

    `proc` is a descriptor of /proc. The pages stay pinned for the life of the process.
    """
    try:
        watch = PageWatch(proc)
        with held_fork(cloner, trial) as pid:
            watch.look(pid)
        return pin_pages(watch.pages())
    except (OSError, ValueError):
        return 0


@contextlib.contextmanager
def held_fork(cloner: calls.Cloner, trial: Callable[[], None]) -> Generator[int]:
    """A fork that has run `trial` and waits until the block ends. Raises OSError when it broke.

    The child only runs the trial and waits: looking would write pages too.
    """
    done_read, done_write = os.pipe()
    hold_read, hold_write = os.pipe()
    pid, pidfd = cloner.clone()
    if pid == 0:
        try:
            trial()
            os.write(done_write, b".")
            os.close(hold_write)
            os.read(hold_read, 1)
        finally:
            os._exit(0)
    os.close(done_write)
    try:
        if not os.read(done_read, 1):
            raise OSError(10, "the trial broke")
        yield pid
    finally:
        for fd in (hold_write, hold_read, done_read):
            os.close(fd)
        os.waitpid(pid, 0)
        os.close(pidfd)


def pin_pages(pages: Iterable[int]) -> int:
    """Pin the pages at these addresses; how many were. Raises OSError."""
    return _register(_ranges(pages))


def _writable_mappings(proc: int) -> Iterator[tuple[int, int]]:
    fd = os.open("self/maps", os.O_RDONLY, dir_fd=proc)
    with os.fdopen(fd, "rb") as file:
        # Decoded without looking for a codec: the library may be out of reach by now.
        lines = file.read().decode("ascii", "replace").splitlines()
    for line in lines:
        addresses, permissions, *rest = line.split(None, 5)
        name = rest[-1] if len(rest) == 4 else ""
        if permissions[:2] == "rw" and permissions[3] == "p" and not name.startswith("[v"):
            start, _, end = addresses.partition("-")
            yield int(start, 16), int(end, 16)


def _ranges(pages: Iterable[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for page in sorted(pages):
        if ranges and sum(ranges[-1]) == page:
            ranges[-1] = (ranges[-1][0], ranges[-1][1] + _PAGE)
        else:
            ranges.append((page, _PAGE))
    return ranges[:_MAX_RANGES]


def _register(ranges: list[tuple[int, int]]) -> int:
    total = sum(size for _, size in ranges)
    if not ranges or total > _MAX_BYTES:
        return 0
    parameters = ctypes.create_string_buffer(120)
    ring = calls.syscall_number(_SETUP, 1, ctypes.addressof(parameters))
    vector = b"".join(struct.pack("QQ", start, size) for start, size in ranges)
    buffer = ctypes.create_string_buffer(vector, len(vector))
    try:
        calls.syscall_number(
            _REGISTER, ring, _REGISTER_BUFFERS, ctypes.addressof(buffer), len(ranges)
        )
    except OSError:
        os.close(ring)
        raise
    return total // _PAGE
