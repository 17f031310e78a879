"""The host's side of one supervisor: start it, give it a command, read what is left.

Covered: one command at a time; output that nobody reads is bounded; a supervisor that ends is told
apart from a command that does.
Not covered: trying again, which `workspace.command_pool` does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import socket
import subprocess
from dataclasses import dataclass, replace
from typing import Any

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.guest.server import init, overlay, supervisor
from unhack.sandbox.job import Kind, Profile, limit_behind_kill
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import cgroups
from unhack.sandbox.linux.capabilities import advice
from unhack.sandbox.linux.sockets import receive
from unhack.sandbox.pool.worker import tree_bytes
from unhack.sandbox.pool.worker_start import import_path, start_guest, write_maps
from unhack.sandbox.rootfs import COMMANDS, RootSpec, inside, program_environ, root_spec
from unhack.sandbox.workspace.commands import (
    MAX_STDIN,
    BoundedOutput,
    Command,
    CommandResult,
)
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.package_scripts import SCRIPTS
from unhack.sandbox.workspace.process_tree import ETC
from unhack.sandbox.workspace.states import WorkspaceState

_MOST_READ = 256 << 20
"""Bytes of output that are read before the command is ended."""
_LIMITS = {
    supervisor.BY_WALL: "wall",
    supervisor.BY_HARD_WALL: "wall_hard",
    supervisor.BY_HOST: "output",
}
OF_PACKAGES = "scripts"
"""Folder of the store with the console scripts of packages, which are no layer."""
_MAX_INODES = 1 << 17
_READ = 1 << 16
_PIPE_HOLDS = 1 << 16
_STARTED_WITH = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
}


class SupervisorLost(Exception):
    """The supervisor ended, or could not begin a command."""


@dataclass(frozen=True, slots=True)
class SupervisorPlan:
    """Files and variables that commands can read beside the workspace."""

    layers: str
    """The store's directory on the host."""
    uid: int
    """The outer uid of commands where root starts them."""
    preload: tuple[str, ...] = ("pytest",)
    """Modules that a warm supervisor runs without starting an interpreter; of site-packages only
    what these import is visible."""
    links: tuple[tuple[str, str], ...] = ()
    """(link at the top, absolute target inside) pairs, for programs that expect other paths."""
    kept: tuple[tuple[str, str], ...] = ()
    """(`/tmp` or the home, name of a folder of the workspace) pairs: what is written there lasts
    as the workspace does."""
    image: ImageRoot | None = None
    """Commands see this image's root directory, changed by the state's layers, and nothing else."""

    def root(self) -> RootSpec:
        """The root directory."""
        binds: tuple[tuple[str, str], ...] = ((self.layers, overlay.LAYERS),)
        if self.image is not None:
            below = enumerate(self.image.folders)
            binds += tuple((folder, f"{overlay.IMAGE}/{number}") for number, folder in below)
        elif os.path.isdir(scripts := f"{self.layers}/{OF_PACKAGES}"):
            binds += ((scripts, SCRIPTS),)
        profile = Profile(kind=Kind.PROGRAM, preload=self.preload, binds=binds)
        spec = root_spec(profile, links=self.links)
        return replace(spec, binds=[*spec.binds, ["/proc", overlay.PROC]], scratch=False)


