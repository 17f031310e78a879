from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.sandbox.guest.server import fork_server
from unhack.sandbox.job import Isolation, Job, Kind, Profile, Role, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import cgroups
from unhack.sandbox.linux.processes import children
from unhack.sandbox.pool import worker, worker_start
from unhack.sandbox.pool.pool import Pool

NoDescriptorLeft = Callable[[], AbstractContextManager[None]]


class TestOuterIds:
    def test_no_two_workers_and_no_two_roles_share_an_id(self) -> None:
        ids = [worker_start.outer_id(index, role) for index in range(200) for role in Role]
        assert len(set(ids)) == len(ids)

    @pytest.mark.slow
    def test_no_id_is_root_or_this_users(self) -> None:
        taken = {worker_start.outer_id(index, role) for index in range(5000) for role in Role}
        assert len(taken) >= 5000
        assert not taken & {0, os.geteuid(), 65534}

    def test_a_container_with_few_ids_gives_its_highest(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Path, "read_text", lambda _: "0 100000 65536\n")
        ids = [worker_start.outer_id(index, role) for index in range(100) for role in Role]
        assert len(set(ids)) == len(ids)
        assert all(60_000 < number < 65_536 for number in ids)

    def test_every_id_exists_in_the_map_of_this_namespace(self) -> None:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
        ranges = [
            (int(first), int(first) + int(count)) for first, _, count in map(str.split, lines)
        ]
        for index in (0, 1, 100, 4000, 100_000):
            number = worker_start.outer_id(index, Role.JUDGE)
            assert any(low <= number < high for low, high in ranges)


class TestIndices:
    def test_a_number_that_another_process_has_is_left_out(self) -> None:
        index = worker_start.claim_index()
        worker_start.release_index(index)
        program = (
            "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); "
            f"s.bind({worker_start.claim_name(index)!r}); print(flush=True); sys.stdin.read()"
        )
        command = [sys.executable, "-S", "-c", program]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout
            other.stdout.readline()
            found = worker_start.claim_index()
            other.kill()
        assert found != index
        assert worker_start.claim_index() == index  # the kernel has freed it
        worker_start.release_index(index)
        worker_start.release_index(found)


class TestSupport:
    @pytest.mark.parametrize("kind", list(Kind))
    def test_namespaces_hold_every_kind(self, kind: Kind) -> None:
        assert worker.supports(Profile(kind=kind), Isolation.NAMESPACES) == ""

    @pytest.mark.parametrize("isolation", [Isolation.LANDLOCK, Isolation.NONE])
    def test_without_namespaces_only_functions_run(self, isolation: Isolation) -> None:
        assert worker.supports(Profile(), isolation) == ""
        for kind in (Kind.SCRATCH, Kind.PROGRAM):
            assert kind.value in worker.supports(Profile(kind=kind), isolation)

    def test_what_only_mounts_can_show_needs_namespaces(self) -> None:
        binds = Profile(binds=(("/etc", "/data"),))
        for profile in (binds, Profile(preload=("numpy",)), Profile(site_packages=True)):
            assert "namespaces" in worker.supports(profile, Isolation.LANDLOCK)
            assert worker.supports(profile, Isolation.NAMESPACES) == ""


def start_one(profile: Profile) -> worker.Worker:
    """A worker outside any pool, which gives its number back at once."""
    parents = cgroups.Parents()
    [made] = worker_start.start_many(profile, Isolation.NONE, count=1, parents=parents)
    worker_start.release_index(made.index)
    return made


