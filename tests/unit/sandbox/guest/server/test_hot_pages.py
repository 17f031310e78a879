"""Pinned pages change the cost of a fork and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.sandbox.guest.server import hot_pages

PAGE = os.sysconf("SC_PAGE_SIZE")

PROGRAM = """
import gc, os, resource, sys
from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import hot_pages
from unhack.sandbox.linux import calls

proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
values = list(range(5000))
def trial():
    for index in range(len(values)):
        values[index] += 1

def faults_of_a_child():
    pid = os.fork()
    if pid == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        trial()
        after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        os._exit(min(255, after - before))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

gc.collect(); gc.freeze()
without = min(faults_of_a_child() for _ in range(3))
pinned = hot_pages.pin(trial, calls.Cloner(0), proc)
within = min(faults_of_a_child() for _ in range(3))
same = values == list(range(5000))

read_end, write_end = os.pipe()
pid = os.fork()
if pid == 0:
    trial()
    os.write(write_end, b"%d" % sum(values))
    os._exit(0)
os.waitpid(pid, 0)
child = int(os.read(read_end, 20))
parent_before = sum(values)
trial()
print(pinned, without, within, same, child - parent_before, sum(values) - parent_before)
"""


HEAD = """
import ctypes, os
from unhack.sandbox.guest.server import hot_pages
from unhack.sandbox.linux import calls
proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
"""
REFUSED = """
def refuse(*_):
    raise OSError(38, "Function not implemented")
calls.syscall_number = refuse
print(hot_pages.pin(lambda: None, calls.Cloner(0), proc))
"""
BROKEN = """
print(hot_pages.pin(lambda: os._exit(1), calls.Cloner(0), proc))
"""
WRITTEN = """
PAGE = os.sysconf("SC_PAGE_SIZE")
def inner_pages(buffer):
    start = ctypes.addressof((ctypes.c_char * len(buffer)).from_buffer(buffer))
    return set(range(-(-start // PAGE) * PAGE, (start + len(buffer)) // PAGE * PAGE, PAGE))
written, untouched = bytearray(64 * PAGE), bytearray(64 * PAGE)
watch = hot_pages.PageWatch(proc)
with hot_pages.held_fork(calls.Cloner(0), lambda: None):
    written[:] = b"x" * len(written)
    watch.look("self")
pages = watch.pages()
print(inner_pages(written) <= pages, not inner_pages(untouched) & pages)
"""


def alone(program: str) -> str:
    """The output of a program in a process of its own: a raw clone wants one with a single
    thread, which a test runner is not."""
    done = subprocess.run(
        [sys.executable, "-c", HEAD + program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def figures() -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class TestPin:
    def test_pinned_pages_cost_a_child_no_fault(self, figures: list[str]) -> None:
        pinned, without, within = map(int, figures[:3])
        if pinned == 0:
            pytest.skip("io_uring or locked memory is not to be had here")
        assert within < without

    def test_the_trial_leaves_the_parent_untouched(self, figures: list[str]) -> None:
        assert figures[3] == "True"

    def test_parent_and_child_still_own_their_pages_apart(self, figures: list[str]) -> None:
        assert figures[4:] == ["5000", "5000"]

    def test_without_the_kernels_help_nothing_is_pinned(self) -> None:
        assert alone(REFUSED) == "0"

    def test_a_trial_that_breaks_pins_nothing(self) -> None:
        assert alone(BROKEN) == "0"


class TestPageWatch:
    def test_a_page_that_was_written_since_a_fork_is_seen(self) -> None:
        assert alone(WRITTEN) == "True True"


class TestRanges:
    @given(st.sets(st.integers(0, 500)))
    def test_ranges_cover_exactly_the_pages_without_touching(self, numbers: set[int]) -> None:
        ranges = hot_pages._ranges([number * PAGE for number in numbers])
        covered = {
            address for start, size in ranges for address in range(start, start + size, PAGE)
        }
        assert covered == {number * PAGE for number in numbers}
        ends = [start + size for start, size in ranges]
        starts = [start for start, _ in ranges]
        assert all(end < start for end, start in zip(ends, starts[1:], strict=False))

    def test_there_are_never_more_ranges_than_the_kernel_takes(self) -> None:
        assert len(hot_pages._ranges([2 * PAGE * number for number in range(5000)])) <= 1024