class Supervisor:
    """One warm, sealed process that runs commands."""

    def __init__(self, plan: SupervisorPlan, *, index: int, warm: bool = False) -> None:
        """`warm` keeps the plan's modules loaded, which makes every other command dearer."""
        self.plan, self.index, self.warm = plan, index, warm
        self.overlay = True
        """False where this host refuses overlays and the workspace is copied."""
        self._environ: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._orders: socket.socket | None = None
        self._group = cgroups.Cgroup()

    @property
    def pid(self) -> int:
        """Its process id on the host; -1 before the start."""
        return self._process.pid if self._process is not None else -1

    async def start(self) -> None:
        """Start it. Raises SandboxUnavailableError where the host cannot isolate commands."""
        try:
            await self._start(self.plan.root())
        except BaseException:
            self.close()
            raise

    async def _start(self, spec: RootSpec) -> None:
        control, control_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        orders, orders_there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (control, orders):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            end.setblocking(False)
        self._control, self._orders = control, orders
        with control_there, orders_there:
            self._process = start_guest(
                supervisor.__name__, control_there, orders_there, environ=_STARTED_WITH
            )
        image = self.plan.image
        self._environ = (
            dict(image.environ) | {"HOME": image.home}
            if image
            else {
                "PATH": f"/home/agent/bin:{COMMANDS}:{SCRIPTS}:/usr/local/bin:/usr/bin:/bin",
                "LANG": "C.UTF-8",
                **program_environ(),
                "TZ": "UTC",
                "PYTHONPATH": ":".join(spec.site_paths),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONHASHSEED": "0",
                "PYTEST_ADDOPTS": "-p no:cacheprovider",
                "HOME": overlay.HOME,
                "TMPDIR": "/tmp",
            }
        )
        control.send(json.dumps(self._config(spec)).encode())
        message = await self._control_message()
        if message == supervisor.MAPS:
            write_maps(self.pid, self.plan.uid, image_ids=image.ids if image else 0)
            control.send(b"ok")
            message = await self._control_message()
        if message[:1] != supervisor.READY:
            said = message[1:].decode(errors="replace") or "it ended without a word"
            raise SandboxUnavailableError(f"no command can be isolated here: {said}. {advice()}")
        self.overlay = message[1:] == b"1"
        if image and not self.overlay:
            raise SandboxUnavailableError(
                "this kernel lets no ordinary user mount an overlay, which an image needs"
                " (Linux 5.11 or later); run `unhack doctor`"
            )
        places = cgroups.find_parents()
        if places.memory is not None:
            only_memory = cgroups.Parents(memory=places.memory, version=places.version)
            self._group = cgroups.create(only_memory, name=f"{self.index}-step", pid=None)

    async def run(
        self, state: WorkspaceState, command: Command, limits: Limits
    ) -> tuple[CommandResult, int]:
        """Run a command on a state; its result and a descriptor of its writable layer, which the
        caller closes. Raises SupervisorLost."""
        assert self._orders is not None
        streams = [BoundedOutput(limits.output_bytes) for _ in range(2)]
        layer = -1
        ends: list[int] = []
        try:
            ends = self._hand_over(self._order(state, command, limits), command, limits)
            readers = [
                asyncio.ensure_future(self._drain(fd, into))
                for fd, into in zip(ends[:2], streams, strict=True)
            ]
            try:
                await _readable(self._orders.fileno())
                message, fds, _, _ = receive(socket.recv_fds, self._orders, 4096, 1)
                layer = fds[0] if fds else -1
                report = await self._control_message()
                await asyncio.gather(*readers)
            finally:
                for reader in readers:
                    reader.cancel()
            if report[:1] != supervisor.ENDED or layer < 0 or message[:1] != supervisor.LAYER:
                raise SupervisorLost(message[1:].decode(errors="replace") or "it ended")
            result = self._result(report, streams, limits)
            if command.stdin_writable:
                appended = os.pread(ends[-1], MAX_STDIN + 4, len(command.stdin))
                result = replace(result, appended=appended)
        except (OSError, SupervisorLost) as error:
            if layer >= 0:
                os.close(layer)
            raise SupervisorLost(str(error)) from None
        except BaseException:  # cancelled: what it is doing is not worth waiting for
            if layer >= 0:
                os.close(layer)
            self.close()
            raise
        finally:
            for fd in ends:
                os.close(fd)
        return result, layer

    def close(self) -> None:
        """End it, and every process of a command that it runs."""
        for end in (self._control, self._orders):
            if end is not None:
                end.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._group.remove_when_empty()

    def _config(self, spec: RootSpec) -> dict[str, Any]:
        return {
            "host_pid": os.getpid(),
            "as_root": os.geteuid() == 0,
            "image_ids": self.plan.image.ids if self.plan.image else 0,
            "root": spec.to_json(),
            "path": [inside(path, [link for link, _ in self.plan.links]) for path in import_path()],
            "sites": spec.site_paths,
            "preload": list(self.plan.preload),
            "warm": self.warm,
            "etc": ETC,
            "hidden": [path for _, path in init.hidden_files()],
        }

    def _order(self, state: WorkspaceState, command: Command, limits: Limits) -> dict[str, Any]:
        bounds = [
            (resource.RLIMIT_CPU, max(1, round(limits.cpu_s))),
            (resource.RLIMIT_NPROC, limits.processes + 2),  # the supervisor and process 1
            (resource.RLIMIT_NOFILE, limits.open_files),
            (resource.RLIMIT_FSIZE, limits.file_bytes),
        ]
        if not self._group.directories:
            bounds.append((resource.RLIMIT_DATA, limits.memory_bytes))
        above = f"/{command.cwd}" if command.cwd else ""
        image = self.plan.image
        start = image.workdir if image else overlay.WORKSPACE
        return {
            "image": len(image.folders) if image else 0,
            "user": ((0, 0, ()) if command.as_root else image.user) if image else None,
            "read_only": command.read_only,
            # Another uid has processes of its own to count, so that only memory bounds them all.
            "may_change_id": bool(self._group.directories) and image is not None and image.ids > 1,
            "layers": [layer.name for layer in state.layers],
            "mode": state.tree.mode,
            "overlay": self.overlay,
            "kept": self.plan.kept,
            "argv": list(command.argv),
            "module": self.warm,
            "environ": {**self._environ, **command.environ},
            "cwd": (above or start) if image else start + above,
            "disk": limits.disk_bytes,
            "inodes": max(1024, min(_MAX_INODES, limits.disk_bytes // 2048)),
            "rlimits": bounds,
            "wall": limits.wall_s,
            "wall_hard": limits.wall_hard_s,
        }

    def _hand_over(self, order: dict[str, Any], command: Command, limits: Limits) -> list[int]:
        """Send the order; the host's ends of standard output and standard error, and of a standard
        input that is writable."""
        assert self._orders is not None
        theirs = [_standard_input(command)]
        ours: list[int] = []
        for _ in range(2):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            ours.append(reader)
            theirs.append(writer)
        if command.stdin_writable:
            ours.append(os.dup(theirs[0]))
        try:
            if self._group.directories:
                self._group.limit_memory(tree_bytes(limits))
                theirs.append(self._group.open_door())
            socket.send_fds(self._orders, [json.dumps(order).encode()], theirs)
        except BaseException:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        return ours

    async def _drain(self, fd: int, into: BoundedOutput) -> None:
        """Read a stream to its end, which the end of the last process brings."""
        while True:
            await _readable(fd)
            data = os.read(fd, _READ)
            if not data:
                return
            before = into.total
            into.add(data)
            if before <= _MOST_READ < into.total and self._control is not None:
                with contextlib.suppress(OSError):
                    self._control.send(init.KILL)

    async def _control_message(self) -> bytes:
        assert self._control is not None
        await _readable(self._control.fileno())
        return receive(self._control.recv, 4096)

    def _result(self, report: bytes, streams: list[BoundedOutput], limits: Limits) -> CommandResult:
        _, status, why, wall, cpu, peak = supervisor.REPORT.unpack(report)
        if why == supervisor.NOT_STARTED:
            raise SupervisorLost("the command could not be begun")
        code = os.waitstatus_to_exitcode(status) if why == supervisor.BY_ITSELF else -9
        limit = _LIMITS.get(why, "")
        if code == -9 and not limit:
            near = cpu >= 0.5 * limits.cpu_s or peak >= limits.memory_bytes / 2
            limit = limit_behind_kill(limits, cpu_s=cpu, peak_bytes=peak) if near else ""
        return CommandResult(
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            limit=limit,
            stdout=streams[0].text,
            stderr=streams[1].text,
            cut_bytes=streams[0].cut + streams[1].cut,
            wall_s=wall,
            cpu_s=cpu,
            max_rss_bytes=peak,
        )


def _standard_input(command: Command) -> int:
    """A descriptor to read a command's input from, and to write to where that is wanted."""
    data = command.stdin
    if not data and not command.stdin_writable:
        return os.open("/dev/null", os.O_RDONLY)
    if len(data) <= _PIPE_HOLDS and not command.stdin_writable:
        reader, writer = os.pipe()
        os.write(writer, data)
        os.close(writer)
        return reader
    fd = os.memfd_create("stdin")
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    if command.stdin_writable:
        os.lseek(fd, 0, os.SEEK_SET)
        return fd
    try:
        return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
    finally:
        os.close(fd)


async def _readable(fd: int) -> None:
    """Wait until a descriptor can be read."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(fd)
