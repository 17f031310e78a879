"""The system call filter: a list of what a candidate may call; everything else fails with EPERM.

Covered: x86_64 and aarch64, foreign architectures and x32 numbers, arguments of the calls that are
only partly harmless (clone, mmap, mprotect, madvise, fcntl, ioctl, prctl, prlimit64,
sched_setaffinity); advice about files and pages that all jobs share is taken and not followed;
writable-and-executable memory (W^X) in every profile but `program`.
Not covered: bugs of the kernel behind the calls that are allowed; `int 0x80` needs executable
memory that a candidate cannot get, and is caught by the architecture check besides.

One filter serves the fork server and its jobs. What only the fork server needs (a clone with
exactly its own flags, mount, setns) is guarded by a capability that the job has dropped, and for
the profiles that mount, by a second filter (`build_denylist`) that the job adds.
Sources: seccomp(2), linux/filter.h.

Assembled by hand: a guest has the standard library alone, and libseccomp is not on every host.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

from unhack.sandbox.linux import calls
from unhack.sandbox.linux.syscalls import AUDIT_ARCH, TABLES, machine

FUNCTION = """
    read write readv writev pread64 pwrite64 preadv pwritev close close_range fstat stat lstat
    newfstatat statx lseek munmap brk mremap rt_sigaction rt_sigprocmask rt_sigreturn
    rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack access faccessat faccessat2 openat
    open readlink readlinkat getcwd getdents64 dup dup2 dup3 fsync fdatasync nanosleep
    clock_nanosleep clock_gettime clock_getres gettimeofday time getpid gettid getppid getuid
    geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid futex futex_wait
    futex_wake futex_waitv futex_requeue set_robust_list get_robust_list rseq set_tid_address
    exit exit_group sched_yield sched_getaffinity sched_getparam sched_getscheduler
    sched_get_priority_max sched_get_priority_min getpriority getrandom getrlimit getrusage
    sysinfo uname times umask poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl
    epoll_wait epoll_pwait epoll_pwait2 pipe pipe2 eventfd2 tgkill restart_syscall alarm
    setitimer getitimer timerfd_create timerfd_settime timerfd_gettime getcpu msync
    statfs fstatfs chdir fchdir capget wait4 waitid recvmsg sendmsg recvfrom sendto
    capset landlock_restrict_self
""".split()  # noqa: SIM905
"""System calls that Python code needs, and that the fork server needs of itself."""

SCRATCH = """
    mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat
    chmod fchmod fchmodat fchmodat2 creat truncate ftruncate fallocate utime utimes utimensat
    futimesat flock copy_file_range sendfile splice tee chown lchown fchown
    fchownat setsid mount umount2 seccomp
""".split()  # noqa: SIM905
"""Added where a job has a private writable directory; `mount` is denied again in the job."""

PROGRAM = """
    fork vfork execve kill setpgid setpriority sched_setaffinity setrlimit inotify_init
    inotify_init1 inotify_add_watch inotify_rm_watch timer_create timer_settime timer_gettime
    timer_getoverrun timer_delete getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    setfsuid setfsgid socketpair pause tkill ioprio_get arch_prctl mlock munlock mincore
    membarrier get_mempolicy signalfd4
