"""Raw Linux system calls that the standard library lacks, through ctypes.

Every function raises OSError with errno set. By hand: a guest has the standard library alone.
Source: the man-pages of the calls named.
"""

from __future__ import annotations

import ctypes
import os
import struct

from unhack.sandbox.linux.syscalls import TABLES, machine

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_PIDFD = 0x00001000
SIGCHLD = 17

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
AT_FDCWD = -100
AT_RECURSIVE = 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAP_SYS_ADMIN = 21

_MOST_CORES = 8192
"""As many as Linux knows."""

# PyDLL keeps the GIL across the call: the child of a raw clone must own it.
_libc = ctypes.PyDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_NUMBERS = TABLES.get(machine(), {})


def _arg(value: int | bytes | None) -> ctypes.c_long | ctypes.c_char_p | None:
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)


def syscall(name: str, *args: int | bytes | None) -> int:
    """Call `name` by number. Raises OSError on failure, and ENOSYS where the number is unknown."""
    number = _NUMBERS.get(name)
    if number is None:
        raise OSError(38, f"{name} is not known on {machine()}")
    try:
        return syscall_number(number, *args)
    except OSError as error:
        raise OSError(error.errno, f"{name}: {error.strerror}") from None


def syscall_number(number: int, *args: int | bytes | None) -> int:
    """Call by number. Raises OSError."""
    result = _syscall(ctypes.c_long(number), *[_arg(arg) for arg in args])
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


class Cloner:
    """clone(2) without Python's and glibc's fork handlers, for a process with a single thread.

    Skipping them saves about a hundred page faults in each child. The child shares nothing that
    the handlers would have to mend: no other thread, no lock held, no buffered output.
    """

    def __init__(self, flags: int, *, stay: bool = False) -> None:
        """With `stay` a child begins on the caller's core, where that can be had."""
        self._pidfd = ctypes.c_int(-1)
        zero = ctypes.c_long(0)
        self._args = (
            ctypes.c_long(_NUMBERS["clone"]),
            ctypes.c_long(flags | CLONE_PIDFD | SIGCHLD),
            zero,
            ctypes.byref(self._pidfd),
            zero,
            zero,
        )
        self._core = _OwnCore() if stay else None

    def clone(self, *, remain: bool = False) -> tuple[int, int]:
        """(pid, pidfd) in the parent, (0, -1) in the child. Raises OSError.

        With `remain`, a caller that stays is bound to its core until the next call of this or of
        `free`; a child never is.
        """
        core = self._core
        if core is not None and core.bind():
            pid = _syscall(*self._args)
            code = ctypes.get_errno()
            if pid <= 0 or not remain:
                core.free()  # a child as the first thing that it does
        else:
            pid = _syscall(*self._args)
            code = ctypes.get_errno()
        if pid > 0:
            return pid, self._pidfd.value
        if pid == 0:
            return 0, -1
        raise OSError(code, f"clone: {os.strerror(code)}")

    def free(self) -> None:
        """Let a caller that has remained on its core move again."""
        if self._core is not None:
            self._core.free()


class _OwnCore:
    """Binds the calling thread to the core that it runs on.

    The kernel starts a child on an idle core, whose caches hold nothing of what it inherits; a
    bound parent's child starts on its parent's. And it wakes a parent on an idle core while its
    child ends on the parent's; a bound one waits for that end. What was set from outside comes
    back, and stays when it was set in the meantime (but for that very core alone).
    """

    _BYTES = _MOST_CORES // 8

    def __init__(self) -> None:
        self._all = ctypes.create_string_buffer(self._BYTES)
        self._now = ctypes.create_string_buffer(self._BYTES)
        self._one = (ctypes.c_ubyte * self._BYTES)()
        self._core = 0
        self._bound = False
        own, size = ctypes.c_long(0), ctypes.c_long(self._BYTES)
        get_cores = ctypes.c_long(_NUMBERS["sched_getaffinity"])
        set_cores = ctypes.c_long(_NUMBERS["sched_setaffinity"])
        self._get_all = (get_cores, own, size, self._all)
        self._get_now = (get_cores, own, size, self._now)
        self._set_all = (set_cores, own, size, self._all)
        self._set_one = (set_cores, own, size, self._one)

    def bind(self) -> bool:
        """Bind; False, and nothing has changed, where the kernel or a filter refuses it."""
        if self._bound:
            return True
        core = _libc.sched_getcpu()
        if core < 0 or _syscall(*self._get_all) < 0:
            return False
        self._one[self._core >> 3] = 0
        self._one[core >> 3] = 1 << (core & 7)
        self._core = core
        self._bound = _syscall(*self._set_one) == 0
        return self._bound

    def free(self) -> None:
        """Give back the cores of before."""
        if not self._bound:
            return
        self._bound = False
        if _syscall(*self._get_now) < 0 or not _libc.memcmp(self._now, self._one, self._BYTES):
            _syscall(*self._set_all)


