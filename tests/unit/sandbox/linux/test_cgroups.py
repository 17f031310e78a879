from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from unhack.sandbox.job import Job, run_one
from unhack.sandbox.linux import cgroups
from unhack.sandbox.pool.pool import Pool

PARENTS = cgroups.find_parents()
delegated = pytest.mark.skipif(bool(PARENTS.missing), reason="no cgroup is delegated here")


@pytest.fixture
def sleeper() -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def _own(parents: cgroups.Parents) -> list[Path]:
    prefix = f"unhack-{os.getpid()}-"
    return [found for top in parents.directories() for found in top.glob(f"{prefix}*")]


def _remove(group: cgroups.Cgroup) -> bool:
    return group.remove_when_empty(within_s=60.0)


class TestParents:
    def test_something_is_said_when_a_controller_is_missing(self) -> None:
        assert bool(PARENTS.missing) == (PARENTS.memory is None or PARENTS.pids is None)

    def test_one_directory_for_both_controllers_counts_once(self, tmp_path: Path) -> None:
        assert cgroups.Parents(tmp_path, tmp_path, 2).directories() == [tmp_path]
        assert cgroups.Parents(None, tmp_path, 1).directories() == [tmp_path]
        assert cgroups.Parents().directories() == []

    @delegated
    def test_the_parents_can_be_written(self) -> None:
        directories = [*PARENTS.directories()]
        assert directories
        for directory in directories:
            assert os.access(directory, os.W_OK)


class TestGroup:
    def test_where_nothing_is_delegated_a_group_is_empty_and_harmless(self) -> None:
        group = cgroups.create(cgroups.Parents(), name="x", pid=os.getpid())
        assert group.directories == []
        group.make_room(1 << 30, 5)
        group.limit_memory(1 << 20)
        assert group.remove()

    @delegated
    def test_a_group_holds_the_process_and_its_limits(
        self, sleeper: subprocess.Popen[bytes]
    ) -> None:
        group = cgroups.create(PARENTS, name="test-limits", pid=sleeper.pid)
        try:
            assert group.directories
            for directory in group.directories:
                assert str(sleeper.pid) in (directory / "cgroup.procs").read_text().split()
            group.make_room(1 << 30, 17)
            group.make_room(1 << 30, 3)
            pids = next(d / "pids.max" for d in group.directories if (d / "pids.max").exists())
            assert pids.read_text().strip() == "17"
        finally:
            sleeper.kill()
            sleeper.wait()
            assert _remove(group)

    @delegated
    def test_making_room_raises_memory_and_never_lowers_it(
        self, sleeper: subprocess.Popen[bytes]
    ) -> None:
        group = cgroups.create(PARENTS, name="test-memory", pid=sleeper.pid)
        try:
            assert group.memory_file is not None
            group.make_room(1 << 30, 1)
            assert int(group.memory_file.read_text()) == 1 << 30
            group.make_room(1 << 20, 1)
            assert int(group.memory_file.read_text()) == 1 << 30
            group.make_room(1 << 31, 1)
            assert int(group.memory_file.read_text()) == 1 << 31
        finally:
            sleeper.kill()
            sleeper.wait()
            assert _remove(group)

    @delegated
    def test_a_process_enters_an_empty_group_by_its_door(self) -> None:
        group = cgroups.create(PARENTS, name="test-door", pid=None)
        door = group.open_door()
        code = f"import os; os.write({door}, b'0'); print(open('/proc/self/cgroup').read())"
        found = subprocess.run(
            [sys.executable, "-c", code],
            pass_fds=[door],
            capture_output=True,
            text=True,
            check=True,
        )
        os.close(door)
        assert group.directories[0].name in found.stdout
        assert _remove(group)

    @delegated
    def test_the_memory_of_an_empty_group_is_set_either_way(self) -> None:
        group = cgroups.create(PARENTS, name="test-either", pid=None)
        try:
            assert group.memory_file is not None
            for limit in (1 << 31, 1 << 28):
                group.limit_memory(limit)
                assert int(group.memory_file.read_text()) == limit
        finally:
            assert _remove(group)

    @delegated
    def test_a_group_with_a_process_in_it_stays(self, sleeper: subprocess.Popen[bytes]) -> None:
        group = cgroups.create(PARENTS, name="test-busy", pid=sleeper.pid)
        assert group.remove() is False
        assert all(directory.is_dir() for directory in group.directories)
        sleeper.kill()
        sleeper.wait()
        assert _remove(group)
        assert group.directories == []

    def test_removing_twice_is_no_error(self, tmp_path: Path) -> None:
        (tmp_path / "group").mkdir()
        group = cgroups.Cgroup(directories=[tmp_path / "group"])
        assert group.remove()
        assert group.remove()

    def test_a_directory_that_is_gone_counts_as_removed(self, tmp_path: Path) -> None:
        assert cgroups.Cgroup(directories=[tmp_path / "absent"]).remove()


