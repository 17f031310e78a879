"""The fork server: a warm interpreter that forks once for each job and knows nothing of any job.

It receives a descriptor and limits of time, forks, and the child reads its own job from that
descriptor; so no job leaves a trace that a later one could find. The child leaves the frames and
objects of this process before it runs (`job_start`). It watches deadlines, demotes
stragglers, reaps, and tells the host what the kernel says of each end. It ends itself, and with it
every job, when its host process ends in any way.

Everything in this process, this source included, is readable by candidates.
"""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingImports]
import _socket as socket  # the C half: the Python half costs each fork memory it never uses
import contextlib
import gc
import importlib
import json
import os
import select
import struct
import sys
import time
from typing import Any

from unhack.sandbox.guest.server import (
    accounts,
    clock,
    deadlines,
    job_start,
    library,
    rehearsal,
    warming,
)  # fmt: skip
from unhack.sandbox.guest.server.deadlines import BY_CPU, BY_HOST, BY_ITSELF, RunningJob
from unhack.sandbox.guest.server.job_start import JobStart
from unhack.sandbox.linux import calls, landlock, namespaces, rlimits, seccomp
from unhack.sandbox.linux.sockets import receive

CONTROL, JOBS = 3, 4
_send_signal: Any = getattr(_signal, "pidfd_send_signal")  # noqa: B009
SIGKILL = 9
ORDER = struct.Struct("<IBdddd")
"""job id, descriptor flags, seconds of wall time, soft slice, CPU time and hard wall."""
REPORT = struct.Struct("<cIiIdddQ")
"""kind, job id, wait status, why, seconds of wall, CPU and waiting time, peak resident bytes."""
_LONG_S = 0.5
"""Only of jobs that took longer the wait for a core is asked for."""
KILL = struct.Struct("<cI")
READY, MAPS, FAILED, DEMOTED, ENDED, REFUSED = b"R", b"M", b"F", b"D", b"X", b"E"
_WAITED, _STAYS = 1.3, 32
"""A job that took more than 1.3 times its CPU waited; the server stays put for 32 that did not."""
MAX_RUNNING = 10
"""Jobs that a worker may be given at a time: one or two, and those that outstayed their slice."""

LEAN = """
    bisect collections collections.abc copy datetime functools heapq itertools json math
    operator random re string time types typing
""".split()  # noqa: SIM905
"""Standard modules that nearly every completion imports."""


