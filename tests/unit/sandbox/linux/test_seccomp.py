"""A small interpreter of BPF looks at every number on both architectures; what the kernel makes of
the same filters stands in test_seccomp_in_a_job.py."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from unhack.sandbox.linux import calls, seccomp, syscalls

ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
SERVER_FLAGS = calls.CLONE_NEWPID | calls.CLONE_PIDFD | calls.SIGCHLD
ARCHITECTURES = sorted(syscalls.TABLES)
PROFILES = {
    "function": {"scratch": False, "programs": False},
    "scratch": {"scratch": True, "programs": False},
    "program": {"scratch": False, "programs": True},
}
BY_ARGUMENT = {
    "clone",
    "clone3",
    "ioctl",
    "fcntl",
    "prctl",
    "prlimit64",
    "sched_setaffinity",
    "sched_setscheduler",
    "pidfd_send_signal",
    "mmap",
    "mprotect",
    "madvise",
    "setns",
    "fadvise64",
    "readahead",
    "sync_file_range",
}

NEVER = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "mount_setattr": 442,
        "setns": 308, "unshare": 272, "bpf": 321, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "keyctl": 250, "add_key": 248, "request_key": 249,
        "userfaultfd": 323, "perf_event_open": 298, "kexec_load": 246, "kexec_file_load": 320,
        "personality": 135, "socket": 41, "connect": 42, "bind": 49, "listen": 50, "accept": 43,
        "pivot_root": 155, "chroot": 161, "swapon": 167, "swapoff": 168, "reboot": 169,
        "init_module": 175, "finit_module": 313, "delete_module": 176, "acct": 163,
        "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "sethostname": 170,
        "setdomainname": 171, "iopl": 172, "ioperm": 173, "quotactl": 179, "open_tree": 428,
        "move_mount": 429, "fsopen": 430, "fsmount": 432, "fspick": 433, "pidfd_open": 434,
        "pidfd_getfd": 438, "kcmp": 312, "name_to_handle_at": 303, "open_by_handle_at": 304,
        "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "shmat": 30, "semget": 64,
        "msgget": 68, "mq_open": 240, "vmsplice": 278, "modify_ldt": 154, "syslog": 103,
        "setuid": 105, "setgid": 106, "setresuid": 117, "setresgid": 119, "setgroups": 116,
        "process_madvise": 440, "move_pages": 279, "migrate_pages": 256, "mbind": 237,
        "mlockall": 151, "execveat": 322, "fanotify_init": 300, "lookup_dcookie": 212,
        "mknod": 133, "mknodat": 259, "setxattr": 188, "landlock_create_ruleset": 444,
        "landlock_add_rule": 445, "nfsservctl": 180, "vhangup": 153, "uselib": 134,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "mount_setattr": 442,
        "setns": 268, "unshare": 97, "bpf": 280, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "keyctl": 219, "add_key": 217, "request_key": 218,
        "userfaultfd": 282, "perf_event_open": 241, "kexec_load": 104, "kexec_file_load": 294,
        "personality": 92, "socket": 198, "connect": 203, "bind": 200, "listen": 201,
        "accept": 202, "pivot_root": 41, "chroot": 51, "swapon": 224, "swapoff": 225,
        "reboot": 142, "init_module": 105, "finit_module": 273, "delete_module": 106, "acct": 89,
        "settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "sethostname": 161,
        "setdomainname": 162, "quotactl": 60, "open_tree": 428, "move_mount": 429, "fsopen": 430,
        "fsmount": 432, "fspick": 433, "pidfd_open": 434, "pidfd_getfd": 438, "kcmp": 272,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "memfd_create": 279,
        "memfd_secret": 447, "shmget": 194, "shmat": 196, "semget": 190, "msgget": 186,
        "mq_open": 180, "vmsplice": 75, "syslog": 116, "setuid": 146, "setgid": 144,
        "setresuid": 147, "setresgid": 149, "setgroups": 159, "process_madvise": 440,
        "move_pages": 239, "migrate_pages": 238, "mbind": 235, "mlockall": 230, "execveat": 281,
        "fanotify_init": 262, "mknodat": 33, "setxattr": 5, "landlock_create_ruleset": 444,
        "landlock_add_rule": 445, "vhangup": 58,
    },
}  # fmt: skip
"""Dangerous calls by their numbers, written down here a second time."""


def run_bpf(code: bytes, *, nr: int, arch: int, args: tuple[int, ...] = ()) -> int:
    """What the kernel's interpreter returns for one system call."""
    padded = (*args, *([0] * 6))[:6]
    data = struct.pack("<IIQ6Q", nr & 0xFFFFFFFF, arch, 0, *(arg & (1 << 64) - 1 for arg in padded))
    program = list(struct.iter_unpack("<HBBI", code))
    position = accumulator = 0
    while True:
        operation, jump_true, jump_false, k = program[position]
        position += 1
        if operation == 0x06:
            return k
        if operation == 0x20:
            assert k % 4 == 0
            assert k + 4 <= len(data)
            (accumulator,) = struct.unpack_from("<I", data, k)
        elif operation == 0x54:
            accumulator &= k
        else:
            taken = {
                0x15: accumulator == k,
                0x25: accumulator > k,
                0x35: accumulator >= k,
                0x45: bool(accumulator & k),
            }[operation]
            position += jump_true if taken else jump_false


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(seccomp, "machine", lambda: request.param)
    return request.param