class TestReaping:
    @staticmethod
    def _dead_pid() -> int:
        process = subprocess.Popen(["/bin/true"])
        process.wait()
        return process.pid

    def test_groups_of_a_dead_host_are_deleted(self, tmp_path: Path) -> None:
        stale = tmp_path / f"unhack-{self._dead_pid()}-12345-0-candidate"
        stale.mkdir()
        parents = cgroups.Parents(tmp_path, tmp_path, 2)
        assert cgroups.reap_stale(parents) == [str(stale)]
        assert not stale.exists()

    def test_a_process_that_has_taken_the_number_of_a_dead_host_protects_nothing(
        self, tmp_path: Path
    ) -> None:
        stale = tmp_path / f"unhack-{os.getpid()}-1-0-candidate"
        stale.mkdir()
        cgroups.reap_stale(cgroups.Parents(tmp_path, tmp_path, 2))
        assert not stale.exists()

    def test_groups_of_a_living_host_and_of_others_stay(self, tmp_path: Path) -> None:
        started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
        kept = [
            tmp_path / f"unhack-{os.getpid()}-{started}-0-candidate",
            tmp_path / "unhack-notes",
            tmp_path / "docker-1-2-3",
        ]
        for directory in kept:
            directory.mkdir()
        assert cgroups.reap_stale(cgroups.Parents(tmp_path, tmp_path, 2)) == []
        assert all(directory.exists() for directory in kept)

    @pytest.mark.slow
    @delegated
    def test_the_groups_of_a_killed_host_are_gone_after_the_next_start(self) -> None:
        program = (
            "from unhack.sandbox.pool.pool import shared_pool\n"
            "from unhack.sandbox.job import Profile, run_one\n"
            "from unhack.sandbox.limits import Limits\n"
            "from unhack.verifiers import jobs\n"
            "template = jobs.CallsTemplate('f', [[[], {}]], limits=Limits(), profile=Profile())\n"
            "run_one(shared_pool(), template.job('def f(): pass'))\n"
            "print('ready', flush=True)\n"
            "import time; time.sleep(600)\n"
        )
        host = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        pattern = f"unhack-{host.pid}-*"
        left = [found for top in PARENTS.directories() for found in top.glob(pattern)]
        assert left, "the host made no group"
        host.kill()
        host.wait()
        host.stdout.close()
        for _ in range(6000):
            cgroups.reap_stale(PARENTS)
            if not any(directory.exists() for directory in left):
                break
            time.sleep(0.01)
        assert not [directory for directory in left if directory.exists()]


@delegated
class TestWithAPool:
    def test_a_closed_pool_leaves_no_group(self, calls_job: Callable[..., Job]) -> None:
        before = set(_own(PARENTS))
        with closing(Pool(slots=2)) as pool:
            run_one(pool, calls_job("def f(): pass"))
        assert set(_own(PARENTS)) <= before

    def test_the_workers_of_two_pools_in_one_process_have_groups_of_their_own(
        self, calls_job: Callable[..., Job]
    ) -> None:
        with closing(Pool(slots=1)) as first, closing(Pool(slots=1)) as second:
            for pool in (first, second):
                run_one(pool, calls_job("def f(): pass"))
            groups = [
                {
                    line.rpartition("/")[2]
                    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()
                    if "/unhack-" in line
                }
                for pool in (first, second)
                for pid in pool.worker_pids()
            ]
        assert all(groups), "a worker has no group"
        assert groups[0].isdisjoint(groups[1])

    def test_memory_outside_the_address_space_is_bounded_too(
        self, evaluate: Callable[..., Any]
    ) -> None:
        # Nothing is asserted about who dies: the answer must not be the full four gigabytes.
        source = """
import os
def f():
    total = 0
    try:
        while total < 4 << 30:
            read_end, write_end = os.pipe()
            os.set_blocking(write_end, False)
            total += os.write(write_end, b"x" * (1 << 20))
    except OSError as error:
        return total
    return total
"""
        assert evaluate(source) < 4 << 30
