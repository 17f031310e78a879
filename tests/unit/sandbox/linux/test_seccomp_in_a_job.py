"""The filters as the kernel runs them, in a job."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from unhack.sandbox.job import Kind, Profile
from unhack.sandbox.linux import calls, syscalls

_SERVER_FLAGS = calls.CLONE_NEWPID | calls.CLONE_PIDFD | calls.SIGCHLD
DANGEROUS = {
    "x86_64": {"ptrace": 101, "socket": 41, "bpf": 321, "unshare": 272, "io_uring_setup": 425},
    "aarch64": {"ptrace": 117, "socket": 198, "bpf": 280, "unshare": 97, "io_uring_setup": 425},
}[syscalls.machine()]
CALL = """
import ctypes
def f(*arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = libc.syscall(*[ctypes.c_long(item) for item in arguments])
    return "done" if result >= 0 else ctypes.get_errno()
"""
NATIVE = syscalls.TABLES.get(syscalls.machine(), {})
KINDS = [Kind.FUNCTION, Kind.SCRATCH]


@pytest.mark.parametrize("kind", KINDS)
class TestInAJob:
    def _call(self, evaluate: Callable[..., Any], kind: Kind, *arguments: int) -> Any:
        return evaluate(CALL, *arguments, profile=Profile(kind=kind))

    def test_the_control_call_succeeds(self, evaluate: Callable[..., Any], kind: Kind) -> None:
        assert self._call(evaluate, kind, NATIVE["getpid"]) == "done"

    @pytest.mark.parametrize("name", sorted(DANGEROUS))
    def test_dangerous_calls_fail_with_eperm(
        self, evaluate: Callable[..., Any], kind: Kind, name: str
    ) -> None:
        assert self._call(evaluate, kind, DANGEROUS[name], 0, 0, 0, 0, 0) == 1

    @pytest.mark.parametrize("name", ["mount", "umount2", "seccomp"])
    def test_what_only_the_server_may_is_denied(
        self, evaluate: Callable[..., Any], kind: Kind, name: str
    ) -> None:
        assert self._call(evaluate, kind, NATIVE[name], 0, 0, 0, 0, 0) == 1

    def test_clone3_is_unknown(self, evaluate: Callable[..., Any], kind: Kind) -> None:
        assert self._call(evaluate, kind, NATIVE["clone3"], 0, 0) == 38

    def test_the_flags_of_the_server_need_a_capability_that_is_gone(
        self, evaluate: Callable[..., Any], kind: Kind
    ) -> None:
        extra = calls.CLONE_NEWNS | calls.CLONE_NEWIPC if kind is Kind.SCRATCH else 0
        flags = _SERVER_FLAGS | extra
        assert self._call(evaluate, kind, NATIVE["clone"], flags, 0, 0, 0, 0) == 1

    def test_writable_memory_never_becomes_executable(
        self, evaluate: Callable[..., Any], kind: Kind
    ) -> None:
        assert self._call(evaluate, kind, NATIVE["mmap"], 0, 4096, 3, 0x22, -1, 0) == "done"
        assert self._call(evaluate, kind, NATIVE["mmap"], 0, 4096, 7, 0x22, -1, 0) == 1

    def test_no_other_process_is_bound_to_a_core(
        self, evaluate: Callable[..., Any], kind: Kind
    ) -> None:
        assert self._call(evaluate, kind, NATIVE["sched_setaffinity"], 1, 0, 0) == 1
        assert self._call(evaluate, kind, NATIVE["sched_setaffinity"], os.getpid(), 0, 0) == 1

    @pytest.mark.skipif(syscalls.machine() != "x86_64", reason="x32 is an interface of x86_64")
    def test_x32_numbers_are_denied_by_the_kernel_too(
        self, evaluate: Callable[..., Any], kind: Kind
    ) -> None:
        assert self._call(evaluate, kind, 0x40000000 | NATIVE["getpid"]) == 1
