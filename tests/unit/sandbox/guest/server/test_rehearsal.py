"""A rehearsal pins what a job writes, and leaves the server as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import _socket, gc, json, os, select, struct, sys
pairs = [_socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET) for _ in range(2)]
kept = [(os.dup(ours.fileno()), os.dup(theirs.fileno())) for ours, theirs in pairs]
hosts = [_socket.socket(fileno=os.dup2(ours, 20 + n)) for n, (ours, _) in enumerate(kept)]
theirs = [os.dup2(fd, 30 + n) for n, (_, fd) in enumerate(kept)]

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import fork_server, hot_pages, job_start, rehearsal
for n, fd in enumerate(theirs):
    os.dup2(fd, (fork_server.CONTROL, fork_server.JOBS)[n])
proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
config = {"kind": "function", "isolation": "none"}
server = fork_server.Server(config, os.pidfd_open(os.getppid()), proc)
runner.warm_up()
gc.collect(); gc.freeze(); gc.disable()
control, jobs = hosts
order = fork_server.ORDER.pack(0, job_start.HAS_STDIN, *[60.0] * 4)

def faults_of_a_job(number):
    channel, end = _socket.socketpair()
    message = {**runner.WARM_JOB, "rlimits": [], "disk": 0}
    data = json.dumps(message).encode()
    channel.send(runner.HEADER.pack(len(data)) + data)
    null = os.open("/dev/null", os.O_RDONLY)
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("2i", end.fileno(), null))]
    jobs.sendmsg([fork_server.ORDER.pack(number, job_start.HAS_STDIN, *[60.0] * 4)], rights)
    poller = select.poll()
    mine = server.accept(poller)
    if mine:
        server.start.run(mine)
    end.close(); os.close(null)
    poller.poll()
    running = server.running.pop(server.current.pidfd)
    lines = channel.recv(1 << 16)
    assert lines.startswith(b"[0,"), lines
    import resource
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    server.reap(running)
    kind, job, status, *_ = fork_server.REPORT.unpack(control.recv(100))
    assert (kind, job, status) == (fork_server.ENDED, number, 0)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before

{before}
plain = min(faults_of_a_job(number) for number in range(1, 4))
pinned = rehearsal.pin_pages_of_a_job(server, order, proc)
rehearsed = min(faults_of_a_job(number) for number in range(4, 7))
try:
    os.waitpid(-1, os.WNOHANG)
    left = "a child"
except ChildProcessError:
    left = ""
control.setblocking(False)
try:
    said = control.recv(100).hex()
except BlockingIOError:
    said = ""
print(json.dumps([plain, pinned, rehearsed, left, said, len(server.running)]))
"""


def run(*, before: str = "") -> list[Any]:
    """[faults of a job, pages pinned, faults after it, what is left: a child, a report, a job]."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{before}", before)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def seen() -> list[Any]:
    return run()


class TestPinPagesOfAJob:
    def test_a_rehearsed_job_costs_half_the_faults(self, seen: list[Any]) -> None:
        plain, pinned, rehearsed = seen[:3]
        if not pinned:
            pytest.skip("io_uring or locked memory is not to be had here")
        assert rehearsed < plain / 2

    def test_nothing_of_it_is_left_and_no_host_hears_of_it(self, seen: list[Any]) -> None:
        assert seen[3:] == ["", "", 0]

    def test_one_that_breaks_pins_nothing_and_jobs_go_on(self) -> None:
        _, pinned, _, *left = run(before="rehearsal._LIMITS = [[9999, 1]]")
        assert pinned == 0
        assert left == ["", "", 0]