class Server:
    """The loop. One job runs at full speed; those that outstayed their slice go on beside it."""

    def __init__(self, config: dict[str, Any], host: int, proc: int) -> None:
        self.kind = config["kind"]
        self.host = host
        self.proc = proc
        spaces = config["isolation"] == "namespaces"
        self.start = JobStart(
            server=os.pidfd_open(os.getpid()),
            kind=config["kind"],
            isolated=config["isolation"] != "none",
            spaces=spaces,
            others=None,
        )
        self.accounts: list[int] = []
        """User namespaces that no job is in."""
        self.carries = not self.start.isolated
        """True when a job that outstays its slice may go on beside the next one. It may not where
        the two would share what the kernel counts: its threads would fail the next one's."""
        self.control = socket.socket(fileno=CONTROL)
        self.jobs = socket.socket(fileno=JOBS)
        self.running: dict[int, RunningJob] = {}
        self.current: RunningJob | None = None
        self.kills_wanted: set[int] = set()
        """Jobs that the host wants killed, some perhaps before they were started."""
        self.narrowed = calls.cores_are_narrowed()
        self.cloner = calls.Cloner(self.clone_flags(), stay=True)
        self.settled = 0
        """Jobs in a row that ran without waiting, since the server was last free to move."""
        self.pinned = 0

    def clone_flags(self) -> int:
        """Flags of a new pid namespace for each job; a mount and ipc one where it may write."""
        if not self.start.spaces:
            return 0
        extra = calls.CLONE_NEWNS | calls.CLONE_NEWIPC if self.kind != "function" else 0
        return calls.CLONE_NEWPID | extra

    def open_accounts(self, *, own_uid: bool) -> None:
        """Make what counts each job apart, where the kernel does; else the fork server counts with
        its job, when the uid is theirs alone."""
        if self.start.spaces:
            with contextlib.suppress(OSError):
                self.accounts = accounts.make(self.proc, MAX_RUNNING)
            if self.accounts and accounts.count_apart(self.accounts[0]):
                self.start.others = 0
                self.carries = True
                return
        self.accounts = []
        self.start.others = 1 if self.start.isolated and own_uid else None

    def lock_down(self) -> None:
        """The layers that this process and all its jobs share."""
        calls.prctl(calls.PR_SET_DUMPABLE, 0)
        if not self.start.isolated:
            return
        rlimits.apply_fixed()
        calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
        base = seccomp.build_allowlist(
            server_flags=self.clone_flags() | calls.CLONE_PIDFD | calls.SIGCHLD,
            scratch=self.kind == "scratch",
            programs=self.kind == "program",
            second=self.narrowed,
        )
        if not self.start.spaces:
            self.start.second_filter = seccomp.build_denylist(seccomp.LONE_DENIES, forks=True)
        elif self.kind != "function" or self.narrowed:
            denied = seccomp.job_denies(places=self.kind == "program" and not self.narrowed)
            self.start.second_filter = seccomp.build_denylist(denied)
        base.load()

    def serve(self) -> list[Any]:
        """Run until the host is gone. Returns in the child only, with what `JobStart.run` takes."""
        poller = select.poll()
        for fd in (CONTROL, self.host):
            poller.register(fd, select.POLLIN)
        accepting = False
        while True:
            wants = self.current is None
            if wants:
                accepted = self.accept(poller)
                if accepted:
                    self.control.detach()
                    self.jobs.detach()
                    return accepted
                if accepted is not None:
                    continue
            if wants != accepting:
                if wants:
                    poller.register(JOBS, select.POLLIN)
                else:
                    poller.unregister(JOBS)
                accepting = wants
            for fd, _ in poller.poll(self.timeout_ms()):
                if fd == self.host:
                    os._exit(0)
                if fd == CONTROL:
                    self.handle_kill()
                elif fd != JOBS:
                    poller.unregister(fd)
                    self.reap(self.running.pop(fd))
            self.watch_clocks()

    def timeout_ms(self) -> float | None:
        """Milliseconds until the next soft slice or deadline; None without a job."""
        if not self.running:
            return None
        soonest = min(job.next_event() for job in self.running.values())
        return max(0.0, soonest - time.monotonic()) * 1000 + 0.5

    def accept(self, poller: select.poll) -> list[Any] | None:
        """Start the next queued job; None when none waits. What it returns is empty but in the
        child, and there what to run."""
        try:
            data, ancillary, _, _ = receive(self.jobs.recvmsg, 64, 64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            self.cloner.free()
            return None
        if not data:
            os._exit(0)
        job, flags, *seconds = ORDER.unpack(data)
        fds = list(struct.unpack(f"{len(ancillary[0][2]) // 4}i", ancillary[0][2]))
        if job in self.kills_wanted:
            for fd in fds:
                os.close(fd)
            self.report(ENDED, job, why=BY_HOST)
            return []
        account = self.accounts.pop() if self.accounts else -1
        try:
            pid, pidfd = self.cloner.clone(remain=self.settled > 0)
        except OSError as error:
            self.report(REFUSED, job, error.errno or 0)
            pid = pidfd = -1
        if pid == 0:
            self.settled = 0  # no trace of the jobs before
            return [fds, flags, account]
        for fd in fds:
            os.close(fd)
        if pid > 0:
            running = RunningJob(job, pid, pidfd, seconds)
            running.account = account
            self.running[pidfd] = self.current = running
            poller.register(pidfd, select.POLLIN)
        elif account >= 0:
            self.accounts.append(account)
        return []

    def report(self, kind: bytes, job: int, status: int = 0, why: int = 0) -> None:
        """Tell the host something that carries no figures."""
        self.control.send(REPORT.pack(kind, job, status, why, 0.0, 0.0, 0.0, 0))

    def reap(self, running: RunningJob) -> None:
        """Wait for a job that has ended and report what the kernel says of it."""
        waited = 0.0
        if time.monotonic() - running.started > _LONG_S:  # while the kernel still knows it
            waited = deadlines.job_times(self.proc, running.pid, program=False).waited_s
        _, status, usage = os.wait4(running.pid, 0)
        os.close(running.pidfd)
        if running.account >= 0:
            self.accounts.append(running.account)
        wall = time.monotonic() - running.started
        cpu = usage.ru_utime + usage.ru_stime
        if self.kind != "program" and cpu > running.cpu and running.why == BY_ITSELF:
            running.why = BY_CPU  # it ended between two looks
        self.settled = (self.settled + 1) % _STAYS if wall < _WAITED * cpu else 0
        if self.current is running:
            self.current = None
        self.kills_wanted.discard(running.job)
        figures = wall, cpu, waited, usage.ru_maxrss * 1024
        self.control.send(REPORT.pack(ENDED, running.job, status, running.why, *figures))

    def handle_kill(self) -> None:
        """Kill a job when the host says so; end when the host is gone."""
        data = receive(self.control.recv, 64)
        if not data:
            os._exit(0)
        _, job = KILL.unpack(data)
        if len(self.kills_wanted) > 10_000:  # left over from jobs that ended before their kill came
            self.kills_wanted.clear()
        self.kills_wanted.add(job)
        for running in self.running.values():
            if running.job == job:
                self.kill(running, BY_HOST)

    def kill(self, running: RunningJob, why: int) -> None:
        """End a job; the pid namespace takes its other processes with it."""
        if running.why == BY_ITSELF:
            running.why = why
        _send_signal(running.pidfd, SIGKILL)

    def watch_clocks(self) -> None:
        """Demote jobs that outstay their slice, end those that are past a limit of time."""
        now = time.monotonic()
        for running in self.running.values():
            if running.why != BY_ITSELF or now < running.next_event():
                continue
            why = running.limit_reached(now, self.proc, program=self.kind == "program")
            if why != BY_ITSELF:
                self.kill(running, why)
            elif now >= running.soft_at and not running.demoted:
                self.demote(running, now)

    def demote(self, running: RunningJob, now: float) -> None:
        """Give its slot to the next job, and it the lowest priority once it has used its slice.

        A job that could not use it, because others hold the cores, would starve there. A
        program's processes may use what its first one does not: it gets no such time.
        """
        if not self.carries:
            running.demoted = True  # in name only: nobody else waits for this worker's slot
            return
        if not running.lost_slot:
            running.lost_slot = True
            if self.current is running:
                self.current = None
            self.report(DEMOTED, running.job)
        unused = 0.0 if self.kind == "program" else running.unused_s()
        if unused:
            running.soft_at = now + unused
            return
        running.demoted = True
        deadlines.lower_priority(self.proc, running.pid, program=self.kind == "program")


def _preload(names: list[str]) -> set[str]:
    """Import modules; the top-level names of everything that is loaded afterwards."""
    for name in names:
        importlib.import_module(name)
    return {name.partition(".")[0] for name in sys.modules}


def _isolate(config: dict[str, Any], control: socket.socket) -> None:
    """Enter the namespaces and build the root."""
    namespaces.enter()
    control.send(REPORT.pack(MAPS, 0, 0, 0, 0.0, 0.0, 0.0, 0))
    if receive(control.recv, 64) != b"ok":
        raise OSError(1, "the host could not write the id maps")
    namespaces.build_root(config["root"])


def _ruleset(config: dict[str, Any], *, spaces: bool) -> int:
    """A Landlock ruleset; -1 where namespaces do without. Made while every path can be opened."""
    if not landlock.abi_version():
        if spaces:
            return -1
        raise OSError(38, "without namespaces Landlock is needed, and this kernel has none")
    writable = [namespaces.SCRATCH_PARENT, "/tmp"] if config["kind"] != "function" else []
    return landlock.create_ruleset(
        readable=["/"] if spaces else config["readable"],
        writable=[*writable, "/dev/null"],
        executable=config["kind"] == "program",
    )


def _mapped_bytes(proc: int) -> int:
    fd = os.open("self/statm", os.O_RDONLY, dir_fd=proc)
    try:
        return int(os.read(fd, 200).split()[0]) * os.sysconf("SC_PAGE_SIZE")
    finally:
        os.close(fd)


def prepare_server(config: dict[str, Any], control: socket.socket) -> Server:
    """Do everything between the start of the interpreter and the first job."""
    host = os.pidfd_open(os.getppid())
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    if os.getppid() != config["host_pid"]:
        os._exit(0)
    spaces = config["isolation"] == "namespaces"
    isolated = config["isolation"] != "none"
    root = config["as_root"]
    if config["role"] == "judge" or config["root"]["keep_sites"]:
        importlib.import_module("unhack.sandbox.guest.judge.modes")
    if spaces:
        _isolate(config, control)
        library.follow(config["root"]["moved"])
    sys.path[:] = config["path"] + config["sites"]
    loaded = _preload(LEAN + config["preload"])
    if spaces:
        namespaces.narrow_sites(config["root"], loaded)
        namespaces.seal_root()
    ruleset = _ruleset(config, spaces=spaces) if isolated else -1
    shown = None if config["root"]["keep_sites"] else loaded
    if spaces:
        namespaces.become_nobody(as_root=root)
        library.check_readable(config["path"], config["sites"], shown)
    elif root and isolated:
        # After the imports: the interpreter's library may be readable by root alone.
        os.chdir(config["path"][0])
        os.setgroups([])
        os.setresgid(config["outer_id"], config["outer_id"], config["outer_id"])
        os.setresuid(config["outer_id"], config["outer_id"], config["outer_id"])
        library.open_library(config["path"])
        library.check_readable([], config["sites"], shown)
    os.environ.clear()
    os.environ.update(config["environ"])
    clock.freeze()
    warming.warm()
    server = Server(config, host, proc)  # mortal, with all that it knows: no job is to find it
    server.start.ruleset = ruleset
    gc.freeze()
    warming.settle_memory()
    calls.prctl(calls.PR_SET_DUMPABLE, 1)  # to see its own page map; `lock_down` ends it
    server.open_accounts(own_uid=root)
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)  # which Landlock asks for
    rehearsed = ORDER.pack(0, job_start.HAS_STDIN, 60.0, 60.0, 60.0, 60.0)
    server.pinned = rehearsal.pin_pages_of_a_job(server, rehearsed, proc)
    server.start.mapped_bytes = _mapped_bytes(proc)
    server.lock_down()
    return server


def _serve() -> tuple[JobStart, list[Any]]:
    """Be the fork server. Returns in the child only; whatever knows a job is gone by then."""
    control = socket.socket(fileno=os.dup(CONTROL))
    config = json.loads(receive(control.recv, 1 << 20))
    try:
        server = prepare_server(config, control)
    except Exception as error:
        number = error.errno or 0 if isinstance(error, OSError) else 0
        text = f"{number} {type(error).__name__}: {error}".encode()[:4000]
        control.send(FAILED + text)
        os._exit(1)
    facts = {"landlock": server.start.ruleset >= 0, "pinned": server.pinned}
    control.send(READY + json.dumps(facts).encode())
    control.close()
    gc.disable()
    order = server.serve()
    return server.start, order


def main() -> None:
    """Entry point of the worker process; its configuration is the first control message."""
    start, order = _serve()
    start.run(order)