""".split()  # noqa: SIM905
"""Added where a job may start other programs."""

JOB_DENIES = ("mount", "umount2", "seccomp", "setns")
"""System calls that the second filter of a job in namespaces takes away."""

LONE_DENIES = ("tgkill", "sched_setscheduler", "sched_setaffinity", "pidfd_send_signal", "wait4",
               "waitid", "seccomp")  # fmt: skip
"""System calls that the second filter of a job without namespaces takes away."""

ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
DONE = 0x00050000
"""The call returns 0 and does nothing: for advice that a program may give and none depends on."""
LOAD, AND = 0x20, 0x54
JEQ, JGT, JGE, JSET = 0x15, 0x25, 0x35, 0x45
_RET = 0x06
_KILL_PROCESS = 0x80000000
_NUMBER, _ARCH = 0, 4

Instruction = tuple[int, int, int, int]


class FilterProgram:
    """An assembled filter."""

    def __init__(self, code: bytes) -> None:
        self.code = code

    def load(self) -> None:
        """Install it for the calling thread. Needs no_new_privs. Raises OSError."""
        buffer = ctypes.create_string_buffer(self.code, len(self.code))
        pad = "HxxxxxxQ"
        header = struct.pack(pad, len(self.code) // 8, ctypes.addressof(buffer))
        pointer = ctypes.create_string_buffer(header, len(header))
        calls.syscall("seccomp", 1, 0, ctypes.addressof(pointer))


def failing(errno: int) -> int:
    """The word for a call that fails with this error number."""
    return 0x00050000 | errno


def ret(value: int) -> Instruction:
    """End the filter with a word on the call: ALLOW, DONE, EPERM, ENOSYS."""
    return (_RET, 0, 0, value)


def load_arg(index: int) -> Instruction:
    """Load the low word of an argument into the accumulator."""
    return (LOAD, 0, 0, 16 + 8 * index)


def when(number: int, body: list[Instruction]) -> list[Instruction]:
    """`body`, which must end in a return, for one system call; the accumulator holds the number."""
    return [(JEQ, 0, len(body), number), *body]


def one_of(values: Sequence[int], *, then: int, otherwise: int) -> list[Instruction]:
    """Return `then` where the accumulator holds one of the values."""
    tests = [(JEQ, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [*tests, ret(otherwise), ret(then)]


def preamble() -> list[Instruction]:
    """Kill foreign architectures, deny x32 numbers; the accumulator holds the number after it."""
    arch = AUDIT_ARCH[machine()]
    start = [(LOAD, 0, 0, _ARCH), (JEQ, 1, 0, arch), ret(_KILL_PROCESS), (LOAD, 0, 0, _NUMBER)]
    return [*start, (JGE, 0, 1, 0x40000000), ret(EPERM)]


def assemble(instructions: list[Instruction]) -> FilterProgram:
    """The filter of these instructions."""
    return FilterProgram(b"".join(struct.pack("HBBI", *item) for item in instructions))


def _allow_if_equal(index: int, values: list[int]) -> list[Instruction]:
    return [load_arg(index), *one_of(values, then=ALLOW, otherwise=EPERM)]


def _tree(ranges: list[tuple[int, int]]) -> list[Instruction]:
    """A binary search over the allowed numbers; every leaf returns."""
    if len(ranges) == 1:
        low, high = ranges[0]
        return [(JGE, 0, 2, low), (JGT, 1, 0, high), ret(ALLOW), ret(EPERM)]
    middle = len(ranges) // 2
    left, right = _tree(ranges[:middle]), _tree(ranges[middle:])
    return [(JGE, len(left), 0, ranges[middle][0]), *left, *right]


def _ranges(numbers: set[int]) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if result and result[-1][1] == number - 1:
            result[-1] = (result[-1][0], number)
        else:
            result.append((number, number))
    return result


_CLONE_NAMESPACES = 0x7E020000
_CLONE_THREAD = 0x00010000


def _clone(server_flags: int, *, processes: bool) -> list[Instruction]:
    """Threads, the fork server's own flags, and for programs any clone without new namespaces."""
    kind: list[Instruction] = [ret(ALLOW)]
    if not processes:
        kind = [(JSET, 0, 1, _CLONE_THREAD), ret(ALLOW), ret(EPERM)]
    return [
        load_arg(0),
        (JEQ, 0, 1, server_flags),
        ret(ALLOW),
        (JSET, 0, 1, _CLONE_NAMESPACES),
        ret(EPERM),
        *kind,
    ]


_MMAP = [
    load_arg(2),
    (JSET, 1, 0, 4),  # PROT_EXEC
    ret(ALLOW),
    (JSET, 2, 0, 2),  # … with PROT_WRITE
    load_arg(3),
    (JSET, 0, 1, 0x20),  # … or MAP_ANONYMOUS
    ret(EPERM),
    ret(ALLOW),
]
_ADVICE = ("fadvise64", "readahead", "sync_file_range")
"""Calls about files that all jobs share: one that had them would slow every neighbour down, or
signal to it."""
_SHARED_MEMORY_ADVICE = (12, 20, 21, 25)
"""MADV_MERGEABLE, COLD, PAGEOUT and COLLAPSE: about pages that others may share."""
_MADVISE = [load_arg(2), *one_of(_SHARED_MEMORY_ADVICE, then=DONE, otherwise=ALLOW)]
_MPROTECT = [load_arg(2), (JSET, 0, 1, 4), ret(EPERM), ret(ALLOW)]
_SOCKETPAIR = [
    load_arg(0),
    (JEQ, 0, 4, 1),  # AF_UNIX
    load_arg(1),
    (AND, 0, 0, 0xF),
    (JEQ, 2, 0, 1),  # SOCK_STREAM
    (JEQ, 1, 0, 5),  # SOCK_SEQPACKET
    ret(EPERM),
    ret(ALLOW),
]
"""An event loop wakes itself through a pair. Those with a connection lead to each other alone; a
datagram may name any socket of the host, where no namespace hides it."""
_IOCTLS = [0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451]  # TCGETS … FIOCLEX
_FCNTLS = [0, 1, 2, 3, 4, 1030]  # no SETOWN, SETSIG, LEASE, SETPIPE_SZ
_LOCKS = [5, 6, 7, 36, 37, 38]  # on a shared read-only file, a way to signal another job