def cores_are_narrowed() -> bool:
    """True when this thread may run on fewer cores than it could take for itself.

    `taskset` narrows that way, and any process may undo it; a control group's cpuset, nobody. The
    only way to tell is to try. True where trying is refused, too.
    """
    own = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, range(_MOST_CORES))
    except OSError:
        return True
    narrowed = os.sched_getaffinity(0) != own
    if narrowed:
        os.sched_setaffinity(0, own)
    return narrowed


def prctl(option: int, arg2: int = 0, arg3: int = 0) -> int:
    """prctl(2) with the unused arguments zero."""
    result = _libc.prctl(
        ctypes.c_int(option),
        ctypes.c_ulong(arg2),
        ctypes.c_ulong(arg3),
        ctypes.c_ulong(0),
        ctypes.c_ulong(0),
    )
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")
    return result


def unshare(flags: int) -> None:
    """unshare(2)."""
    syscall("unshare", flags)


def join_user_namespace(fd: int) -> None:
    """Move the calling, single-threaded process into the user namespace behind `fd`. It has every
    capability there, and must drop them. Needs CAP_SYS_ADMIN in the namespace above."""
    syscall("setns", fd, CLONE_NEWUSER)


def mount(source: str | None, target: str, *, kind: str | None = None, flags: int = 0,
          data: str | None = None) -> None:  # fmt: skip
    """mount(2)."""
    encoded = [item.encode() if item is not None else None for item in (source, target, kind, data)]
    syscall("mount", encoded[0], encoded[1], encoded[2], flags, encoded[3])


def umount(target: str, flags: int = MNT_DETACH) -> None:
    """umount2(2)."""
    syscall("umount2", target.encode(), flags)


def pivot_root(new: str, old: str) -> None:
    """pivot_root(2)."""
    syscall("pivot_root", new.encode(), old.encode())


def mount_setattr_recursive(target: str, attributes: int) -> None:
    """mount_setattr(2) on a whole tree (Linux 5.12)."""
    buffer = ctypes.create_string_buffer(struct.pack("QQQQ", attributes, 0, 0, 0))
    address = ctypes.addressof(buffer)
    syscall("mount_setattr", AT_FDCWD, target.encode(), AT_RECURSIVE, address, 32)


_CAP_HEADER = struct.pack("Ii", 0x20080522, 0)
_CAPS_NONE = struct.pack("IIIIII", 0, 0, 0, 0, 0, 0)
_header_buffer = ctypes.create_string_buffer(_CAP_HEADER, 8)
_none_buffer = ctypes.create_string_buffer(_CAPS_NONE, 24)


def drop_capabilities() -> None:
    """Give up every capability: effective, permitted and inheritable."""
    if _libc.capset(_header_buffer, _none_buffer) < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"capset: {os.strerror(code)}")


def keep_capabilities(*numbers: int) -> None:
    """Keep only these capabilities, all below 32, effective and permitted."""
    mask = sum(1 << number for number in numbers)
    data = ctypes.create_string_buffer(struct.pack("IIIIII", mask, mask, 0, 0, 0, 0), 24)
    if _libc.capset(_header_buffer, data) < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"capset: {os.strerror(code)}")


def drop_bounding_set(*kept: int) -> None:
    """Empty the bounding and ambient sets but for `kept`, so that no exec can regain others."""
    for number in range(64):
        if number in kept:
            continue
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError as error:
            if error.errno == 22:
                break
            raise
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
