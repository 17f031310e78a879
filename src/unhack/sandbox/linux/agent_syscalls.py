"""The system calls that an agent may not make: everything else of the kernel's list is allowed.

Agents run compilers, version control and whole language runtimes, so the list is of what is denied.

Covered: new namespaces and mounts, kernel modules and keys, tracing and the memory of others, file
handles, io_uring, BPF, performance counters, clocks of the machine, wider processor affinity, and
every kind of socket but unix, internet and the routing table of its own network (so no vsock, which
no network namespace bounds). Calls newer than the list look as if the kernel lacked them; foreign
architectures and x32 numbers are denied.
Not covered: bugs of the kernel behind the calls that are allowed; the arguments of ioctl, but for
pushing characters into a terminal. Sources: seccomp(2), linux/filter.h, the kernel's system call
tables, address_families(7).
"""

from __future__ import annotations

import struct

from unhack.sandbox.linux import seccomp
from unhack.sandbox.linux.syscalls import AUDIT_ARCH, machine

_NEWEST = 463
"""The last number of the list that these rules were written for (Linux 6.13: setxattrat)."""

# Numbers by architecture: x86_64, aarch64. -1: the architecture lacks it.
_DENIED = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280),
    "chroot": (161, 51), "clock_adjtime": (305, 266), "clock_settime": (227, 112),
    "delete_module": (176, 106), "fanotify_init": (300, 262), "finit_module": (313, 273),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430), "fspick": (433, 433),
    "init_module": (175, 105), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425), "ioperm": (173, -1), "iopl": (172, -1), "kcmp": (312, 272),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219),
    "lookup_dcookie": (212, 18), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "perf_event_open": (298, 241), "pidfd_getfd": (438, 438), "pivot_root": (155, 41),
    "process_madvise": (440, 440), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "reboot": (169, 142), "request_key": (249, 218),
    "sched_setaffinity": (203, 122), "sethostname": (170, 161), "setns": (308, 268),
    "settimeofday": (164, 170), "swapoff": (168, 225), "swapon": (167, 224), "syslog": (103, 116),
    "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282), "uselib": (134, -1),
    "vhangup": (153, 58),
}  # fmt: skip
_ARGUMENTS = {
    "clone": (56, 220), "clone3": (435, 435), "socket": (41, 198), "ioctl": (16, 29),
}  # fmt: skip
_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET, AF_INET6."""
_NETLINK = 16
_PUSH = (0x5412, 0x541C)
"""TIOCSTI, TIOCLINUX."""
_NAMESPACES = 0x7E020080
"""Every CLONE_NEW* flag."""

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOSYS = 0x00050001, 0x00050026
_LOAD, _JEQ, _JGT, _JGE, _JSET, _RET = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32

Instruction = tuple[int, int, int, int]


def _when(number: int, body: list[Instruction]) -> list[Instruction]:
    """`body`, which ends in a return, for one call; the accumulator holds the number."""
    return [(_JEQ, 0, len(body), number), *body] if number >= 0 else []


def _one_of(values: tuple[int, ...], *, then: int, otherwise: int) -> list[Instruction]:
    tests = [(_JEQ, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [*tests, (_RET, 0, 0, otherwise), (_RET, 0, 0, then)]


def _rules(column: int) -> list[Instruction]:
    clone = [(_LOAD, 0, 0, _FIRST), (_JSET, 0, 1, _NAMESPACES), (_RET, 0, 0, _EPERM)]
    routing = [(_LOAD, 0, 0, _THIRD), (_JEQ, 0, 1, 0), (_RET, 0, 0, _ALLOW), (_RET, 0, 0, _EPERM)]
    families = _one_of(_FAMILIES, then=_ALLOW, otherwise=_EPERM)
    socket = [(_LOAD, 0, 0, _FIRST), (_JEQ, 0, len(routing), _NETLINK), *routing, *families]
    push = [(_LOAD, 0, 0, _SECOND), *_one_of(_PUSH, then=_EPERM, otherwise=_ALLOW)]
    code = _when(_ARGUMENTS["clone"][column], [*clone, (_RET, 0, 0, _ALLOW)])
    code += _when(_ARGUMENTS["clone3"][column], [(_RET, 0, 0, _ENOSYS)])
    code += _when(_ARGUMENTS["socket"][column], socket)
    code += _when(_ARGUMENTS["ioctl"][column], push)
    return code


def build_filter() -> seccomp.FilterProgram:
    """The filter. Raises KeyError on an architecture without a list (`seccomp.is_supported`)."""
    arch = machine()
    column = {"x86_64": 0, "aarch64": 1}[arch]
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_JEQ, 1, 0, AUDIT_ARCH[arch]),
        (_RET, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JGE, 0, 1, 0x40000000),
        (_RET, 0, 0, _EPERM),
        (_JGT, 0, 1, _NEWEST),
        (_RET, 0, 0, _ENOSYS),
    ]
    code += _rules(column)
    for numbers in _DENIED.values():
        code += _when(numbers[column], [(_RET, 0, 0, _EPERM)])
    code.append((_RET, 0, 0, _ALLOW))
    return seccomp.FilterProgram(b"".join(struct.pack("HBBI", *item) for item in code))
