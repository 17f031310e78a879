"""What changes a process for good is tried in a fork."""

from __future__ import annotations

import errno
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.sandbox.linux import calls, seccomp

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def in_a_fork(function: Callable[[], Any]) -> Any:
    """What `function` returns in a child process; plain JSON."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            try:
                answer = {"value": function()}
            except OSError as error:
                answer = {"errno": error.errno}
            os.write(write_end, json.dumps(answer).encode())
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    answer = json.loads(data)
    return answer.get("value", ("errno", answer.get("errno")))


def _status(name: str) -> str:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.partition(":")[2].strip()
    raise AssertionError(name)


class TestSyscall:
    def test_a_call_by_name_reaches_the_kernel(self) -> None:
        assert calls.syscall("getpid") == os.getpid()

    def test_a_failed_call_raises_with_its_errno_and_name(self) -> None:
        with pytest.raises(OSError, match="close: ") as caught:
            calls.syscall("close", 999_999)
        assert caught.value.errno == errno.EBADF

    def test_a_name_that_the_machine_lacks_is_enosys(self) -> None:
        with pytest.raises(OSError, match="not known") as caught:
            calls.syscall("no_such_call")
        assert caught.value.errno == errno.ENOSYS

    def test_bytes_and_null_pointers_can_be_passed(self, tmp_path: Path) -> None:
        calls.syscall("mkdirat", calls.AT_FDCWD, str(tmp_path / "made").encode(), 0o700)
        assert (tmp_path / "made").is_dir()
        with pytest.raises(OSError, match="openat") as caught:
            calls.syscall("openat", calls.AT_FDCWD, None, 0)
        assert caught.value.errno == errno.EFAULT

    def test_large_numbers_are_not_cut_to_32_bits(self, tmp_path: Path) -> None:
        path = tmp_path / "sparse"
        with path.open("wb") as file:
            assert calls.syscall("lseek", file.fileno(), 1 << 40, os.SEEK_SET) == 1 << 40


class TestPrctl:
    def test_dumpable_can_be_switched_off(self) -> None:
        get_dumpable = 3

        def check() -> list[int]:
            before = calls.prctl(get_dumpable)
            calls.prctl(calls.PR_SET_DUMPABLE, 0)
            return [before, calls.prctl(get_dumpable)]

        assert in_a_fork(check)[1] == 0

    def test_an_unknown_option_raises(self) -> None:
        with pytest.raises(OSError, match=r"prctl\(99999\)") as caught:
            calls.prctl(99999)
        assert caught.value.errno == errno.EINVAL


class TestCapabilities:
    def test_dropping_leaves_no_capability(self) -> None:
        def check() -> list[str]:
            calls.drop_capabilities()
            return [_status(name) for name in ("CapInh", "CapPrm", "CapEff")]

        assert in_a_fork(check) == ["0" * 16] * 3

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root has a capability to keep")
    def test_keeping_one_drops_all_others(self) -> None:
        def check() -> list[str]:
            calls.keep_capabilities(calls.CAP_SYS_ADMIN)
            return [_status(name) for name in ("CapInh", "CapPrm", "CapEff")]

        only = f"{1 << calls.CAP_SYS_ADMIN:016x}"
        assert in_a_fork(check) == ["0" * 16, only, only]

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs CAP_SETPCAP")
    def test_an_empty_bounding_set_stays_empty(self) -> None:
        def check() -> list[str]:
            calls.drop_bounding_set()
            return [_status(name) for name in ("CapBnd", "CapAmb")]

        assert in_a_fork(check) == ["0" * 16] * 2


class TestCloner:
    def test_the_child_runs_on_and_the_parent_gets_a_handle(self) -> None:
        def check() -> list[Any]:
            pid, pidfd = calls.Cloner(0).clone()
            if pid == 0:
                os._exit(7)
            _, status = os.waitpid(pid, 0)
            return [pidfd >= 0, os.waitstatus_to_exitcode(status)]

        assert in_a_fork(check) == [True, 7]

    def test_the_handle_names_the_child(self) -> None:
        def check() -> int:
            pid, pidfd = calls.Cloner(0).clone()
            if pid == 0:
                signal.pause()
                os._exit(0)
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            return os.WTERMSIG(status)

        assert in_a_fork(check) == signal.SIGKILL

    def test_memory_is_copied_not_shared(self) -> None:
        def check() -> list[Any]:
            values = ["parent"]
            read_end, write_end = os.pipe()
            pid, _ = calls.Cloner(0).clone()
            if pid == 0:
                values[0] = "child"
                os.write(write_end, values[0].encode())
                os._exit(0)
            os.waitpid(pid, 0)
            return [values[0], os.read(read_end, 20).decode()]

        assert in_a_fork(check) == ["parent", "child"]

    def test_flags_that_contradict_each_other_raise(self) -> None:
        newns_and_fs = calls.CLONE_NEWNS | 0x200
        assert in_a_fork(lambda: calls.Cloner(newns_and_fs).clone()[0]) == (
            "errno",
            errno.EINVAL,
        )


def _cores_after(cloner: calls.Cloner, *, remain: bool = False) -> list[Any]:
    """The cores that a parent may run on after a fork, and its child."""
    read_end, write_end = os.pipe()
    pid, _ = cloner.clone(remain=remain)
    if pid == 0:
        os.write(write_end, json.dumps(sorted(os.sched_getaffinity(0))).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    return [sorted(os.sched_getaffinity(0)), json.loads(os.read(read_end, 1 << 16))]


class TestAChildThatStaysOnTheCoreOfItsParent:
    def test_both_may_run_where_the_parent_might_before(self) -> None:
        before = sorted(os.sched_getaffinity(0))
        stayed = in_a_fork(lambda: _cores_after(calls.Cloner(0, stay=True)))
        assert stayed == [before, before]

    def test_what_was_set_from_outside_since_the_last_fork_is_kept(self) -> None:
        last = max(os.sched_getaffinity(0))

        def check() -> list[Any]:
            cloner = calls.Cloner(0, stay=True)
            _cores_after(cloner)
            os.sched_setaffinity(0, {last})
            return _cores_after(cloner)

        assert in_a_fork(check) == [[last], [last]]

    @pytest.mark.slow
    def test_a_parent_remains_until_it_is_freed_and_its_children_do_not(self) -> None:
        before = sorted(os.sched_getaffinity(0))

        def check() -> list[Any]:
            cloner = calls.Cloner(0, stay=True)
            first, second = [_cores_after(cloner, remain=True) for _ in range(2)]
            cloner.free()
            return [first, second, sorted(os.sched_getaffinity(0)), _cores_after(cloner)]

        first, second, freed, last = in_a_fork(check)
        assert [first, second] == [[[first[0][0]], before]] * 2
        assert freed == before
        assert last == [before, before]

    @pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core is all there is")
    def test_what_was_set_from_outside_while_it_remained_is_kept(self) -> None:
        cores = os.sched_getaffinity(0)

        def check() -> list[Any]:
            cloner = calls.Cloner(0, stay=True)
            [[here], _] = _cores_after(cloner, remain=True)
            other = next(core for core in cores if core != here)
            os.sched_setaffinity(0, {other})
            child = _cores_after(cloner, remain=True)[1]
            cloner.free()
            return [child == [other], os.sched_getaffinity(0) == {other}]

        assert in_a_fork(check) == [True, True]

    def test_it_is_bound_to_that_core_when_it_is_made(self, monkeypatch: Any) -> None:
        """The kernel then has no other core to start it on."""
        monkeypatch.setattr(calls._OwnCore, "free", lambda _: None)
        here = sorted(os.sched_getaffinity(0))
        parent, child = in_a_fork(lambda: _cores_after(calls.Cloner(0, stay=True)))
        assert parent == child
        assert [core in here for core in child] == [True]

    @pytest.mark.parametrize("refused", ["sched_getaffinity", "sched_setaffinity"])
    def test_where_a_filter_refuses_it_forks_all_the_same(self, refused: str) -> None:
        before = sorted(os.sched_getaffinity(0))

        def check() -> list[Any]:
            calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
            cloner = calls.Cloner(0, stay=True)
            seccomp.build_denylist((refused,)).load()
            pid, pidfd = cloner.clone()
            if pid == 0:
                os._exit(7)
            _, status = os.waitpid(pid, 0)
            return [pidfd >= 0, os.waitstatus_to_exitcode(status)]

        assert in_a_fork(check) == [True, 7]
        assert sorted(os.sched_getaffinity(0)) == before

    def test_a_fork_that_fails_leaves_the_parent_where_it_might_run(self) -> None:
        before = sorted(os.sched_getaffinity(0))

        def check() -> list[Any]:
            number = 0
            try:
                calls.Cloner(calls.CLONE_NEWNS | 0x200, stay=True).clone()
            except OSError as error:
                number = error.errno or 0
            return [number, sorted(os.sched_getaffinity(0))]

        assert in_a_fork(check) == [errno.EINVAL, before]


class TestAMachineOfManyCores:
    """One of 2048, as the calls would show it."""

    def test_a_child_stays_on_a_core_beyond_the_first_thousand(self, monkeypatch: Any) -> None:
        masks = {0: (1 << 2048) - 1}
        forked: list[int] = []

        def kernel(number: Any, _: Any, size: Any, mask: Any, *rest: Any) -> int:
            if number.value == calls._NUMBERS["clone"]:
                forked.append(masks[0])
                return 4321
            assert size.value == len(mask) == 1024
            if number.value == calls._NUMBERS["sched_getaffinity"]:
                mask[:256] = masks[0].to_bytes(256, "little")
                return 256
            masks[0] = int.from_bytes(bytes(mask), "little")
            return 0

        monkeypatch.setattr(calls, "_syscall", kernel)
        cloner = calls.Cloner(0, stay=True)
        for core in (1500, 2047, 0):
            monkeypatch.setattr(calls, "_libc", _LibraryOn(core))
            cloner.clone()
            assert forked[-1] == 1 << core
            assert masks[0] == (1 << 2048) - 1


class _LibraryOn:
    """The C library as it is on one core; masks are never taken for equal to it by chance."""

    def __init__(self, core: int) -> None:
        self._core = core

    def sched_getcpu(self) -> int:
        return self._core

    def memcmp(self, one: Any, other: Any, size: int) -> int:
        return bytes(one)[:size] != bytes(other)[:size]


class TestNarrowedCores:
    def test_a_process_that_has_all_its_cores_is_not_narrowed(self) -> None:
        def check() -> list[Any]:
            os.sched_setaffinity(0, range(8192))
            before = sorted(os.sched_getaffinity(0))
            return [calls.cores_are_narrowed(), sorted(os.sched_getaffinity(0)) == before]

        assert in_a_fork(check) == [False, True]

    def test_one_that_could_take_more_is_and_stays_so(self) -> None:
        def check() -> list[Any]:
            os.sched_setaffinity(0, range(8192))
            every = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {min(every)})
            return [calls.cores_are_narrowed(), len(every) > 1, len(os.sched_getaffinity(0))]

        narrowed, several, left = in_a_fork(check)
        assert narrowed == several
        assert left == 1

    def test_where_trying_is_refused_the_worst_is_taken_to_be_true(self) -> None:
        def check() -> bool:
            calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
            seccomp.build_denylist(("sched_setaffinity",)).load()
            return calls.cores_are_narrowed()

        assert in_a_fork(check) is True


class TestNamespaceCalls:
    def test_a_mount_of_nothing_raises_with_its_errno(self, tmp_path: Path) -> None:
        with pytest.raises(OSError, match="mount") as caught:
            calls.mount("none", str(tmp_path / "absent"), kind="tmpfs")
        assert caught.value.errno in {errno.ENOENT, errno.EPERM}

    def test_unmounting_what_is_no_mount_raises(self, tmp_path: Path) -> None:
        with pytest.raises(OSError, match="umount2") as caught:
            calls.umount(str(tmp_path))
        assert caught.value.errno in {errno.EINVAL, errno.EPERM}
