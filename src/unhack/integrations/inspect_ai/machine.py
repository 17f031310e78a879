"""A small sealed machine: files that last between commands, and any number of machines at a time.

    host = shared_host()
    machine = SealedMachine(host, MachineLimits())
    result = host.submit(machine.run(["python3", "-"], stdin=code)).result()

Commands run on one asyncio loop in a thread of its own, so that callers may stand on any loop or
none. Files are read and written by a program inside, as the user that commands run as: the kernel
decides on links and permissions, and nothing of the host can be meant.

Covered: /workspace, /tmp and the home last; commands of one machine run one after another; long
arguments and inputs; more files than may be kept are undone.
Not covered: processes that outlive their command, which die with it; other users; a network.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import posixpath
import secrets
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from unhack.core.errors import UsageError
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import (
    MAX_ARGUMENTS,
    MAX_STDIN,
    Command,
    CommandResult,
)
from unhack.sandbox.workspace.states import WorkspaceState

T = TypeVar("T")
WORKSPACE = "/workspace"
_KEPT = (("/tmp", ".tmp"), ("/home/agent", ".home"))
_FILE_WALL_S = 120.0
_PYTHON = ("python3", "-I", "-S", "-c")
_SHORT = MAX_ARGUMENTS // 2
"""Characters of arguments and variables that go without a file."""
_LAUNCH = """
import json, os, signal, sys
with open(sys.argv[1]) as file:
    order = json.load(file)
if order["stdin"]:
    os.dup2(os.open(order["stdin"], os.O_RDONLY), 0)
for name in filter(None, (sys.argv[1], order["stdin"])):
    try:
        os.unlink(name)
    except OSError:
        pass
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.environ.update(order["environ"])
try:
    os.chdir(order["cwd"])
    os.execvp(order["argv"][0], order["argv"])
except OSError as error:
    sys.stderr.write(f"{order['argv'][0]}: {error.strerror}\\n")
    sys.exit(127)
"""
_COPY = """
import os, sys
source, target, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
try:
    if sys.argv[4]:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    with open(source, "rb") as reader, open(target, "wb") as writer:
        while most > 0 and (data := reader.read(min(most, 1 << 20))):
            most -= len(data)
            writer.write(data)
except OSError as error:
    sys.exit(error.errno if error.errno < 126 else 5)