class Filter:
    """One assembled filter, asked by name."""

    def __init__(self, code: bytes, arch: str) -> None:
        self.code = code
        self.arch = syscalls.AUDIT_ARCH[arch]
        self.table = syscalls.TABLES[arch]

    def number(self, nr: int, *args: int) -> int:
        return run_bpf(self.code, nr=nr, arch=self.arch, args=args)

    def call(self, name: str, *args: int) -> int:
        return self.number(self.table[name], *args)


@pytest.fixture
def make(arch: str) -> Callable[..., Filter]:
    def assemble(profile: str = "function", server_flags: int = SERVER_FLAGS) -> Filter:
        program = seccomp.build_allowlist(server_flags=server_flags, **PROFILES[profile])
        return Filter(program.code, arch)

    return assemble


@pytest.mark.parametrize("profile", sorted(PROFILES))
class TestEveryDecision:
    def test_a_number_is_allowed_exactly_when_its_name_is_listed(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        names = set(seccomp.FUNCTION)
        if profile != "function":
            names |= set(seccomp.SCRATCH)
        if profile == "program":
            names |= {*seccomp.PROGRAM, "mmap", "mprotect"}
        skipped = {made.table[name] for name in BY_ARGUMENT - names}
        allowed = {made.table[name] for name in names if name in made.table}
        numbers = {*range(1100), 0x3FFFFFFF, 0x40000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF}
        found = {number: made.number(number) for number in numbers - skipped}
        assert len(found) > 1000
        assert found == {number: ALLOW if number in allowed else EPERM for number in found}

    def test_no_dangerous_call_is_allowed_whatever_its_arguments(
        self, make: Callable[..., Filter], profile: str, arch: str
    ) -> None:
        made = make(profile)
        assert NEVER[arch]
        for name, number in NEVER[arch].items():
            for args in ((), (0,) * 6, (1,) * 6, (SERVER_FLAGS,) * 6, ((1 << 64) - 1,) * 6):
                assert made.number(number, *args) == EPERM, name

    def test_a_foreign_architecture_is_killed(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        others = {0x40000003, 0xC000003E, 0xC00000B7, 0x40000028, 0, 0xFFFFFFFF} - {made.arch}
        assert len(others) == 5
        for foreign in others:
            for number in range(600):
                assert run_bpf(made.code, nr=number, arch=foreign) == KILL

    def test_x32_numbers_are_denied(self, make: Callable[..., Filter], profile: str) -> None:
        made = make(profile)
        for number in range(1100):
            assert made.number(0x40000000 | number) == EPERM

    def test_the_program_is_one_that_the_kernel_takes(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        code = make(profile).code
        program = list(struct.iter_unpack("<HBBI", code))
        assert 0 < len(program) <= 4096
        assert program[-1][0] == 0x06
        for position, (operation, jump_true, jump_false, _) in enumerate(program):
            assert operation in {0x20, 0x54, 0x15, 0x25, 0x35, 0x45, 0x06}
            if operation & 7 == 5:
                assert position + 1 + max(jump_true, jump_false) < len(program)

    def test_an_unknown_clone_falls_back_to_the_old_call(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        assert make(profile).call("clone3") == ENOSYS


class TestArguments:
    THREAD = 0x003D0F00
    FORK = 0x01200011

    @pytest.mark.parametrize("profile", ["function", "scratch"])
    def test_threads_may_start_and_processes_may_not(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        assert made.call("clone", self.THREAD) == ALLOW
        assert made.call("clone", self.FORK) == EPERM
        assert made.call("clone", calls.SIGCHLD) == EPERM

    def test_programs_may_start_processes(self, make: Callable[..., Filter]) -> None:
        assert make("program").call("clone", self.FORK) == ALLOW

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    @pytest.mark.parametrize(
        "flag",
        [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000],
        ids=["mount", "cgroup", "uts", "ipc", "user", "pid", "net"],
    )
    def test_no_clone_makes_a_namespace(
        self, make: Callable[..., Filter], profile: str, flag: int
    ) -> None:
        made = make(profile)
        assert made.call("clone", self.THREAD | flag) == EPERM
        assert made.call("clone", self.FORK | flag) == EPERM

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_only_the_exact_flags_of_the_server_pass(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        assert made.call("clone", SERVER_FLAGS) == ALLOW
        for bit in range(32):
            other = SERVER_FLAGS ^ 1 << bit
            if other & 0x7E020000:
                assert made.call("clone", other) == EPERM, hex(other)

    @pytest.mark.parametrize("profile", ["function", "scratch"])
    @pytest.mark.parametrize(
        ("protection", "flags", "decision"),
        [
            (0, 0x22, ALLOW),
            (1, 0x22, ALLOW),
            (3, 0x22, ALLOW),
            (3, 0x01, ALLOW),
            (5, 0x02, ALLOW),
            (4, 0x02, ALLOW),
            (7, 0x02, EPERM),
            (6, 0x02, EPERM),
            (4, 0x22, EPERM),
            (5, 0x22, EPERM),
            (7, 0x22, EPERM),
            (7, 0x21, EPERM),
        ],
    )
    def test_no_mapping_is_writable_and_executable_or_executable_without_a_file(
        self, make: Callable[..., Filter], profile: str, protection: int, flags: int, decision: int
    ) -> None:
        assert make(profile).call("mmap", 0, 4096, protection, flags, -1) == decision

    @pytest.mark.parametrize("profile", ["function", "scratch"])
    def test_no_mapping_becomes_executable(self, make: Callable[..., Filter], profile: str) -> None:
        made = make(profile)
        for protection in range(8):
            expected = EPERM if protection & 4 else ALLOW
            assert made.call("mprotect", 0, 4096, protection) == expected

    def test_programs_may_make_executable_memory(self, make: Callable[..., Filter]) -> None:
        made = make("program")
        assert made.call("mmap", 0, 4096, 7, 0x22) == ALLOW
        assert made.call("mprotect", 0, 4096, 7) == ALLOW

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_only_harmless_ioctls_pass(self, make: Callable[..., Filter], profile: str) -> None:
        made = make(profile)
        for request in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451):
            assert made.call("ioctl", 0, request) == ALLOW
        for request in (0x5412, 0x541C, 0x5402, 0x540E, 0x5424, 0x8905, 0x8910, 0, 0x5400, 0x5452):
            assert made.call("ioctl", 0, request) == EPERM

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_fcntl_sends_no_signals_and_takes_no_leases(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        for command in (0, 1, 2, 3, 4, 1030):
            assert made.call("fcntl", 0, command) == ALLOW
        for command in (8, 10, 15, 1024, 1026, 1031, 1033):
            assert made.call("fcntl", 0, command) == EPERM

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_only_jobs_with_files_of_their_own_may_lock(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        for command in (5, 6, 7, 36, 37, 38):
            expected = EPERM if profile == "function" else ALLOW
            assert made.call("fcntl", 0, command) == expected

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_the_death_signal_cannot_be_disarmed(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        assert made.call("prctl", 1, 9) == ALLOW
        for signal_number in (0, 1, 15, 17, 64):
            assert made.call("prctl", 1, signal_number) == EPERM

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_prctl_sets_names_and_no_new_privileges_only(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        allowed = {option for option in range(80) if made.call("prctl", option, 0) == ALLOW}
        assert allowed == {15, 38}
        for option in (0x59616D61, 0x53564D41, 1499557217, 0xFFFFFFFF):
            assert made.call("prctl", option) == EPERM

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_limits_of_other_processes_stay_untouched(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        assert made.call("prlimit64", 0, 7) == ALLOW
        assert made.call("prlimit64", 1, 7) == EPERM
        assert made.call("prlimit64", -1, 7) == EPERM

    @pytest.mark.parametrize("profile", sorted(PROFILES))
    def test_the_scheduler_only_goes_down_and_only_sigkill_is_sent(
        self, make: Callable[..., Filter], profile: str
    ) -> None:
        made = make(profile)
        for policy in range(8):
            expected = ALLOW if policy == 5 else EPERM
            assert made.call("sched_setscheduler", 0, policy) == expected
        for number in range(65):
            expected = ALLOW if number == 9 else EPERM
            assert made.call("pidfd_send_signal", 3, number) == expected

    @pytest.mark.parametrize("name", ["function", "scratch"])
    def test_a_thread_chooses_its_own_cores_and_no_other_ones(
        self, make: Callable[..., Filter], name: str
    ) -> None:
        made = make(name)
        assert made.call("sched_setaffinity", 0, 1024, 4096) == ALLOW
        for thread in (1, 2, 4096, (1 << 31) - 1, (1 << 32) - 1):
            assert made.call("sched_setaffinity", thread, 1024, 4096) == EPERM

    def test_a_server_without_namespaces_may_add_the_filter_of_its_jobs(
        self, make: Callable[..., Filter]
    ) -> None:
        plain_flags = calls.CLONE_PIDFD | calls.SIGCHLD
        assert make("function", plain_flags).call("seccomp") == ALLOW
        assert make("function").call("seccomp") == EPERM

    def test_so_may_one_whose_jobs_are_not_to_choose_their_cores(self, arch: str) -> None:
        made = seccomp.build_allowlist(
            server_flags=SERVER_FLAGS, **PROFILES["function"], second=True
        )
        assert Filter(made.code, arch).call("seccomp") == ALLOW
        assert (
            Filter(seccomp.build_denylist(seccomp.job_denies(places=False)).code, arch).call(
                "seccomp"
            )
            == EPERM
        )


class TestSecondFilter:
    @pytest.mark.parametrize("places", [False, True])
    def test_processes_are_placed_on_cores_where_that_is_allowed(
        self, arch: str, *, places: bool
    ) -> None:
        made = Filter(seccomp.build_denylist(seccomp.job_denies(places=places)).code, arch)
        assert made.call("sched_setaffinity", 0) == (ALLOW if places else EPERM)

    def test_named_calls_are_denied_and_all_others_pass(self, arch: str) -> None:
        made = Filter(seccomp.build_denylist(seccomp.JOB_DENIES).code, arch)
        denied = {made.table[name] for name in seccomp.JOB_DENIES}
        for number in range(1100):
            assert made.number(number) == (EPERM if number in denied else ALLOW)
        assert made.number(0x40000000) == EPERM
        assert run_bpf(made.code, nr=0, arch=0x40000003) == KILL

    def test_without_forks_only_threads_may_be_cloned(self, arch: str) -> None:
        made = Filter(seccomp.build_denylist(("wait4",), forks=True).code, arch)
        assert made.call("clone", TestArguments.THREAD) == ALLOW
        assert made.call("clone", TestArguments.FORK) == EPERM
        assert made.call("clone", calls.SIGCHLD) == EPERM
        assert made.call("wait4") == EPERM

    def test_what_an_architecture_lacks_is_no_error(self, arch: str) -> None:
        made = Filter(seccomp.build_denylist(("fork", "nonsense")).code, arch)
        assert made.call("read") == ALLOW


class TestLists:
    def test_every_name_in_a_list_is_known_somewhere(self) -> None:
        known = {name for table in syscalls.TABLES.values() for name in table}
        listed = {*seccomp.FUNCTION, *seccomp.SCRATCH, *seccomp.PROGRAM, *seccomp.JOB_DENIES}
        assert listed <= known

    def test_the_lists_name_nothing_dangerous(self) -> None:
        listed = {*seccomp.FUNCTION, *seccomp.SCRATCH, *seccomp.PROGRAM}
        dangerous = {name for names in NEVER.values() for name in names}
        assert not listed & dangerous

    def test_an_unknown_machine_is_not_supported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert seccomp.is_supported()
        monkeypatch.setattr(seccomp, "machine", lambda: "riscv64")
        assert not seccomp.is_supported()
        with pytest.raises(KeyError):
            seccomp.build_allowlist(server_flags=0, scratch=False, programs=False)
