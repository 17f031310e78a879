"""What a fork server keeps of its jobs: the core that they ran well on, and no child sees it."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import _socket, json, os, select, struct
pairs = [_socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET) for _ in range(2)]
kept = [(os.dup(ours.fileno()), os.dup(theirs.fileno())) for ours, theirs in pairs]
control, jobs = [_socket.socket(fileno=os.dup2(fd, 20 + n)) for n, (fd, _) in enumerate(kept)]
theirs = [os.dup2(fd, 30 + n) for n, (_, fd) in enumerate(kept)]

from unhack.sandbox.guest.server import fork_server
for n, fd in enumerate(theirs):
    os.dup2(fd, (fork_server.CONTROL, fork_server.JOBS)[n])
proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
config = {"kind": "function", "isolation": "none"}
before = sorted(os.sched_getaffinity(0))
server = fork_server.Server(config, os.pidfd_open(os.getppid()), proc)

def job(number, settled):
    reading, writing = os.pipe()
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", writing))]
    jobs.sendmsg([fork_server.ORDER.pack(number, 0, 60.0, 60.0, 60.0, 60.0)], rights)
    server.settled = settled
    mine = server.accept(select.poll())
    if mine:
        seen = [server.settled, sorted(os.sched_getaffinity(0)) == before]
        os.write(writing, json.dumps(seen).encode())
        os._exit(0)
    os.close(writing)
    bound = len(os.sched_getaffinity(0))
    seen = json.loads(os.read(reading, 1000))
    server.reap(server.running.pop(server.current.pidfd))
    return [seen, bound]

found = [job(number, settled) for number, settled in enumerate((0, 1, 31, 0))]
assert server.accept(select.poll()) is None
print(json.dumps([found, len(before), sorted(os.sched_getaffinity(0)) == before]))
"""


def test_a_child_knows_nothing_of_the_jobs_before_it_and_is_bound_to_no_core() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    found, cores, free = json.loads(done.stdout)
    assert [seen for seen, _ in found] == [[0, True]] * 4
    assert [bound for _, bound in found] == [cores, 1, 1, cores]
    assert free