def _prctl() -> list[Instruction]:
    """PR_SET_PDEATHSIG to SIGKILL only (a job must not disarm it), names, no_new_privs."""
    return [
        load_arg(0),
        (JEQ, 0, 3, calls.PR_SET_PDEATHSIG),
        load_arg(1),
        (JEQ, 3, 0, 9),
        ret(EPERM),
        (JEQ, 1, 0, 15),  # PR_SET_NAME
        (JEQ, 0, 1, calls.PR_SET_NO_NEW_PRIVS),
        ret(ALLOW),
        ret(EPERM),
    ]


def build_allowlist(
    *, server_flags: int, scratch: bool, programs: bool, second: bool = False
) -> FilterProgram:
    """The filter of a fork server and its jobs.

    `server_flags` is the exact flag word of the server's clone(2). With `second` a job adds a
    second filter, as one does anyhow that may write or has no namespaces. Raises KeyError on an
    architecture without a table; `is_supported` tells beforehand.
    """
    table = TABLES[machine()]
    names = set(FUNCTION)
    if scratch or programs:
        names |= set(SCRATCH)
    if programs:
        names |= set(PROGRAM) | {"mmap", "mprotect"}
    if second or not server_flags & _CLONE_NAMESPACES:
        names.add("seccomp")  # the second filter takes it away
    blocks: dict[str, list[Instruction]] = {
        "clone": _clone(server_flags, processes=programs),
        "clone3": [ret(ENOSYS)],
        "ioctl": _allow_if_equal(1, _IOCTLS),
        "fcntl": _allow_if_equal(1, _FCNTLS + (_LOCKS if scratch or programs else [])),
        "prctl": _prctl(),
        "prlimit64": _allow_if_equal(0, [0]),
        "sched_setscheduler": _allow_if_equal(1, [5]),  # SCHED_IDLE
        "pidfd_send_signal": _allow_if_equal(1, [9]),  # SIGKILL
        "madvise": _MADVISE,
        **{name: [ret(DONE)] for name in _ADVICE},
    }
    if server_flags & calls.CLONE_NEWPID:
        # Harmless in a job: it holds no descriptor of a namespace, nor a capability in one.
        blocks["setns"] = _allow_if_equal(1, [calls.CLONE_NEWUSER])
    if not programs:
        # The fork server binds itself while it forks (`calls.Cloner`). A job may bind its own
        # threads, unless that would give it more cores (`job_denies`). Threads that move all the
        # time slow neighbours more than those that compute; waiting for a core does not count.
        blocks["sched_setaffinity"] = _allow_if_equal(0, [0])
        blocks |= {"mmap": _MMAP, "mprotect": _MPROTECT}
        blocks["socketpair"] = _SOCKETPAIR
    code = preamble()
    for name, body in blocks.items():
        code += when(table[name], body)
    return assemble(code + _tree(_ranges({table[name] for name in names if name in table})))


def build_denylist(names: tuple[str, ...], *, forks: bool = False) -> FilterProgram:
    """A small filter on top: `names` fail with EPERM; with `forks`, so does a new process."""
    table = TABLES[machine()]
    code = preamble()
    for name in names:
        if name in table:
            code += when(table[name], [ret(EPERM)])
    if forks:
        body = [load_arg(0), (JSET, 0, 1, _CLONE_THREAD), ret(ALLOW), ret(EPERM)]
        code += when(table["clone"], body)
    return assemble([*code, ret(ALLOW)])


def job_denies(*, places: bool) -> tuple[str, ...]:
    """The calls that the second filter of a job in namespaces takes away; with `places` it may
    still place its processes on cores: a program, where that gives it no core that is not its."""
    return JOB_DENIES if places else (*JOB_DENIES, "sched_setaffinity")


def is_supported() -> bool:
    """True when this architecture has a table."""
    return machine() in TABLES
