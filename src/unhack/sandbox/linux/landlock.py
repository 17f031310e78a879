"""Landlock: path rules that hold whatever the mount table says.

Covered: reads only beneath the given paths, writes only beneath the given writable paths, no TCP
bind or connect (ABI 4), no device ioctl (ABI 5), no signal or abstract unix socket outside the
sandbox (ABI 6).
Not covered by Landlock, and therefore by seccomp: UDP, pathname unix sockets, stat() metadata,
prlimit and scheduler calls on processes of the same uid. Source: landlock(7), linux/landlock.h.

Called by hand: a guest has the standard library alone, and three system calls are all of it.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from unhack.sandbox.linux import calls

_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ABI_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_SINKS = ("/dev/null", "/dev/zero", "/dev/full")
"""Devices that programs may write to although they are no files of theirs: they keep nothing."""
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | (1 << 14) | (1 << 15)


def abi_version() -> int:
    """The kernel's Landlock ABI; 0 where Landlock is missing or switched off."""
    try:
        return calls.syscall("landlock_create_ruleset", None, 0, _CREATE_VERSION)
    except OSError:
        return 0


def _rights(abi: int) -> int:
    return max(mask for version, mask in _ABI_RIGHTS.items() if version <= abi)


def create_ruleset(
    *, readable: Iterable[str], writable: Iterable[str] = (), executable: bool = False
) -> int:
    """A ruleset file descriptor. Raises OSError where Landlock is missing."""
    abi = abi_version()
    if abi == 0:
        raise OSError(38, "Landlock is not available")
    rights = _rights(abi)
    network = 3 if abi >= 4 else 0
    scoped = 3 if abi >= 6 else 0
    attributes = struct.pack("QQQ", rights, network, scoped)[
        : 8 if abi < 4 else 16 if abi < 6 else 24
    ]
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    ruleset = calls.syscall("landlock_create_ruleset", ctypes.addressof(buffer), len(attributes), 0)
    read_rights = _READ_FILE | _READ_DIR | (_EXECUTE if executable else 0)
    for path in readable:
        _add(ruleset, path, read_rights)
    for path in writable:
        # Everything but devices: making character and block nodes (bits 6 and 11) stays denied.
        _add(ruleset, path, rights & ~(1 << 6) & ~(1 << 11) & ~(0 if executable else _EXECUTE))
    for path in _SINKS if executable else ():
        if os.path.exists(path):
            _add(ruleset, path, _READ_FILE | _WRITE_FILE)
    return ruleset


def _add(ruleset: int, path: str, rights: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            rights &= _FILE_RIGHTS
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, handle), 12)
        calls.syscall("landlock_add_rule", ruleset, _RULE_PATH_BENEATH, ctypes.addressof(rule), 0)
    finally:
        os.close(handle)


def restrict(ruleset: int) -> None:
    """Apply a ruleset to the calling thread and its future children. Needs no_new_privs."""
    calls.syscall("landlock_restrict_self", ruleset, 0)
