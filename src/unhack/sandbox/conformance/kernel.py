"""System calls that no job may make, and a way to try them that does no harm anywhere.

Each is called with arguments that the kernel refuses by itself, for another reason than permission:
so EPERM means that a filter answered, and a host without one loses nothing by the attempt.
Numbers: the kernel's `syscall_64.tbl` and `asm-generic/unistd.h`.
"""

from __future__ import annotations

from dataclasses import dataclass

from unhack.sandbox.linux.syscalls import machine

EPERM, ENOSYS = 1, 38
_BAD_POINTER = -1
_BAD_FLAGS = 0x7FFF0000


@dataclass(frozen=True, slots=True)
class Forbidden:
    """One call, and how to make it without effect."""

    name: str
    x86_64: int
    aarch64: int
    arguments: tuple[int, ...] = ()
    programs_too: bool = True
    """True when programs are denied it as well."""

    @property
    def number(self) -> int:
        """The call's number on this machine."""
        return self.aarch64 if machine() == "aarch64" else self.x86_64


FORBIDDEN = (
    Forbidden("mount", 165, 40, (_BAD_POINTER, _BAD_POINTER, _BAD_POINTER, 0, 0)),
    Forbidden("umount2", 166, 39, (_BAD_POINTER, _BAD_FLAGS)),
    Forbidden("unshare", 272, 97, (0x00000001,)),
    Forbidden("setns", 308, 268, (-1, 0)),
    Forbidden("bpf", 321, 280, (0, 0, 1 << 20)),
    Forbidden("io_uring_setup", 425, 425, (0, 0)),
    Forbidden("keyctl", 250, 219, (9999, 0, 0, 0, 0)),
    Forbidden("add_key", 248, 217, (0, 0, 0, 1 << 30, 0)),
    Forbidden("userfaultfd", 323, 282, (0xFF,)),
    Forbidden("perf_event_open", 298, 241, (0, 0, -1, -1, -1)),
    Forbidden("kexec_load", 246, 104, (0, 0, 0, _BAD_FLAGS)),
    Forbidden("personality", 135, 92, (0xFFFFFFFF,)),
    Forbidden("socket", 41, 198, (1, 1, 0)),
    Forbidden("socketpair", 53, 199, (1, 2, 0, 0), programs_too=False),  # of datagrams
    Forbidden("ptrace", 101, 117, (0xFFFF, 1, 0, 0)),
    Forbidden("process_vm_readv", 310, 270, (1, 0, 0, 0, 0, 0)),
    Forbidden("process_vm_writev", 311, 271, (1, 0, 0, 0, 0, 0)),
    Forbidden("pidfd_open", 434, 434, (1, _BAD_FLAGS)),
    Forbidden("pidfd_getfd", 438, 438, (-1, 0, 0)),
    Forbidden("kcmp", 312, 272, (1, 1, 99, 0, 0)),
    Forbidden("memfd_create", 319, 279, (0, _BAD_FLAGS)),
    Forbidden("pivot_root", 155, 41, (_BAD_POINTER, _BAD_POINTER)),
    Forbidden("chroot", 161, 51, (_BAD_POINTER,)),
    Forbidden("open_by_handle_at", 304, 265, (-1, 0, 0)),
    Forbidden("fsopen", 430, 430, (_BAD_POINTER, 0)),
    Forbidden("open_tree", 428, 428, (-1, _BAD_POINTER, 0)),
    Forbidden("move_mount", 429, 429, (-1, _BAD_POINTER, -1, _BAD_POINTER, 0)),
    Forbidden("finit_module", 313, 273, (-1, 0, 0)),
    Forbidden("fanotify_init", 300, 262, (_BAD_FLAGS, 0)),
    Forbidden("shmget", 29, 194, (0, 0, 0)),
    Forbidden("mq_open", 240, 180, (_BAD_POINTER, 0, 0, 0)),
    Forbidden("seccomp", 317, 277, (99, 0, 0)),
    Forbidden("vmsplice", 278, 75, (-1, 0, 0, 0)),
    Forbidden("setuid", 105, 146, (-1,)),
    Forbidden("execve", 59, 221, (_BAD_POINTER, 0, 0), programs_too=False),
    Forbidden("kill", 62, 129, (1, 0), programs_too=False),
)

CALLER = """
import ctypes
def f(calls):
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    errnos = {}
    for name, number, arguments in calls:
        ctypes.set_errno(0)
        failed = call(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments]) == -1
        errnos[name] = ctypes.get_errno() if failed else 0
    return errnos
"""
"""Source of a job that makes calls and answers with their errnos."""
