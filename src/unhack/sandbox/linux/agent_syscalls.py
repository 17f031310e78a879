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

import errno

from unhack.sandbox.linux import seccomp
from unhack.sandbox.linux.seccomp import ALLOW, ENOSYS, EPERM, failing, load_arg, one_of, ret, when
from unhack.sandbox.linux.syscalls import TABLES, machine

_NEWEST = 463
"""The last number of the list that these rules were written for (Linux 6.13: setxattrat)."""
_DENIED = """
    acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init
    finit_module fsconfig fsmount fsopen fspick init_module io_uring_enter io_uring_register
    io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mount
    mount_setattr move_mount name_to_handle_at nfsservctl open_by_handle_at open_tree
    perf_event_open pidfd_getfd pivot_root process_madvise process_vm_readv process_vm_writev
    ptrace quotactl quotactl_fd reboot request_key sched_setaffinity sethostname setns settimeofday
    swapoff swapon syslog umount2 unshare userfaultfd uselib vhangup
""".split()  # noqa: SIM905
_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET, AF_INET6."""
_NETLINK = 16
_NO_FAMILY, _NO_PROTOCOL = failing(errno.EAFNOSUPPORT), failing(errno.EPROTONOSUPPORT)
"""Of sockets that are denied: `su` and `useradd` go on without an audit only where the kernel lacks
one."""
_PUSH = (0x5412, 0x541C)
"""TIOCSTI, TIOCLINUX."""
_NAMESPACES = 0x7E020080
"""Every CLONE_NEW* flag."""


def _rules(table: dict[str, int]) -> list[seccomp.Instruction]:
    """The calls that are denied for some of their arguments."""
    clone = [load_arg(0), (seccomp.JSET, 0, 1, _NAMESPACES), ret(EPERM), ret(ALLOW)]
    routing = [load_arg(2), (seccomp.JEQ, 0, 1, 0), ret(ALLOW), ret(_NO_PROTOCOL)]
    families = one_of(_FAMILIES, then=ALLOW, otherwise=_NO_FAMILY)
    socket = [load_arg(0), (seccomp.JEQ, 0, len(routing), _NETLINK), *routing, *families]
    push = [load_arg(1), *one_of(_PUSH, then=EPERM, otherwise=ALLOW)]
    return [
        *when(table["clone"], clone),
        *when(table["clone3"], [ret(ENOSYS)]),
        *when(table["socket"], socket),
        *when(table["ioctl"], push),
    ]


def build_filter() -> seccomp.FilterProgram:
    """The filter. Raises KeyError on an architecture without a list (`seccomp.is_supported`)."""
    table = TABLES[machine()]
    code = [*seccomp.preamble(), (seccomp.JGT, 0, 1, _NEWEST), ret(ENOSYS), *_rules(table)]
    for name in _DENIED:
        if name in table:
            code += when(table[name], [ret(EPERM)])
    return seccomp.assemble([*code, ret(ALLOW)])