class TestStart:
    @pytest.fixture
    def started(self) -> Generator[worker.Worker]:
        made = start_one(Profile())
        made.control.setblocking(True)
        assert made.control.recv(1 << 16)[:1] == fork_server.READY
        yield made
        made.close()

    @pytest.mark.skipif(os.geteuid() != 0, reason="/proc hides what is not dumpable from its user")
    def test_a_worker_inherits_two_sockets_and_no_other_descriptor(
        self, started: worker.Worker
    ) -> None:
        links = {
            int(fd.name): os.readlink(fd)
            for fd in Path(f"/proc/{started.process.pid}/fd").iterdir()
        }
        assert {links[0], links[1], links[2]} == {"/dev/null"}
        assert links[3].startswith("socket:")
        assert links[4].startswith("socket:")
        for number, target in links.items():
            allowed = ("anon_inode:", "socket:", "/proc", "/dev/null")
            assert number <= 4 or target.startswith(allowed), target

    @pytest.mark.skipif(os.geteuid() != 0, reason="/proc hides what is not dumpable from its user")
    def test_nothing_of_the_hosts_environment_is_there(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET_TOKEN", "hunter2")
        made = start_one(Profile())
        try:
            made.control.setblocking(True)
            made.control.recv(1 << 16)
            environ = Path(f"/proc/{made.process.pid}/environ").read_bytes()
            assert b"hunter2" not in environ
            names = {line.partition(b"=")[0].decode() for line in environ.split(b"\0") if line}
            assert names <= {*worker_start.ENVIRON, *worker_start._TUNING}
        finally:
            made.close()

    def test_a_worker_leads_a_session_of_its_own(self, started: worker.Worker) -> None:
        assert os.getsid(started.process.pid) == started.process.pid

    @pytest.mark.slow
    def test_closing_leaves_no_process_and_no_descriptor(
        self, no_descriptor_left: NoDescriptorLeft
    ) -> None:
        with no_descriptor_left():
            made = start_one(Profile())
            made.close()
        assert made.process.returncode is not None
        assert not os.path.exists(f"/proc/{made.process.pid}")

    @pytest.mark.slow
    def test_a_profile_that_names_a_missing_file_starts_nothing(
        self, no_descriptor_left: NoDescriptorLeft
    ) -> None:
        profile = Profile(binds=(("/no/such", "/x"),))
        with no_descriptor_left(), pytest.raises(UsageError):
            start_one(profile)

    def test_a_worker_that_loses_its_sockets_ends_itself(self) -> None:
        made = start_one(Profile())
        made.control.setblocking(True)
        made.control.recv(1 << 16)
        made.control.close()
        made.jobs.close()
        assert made.process.wait(timeout=60) == 0
        made.group.remove()

    def test_load_leaves_demoted_jobs_out(self) -> None:
        process: Any = None
        made = worker.Worker(
            Profile(), Isolation.NONE, 0, process, process, process, cgroups.Cgroup()
        )
        made.in_flight = {1: None, 2: None, 3: None}
        made.demoted = 2
        assert made.load == 1


class TestInAJob:
    def test_the_environment_of_a_job_is_exactly_this(self, evaluate: Callable[..., Any]) -> None:
        source = "import os\ndef f(): return dict(os.environ)"
        assert evaluate(source) == worker_start.ENVIRON

    def test_a_job_is_nobody_without_groups_or_capabilities(
        self, evaluate: Callable[..., Any]
    ) -> None:
        source = """
import ctypes, os, struct
def f():
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0), 8)
    data = ctypes.create_string_buffer(24)
    ctypes.CDLL(None).capget(header, data)
    ids = {*os.getresuid(), *os.getresgid()}
    return [sorted(ids), [group for group in os.getgroups() if group != 65534], data.raw]
"""
        assert evaluate(source) == [[65534], [], b"\0" * 24]

    @pytest.mark.slow
    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give its workers other uids")
    def test_the_workers_of_two_pools_share_no_uid(self, calls_job: Callable[..., Job]) -> None:
        with closing(Pool(slots=1)) as first, closing(Pool(slots=1)) as second:
            uids: list[str] = []
            for pool in (first, second):
                run_one(pool, calls_job("def f(): pass"))
                [pid] = pool.worker_pids()
                uids.append(_field(Path(f"/proc/{pid}/status").read_text(), "Uid"))
        assert uids[0] != uids[1]

    def test_a_job_is_the_first_process_of_its_namespace(
        self, evaluate: Callable[..., Any]
    ) -> None:
        source = "import os\ndef f(): return [os.getpid(), os.getppid()]"
        assert evaluate(source) == [1, 0]

    def test_a_job_holds_its_channel_and_no_other_socket(
        self, evaluate: Callable[..., Any]
    ) -> None:
        source = """
import os, stat
def f():
    found = {}
    for fd in range(256):
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            continue
        found[fd] = "socket" if stat.S_ISSOCK(mode) else "char" if stat.S_ISCHR(mode) else "?"
    return found
"""
        assert evaluate(source) == {0: "char", 1: "char", 2: "char", 3: "socket"}

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give its workers other uids")
    def test_a_ready_worker_of_root_runs_as_a_uid_that_belongs_to_nobody(
        self, calls_job: Callable[..., Job]
    ) -> None:
        with closing(Pool(slots=1)) as pool:
            run_one(pool, calls_job("def f(): pass"))
            [pid] = pool.worker_pids()
            status = Path(f"/proc/{pid}/status").read_text()
        uids = {int(word) for word in _field(status, "Uid").split()}
        assert min(uids) > 60_000
        assert 65534 not in uids
        assert _field(status, "NoNewPrivs") == "1"
        assert int(_field(status, "CapBnd"), 16) == 0


class TestMemory:
    def test_an_idle_worker_uses_little_memory_of_its_own(
        self, calls_job: Callable[..., Job]
    ) -> None:
        with closing(Pool(slots=1)) as pool:
            run_one(pool, calls_job("def f(): pass"))
            [pid] = pool.worker_pids()
            rollup = subprocess.run(
                ["cat", f"/proc/{pid}/smaps_rollup"], capture_output=True, text=True, check=False
            ).stdout
        if not rollup:
            pytest.skip("the memory map of a process that is not dumpable is hidden here")
        pss = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        assert pss * 1024 < 20 * 10**6

    def test_the_limits_of_a_job_count_from_what_the_interpreter_maps(
        self, evaluate: Callable[..., Any]
    ) -> None:
        source = "def f(n): return len(bytearray(n))"
        limits = Limits(memory_bytes=100 << 20)
        assert evaluate(source, 50 << 20, limits=limits) == 50 << 20
        assert evaluate(source, 150 << 20, limits=limits) == (
            "raised",
            ["MemoryError", "Exception", "BaseException", "object"][:3],
        )


class TestDeathOfTheHost:
    @pytest.mark.slow
    def test_a_killed_host_leaves_no_process(self) -> None:
        program = (
            "import os, sys\n"
            "from unhack.sandbox.job import Profile\n"
            "from unhack.sandbox.limits import Limits\n"
            "from unhack.sandbox.pool.pool import shared_pool\n"
            "from unhack.verifiers import jobs\n"
            "limits = Limits(wall_s=600, cpu_s=600)\n"
            "template = jobs.CallsTemplate('f', [[[], {}]], limits=limits, profile=Profile())\n"
            "pool = shared_pool()\n"
            "loops = 'def f():\\n    while True: pass'\n"
            "for _ in range(4): pool.submit(template.job(loops), print)\n"
            "import time\n"
            "while len(pool.worker_pids()) < pool.slots: time.sleep(0.01)\n"
            "print(*pool.worker_pids(), flush=True)\n"
            "time.sleep(600)\n"
        )
        host = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert host.stdout is not None
        workers = [int(word) for word in host.stdout.readline().split()]
        family = set(workers)
        for _ in range(3000):  # a busy machine takes its time to start a job
            family = {*workers, *(child for pid in workers for child in children(pid))}
            if len(family) > len(workers):
                break
            time.sleep(0.02)
        assert len(family) > len(workers), "no job was running"
        host.kill()
        host.wait()
        host.stdout.close()
        alive = family
        for _ in range(3000):
            alive = {pid for pid in family if _is_alive(pid)}
            if not alive:
                break
            time.sleep(0.02)
        assert not alive


def _field(status: str, name: str) -> str:
    return next(line.split(":")[1].strip() for line in status.splitlines() if line.startswith(name))


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