"""


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """The limits of a machine."""

    wall_s: float = 600.0
    """Seconds of a command that no other limit was asked for."""
    memory_bytes: int = 2048 * MIB
    """Of the processes of a command."""
    disk_bytes: int = 512 * MIB
    """That a command may write, and that all files together may hold."""
    processes: int = 256
    """Processes and threads at once."""

    def of_command(self, *, wall_s: float, output_bytes: int) -> Limits:
        """The limits of one command."""
        cores = len(os.sched_getaffinity(0))
        return Limits(
            wall_s=wall_s,
            cpu_s=wall_s * cores,
            memory_bytes=self.memory_bytes,
            processes=self.processes,
            open_files=1024,
            file_bytes=self.disk_bytes,
            output_bytes=output_bytes,
            disk_bytes=self.disk_bytes,
        )


class MachineHost:
    """The loop on which commands run, and their supervisors, as many as cores."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="unhack-machines", daemon=True
        )
        self._thread.start()
        self._pool: CommandPool | None = None

    async def pool(self) -> CommandPool:
        """The supervisors, made on first use."""
        if self._pool is None:
            self._pool = CommandPool(preload=(), kept=_KEPT)
        return self._pool

    def submit(self, job: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the loop; cancelling the future ends the command that it waits for."""
        return asyncio.run_coroutine_threadsafe(job, self._loop)

    def close(self) -> None:
        """End every command and remove all files."""
        self.submit(self._end()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        for one in others:
            one.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._pool is not None:
            self._pool.close()


class SealedMachine:
    """Files that last, and commands on them. Its coroutines run on its host's loop."""

    def __init__(self, host: MachineHost, limits: MachineLimits) -> None:
        self.host, self.limits = host, limits
        self._state: WorkspaceState | None = None
        self._turn = asyncio.Lock()

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str = "",
        environ: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> CommandResult:
        """Run a command; what it leaves is where the next one begins.

        `cwd` may be relative to the workspace. A command that leaves more files than fit is undone,
        and fails with words. Raises UsageError for arguments that no program can be given,
        SandboxUnavailableError, SandboxError.
        """
        environ = dict(environ or {})
        limits = limits or self.limits.of_command(wall_s=self.limits.wall_s, output_bytes=MIB)
        _check_text([*argv, cwd, *environ, *environ.values()])
        cwd = posixpath.relpath(posixpath.join(WORKSPACE, cwd), WORKSPACE)
        words = sum(map(len, [*argv, *environ, *environ.values()]))
        async with self._turn:
            pool, state = await self._start()
            names: list[str] = []
            command: Command
            if len(stdin) <= MAX_STDIN and words <= _SHORT:
                command = Command(tuple(argv), stdin=stdin, cwd=cwd, environ=environ)
            else:
                order, there = _new_name(), _new_name() if stdin else ""
                said = {"argv": [*argv], "environ": environ, "cwd": cwd, "stdin": there}
                files = {order: json.dumps(said).encode()} | ({there: stdin} if there else {})
                names = [*files]
                state = pool.states.edited(state, files)
                command = Command((*_PYTHON, _LAUNCH, order))
            result, after = await pool.run(state, command, limits=limits)
            return self._keep(result, _without(pool, after, names))

    async def read(self, path: str, *, max_bytes: int) -> bytes:
        """The content of a file, cut one byte after `max_bytes`. Raises OSError."""
        async with self._turn:
            pool, state = await self._start()
            name = _new_name()
            state = pool.states.edited(state, {name: b""})
            after = await self._copy(pool, state, (path, name, str(max_bytes + 1), ""))
            data = after.read(name)
            if data is None:
                raise OSError(errno.EIO, os.strerror(errno.EIO), path)
            return data

    async def write(self, path: str, data: bytes) -> None:
        """Write a file; the folders above it are made. Raises OSError."""
        async with self._turn:
            pool, state = await self._start()
            name = _new_name()
            state = pool.states.edited(state, {name: data})
            after = await self._copy(pool, state, (name, path, str(len(data)), "folders"))
            after = _without(pool, after, [name])
            if self._is_over(after):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            self._state = after

    def forget(self) -> None:
        """Let go of its files."""
        self._state = None

    async def _start(self) -> tuple[CommandPool, WorkspaceState]:
        pool = await self.host.pool()
        if self._state is None:
            self._state = pool.states.load({})
        return pool, self._state

    async def _copy(
        self, pool: CommandPool, state: WorkspaceState, words: tuple[str, str, str, str]
    ) -> WorkspaceState:
        """The state after a copy inside. Raises OSError for the path that is no name of ours."""
        path = words[1] if words[3] else words[0]
        if "\0" in path or len(path) > MAX_PATH:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        limits = self.limits.of_command(wall_s=_FILE_WALL_S, output_bytes=MIB)
        result, after = await pool.run(state, Command((*_PYTHON, _COPY, *words)), limits=limits)
        if result.limit == "wall":
            raise TimeoutError(f"{path}: not copied within {_FILE_WALL_S:.0f} s")
        if not result.ok:
            code = result.exit_code if result.exit_code in errno.errorcode else errno.EIO
            raise OSError(code, os.strerror(code or errno.EIO), path)
        return after

    def _keep(self, result: CommandResult, after: WorkspaceState) -> CommandResult:
        if not self._is_over(after):
            self._state = after
            return result
        most = self.limits.disk_bytes // MIB
        words = f"more than {most} MiB of files: what this command wrote was undone\n"
        return CommandResult(1, stdout=result.stdout, stderr=result.stderr + words)

    def _is_over(self, state: WorkspaceState) -> bool:
        held = sum(file.size for file in state.tree.files().values())
        return held > self.limits.disk_bytes


MAX_PATH = 4096
"""Characters of a path."""


def _new_name() -> str:
    """A name in the workspace that no command can foresee."""
    return f".unhack-{secrets.token_hex(12)}"


def _without(pool: CommandPool, state: WorkspaceState, names: Sequence[str]) -> WorkspaceState:
    left = {name: None for name in names if state.tree.find(name) is not None}
    return pool.states.edited(state, left) if left else state


def _check_text(words: Sequence[str]) -> None:
    for word in words:
        try:
            os.fsencode(word)
        except UnicodeEncodeError:
            raise UsageError(f"{word[:40]!r} is no Unicode text: no program can get it") from None


_shared: dict[int, MachineHost] = {}
_shared_lock = threading.Lock()


def shared_host() -> MachineHost:
    """The host of this process, made on first use and again after a fork or `close_shared_host`."""
    with _shared_lock:
        host = _shared.get(os.getpid())
        if host is None:
            _shared.clear()
            host = _shared[os.getpid()] = MachineHost()
        return host


def close_shared_host() -> None:
    """End the host of this process, if it has one."""
    with _shared_lock:
        host = _shared.pop(os.getpid(), None)
    if host is not None:
        host.close()
