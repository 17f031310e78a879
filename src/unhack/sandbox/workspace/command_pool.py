"""Commands on states, as many at once as there are supervisors; a lost supervisor is replaced.

    async with CommandPool() as pool:
        start = pool.states.load(files)
        result, after = await pool.run(start, shell("make test"), limits=Limits())

Covered: a command whose supervisor is lost is run again from the same state; one that is lost twice
while a control on that state is not has taken its sandbox down itself, which is its end and no
fault of the machinery; callers wait in order for a free supervisor.
Not covered: several event loops at once. A state outlives the pool's supervisors, not its store.
"""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Self

from unhack.core.errors import SandboxError
from unhack.sandbox.guest.server import reaper
from unhack.sandbox.job import Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.worker_start import claim_index, outer_id, release_index, start_guest
from unhack.sandbox.workspace.commands import Command, CommandResult
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.package_scripts import write_console_scripts
from unhack.sandbox.workspace.states import StateStore, WorkspaceState
from unhack.sandbox.workspace.supervisor import (
    OF_PACKAGES,
    Supervisor,
    SupervisorLost,
    SupervisorPlan,
)

_ATTEMPTS = 2


class CommandPool:
    r"""Supervisors and the store of states that they share.

    Example:

        async with CommandPool(slots=4) as pool:
            start = pool.states.load({"a.txt": b"one\n"})
            result, after = await pool.run(start, shell("wc -l a.txt"), limits=Limits())
    """

    def __init__(
        self,
        *,
        slots: int = 0,
        preload: tuple[str, ...] = ("pytest",),
        links: tuple[tuple[str, str], ...] = (),
        kept: tuple[tuple[str, str], ...] = (),
        image: ImageRoot | None = None,
    ) -> None:
        """`slots` commands run at once; 0 for one a core. For the rest, see `SupervisorPlan`.

        In an image, commands run its programs: nothing is preloaded."""
        self._index = claim_index()
        as_root = os.geteuid() == 0
        uid = outer_id(self._index, Role.CANDIDATE) if as_root else -1
        if image is not None:
            preload, uid = (), image.first_id if as_root else -1
        self.states = StateStore(uid=uid, gid=uid, image=image)
        top = self.states.layers.top
        if image is None:
            write_console_scripts(preload, Path(top, OF_PACKAGES))
        self._plan = SupervisorPlan(top, uid, preload, links, kept, image)
        self._count = slots or len(os.sched_getaffinity(0))
        self._places: asyncio.Queue[_Place] = asyncio.Queue()
        self._all: list[_Place] = []
        self._reaper = _Reaper(self.states.layers.top)
        self.replaced = 0
        """Supervisors that were lost."""

    @property
    def overlay(self) -> bool:
        """False where this host refuses overlays and each command gets a plain copy; known once a
        command has run."""
        return all(place.overlay for place in self._all)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def run(
        self, state: WorkspaceState, command: Command, *, limits: Limits
    ) -> tuple[CommandResult, WorkspaceState]:
        """Run a command on a state: what was observed, and the state that it has left.

        Raises SandboxUnavailableError where the host cannot isolate commands, SandboxError when the
        machinery fails on a control too.
        """
        place = await self._place()
        lost = ""
        try:
            for _ in range(_ATTEMPTS):
                try:
                    return await self._once(place, state, command, limits)
                except SupervisorLost as error:
                    self.replaced += 1
                    lost = str(error)
            try:
                await self._once(place, state, Command(("true",)), limits)
            except SupervisorLost as error:
                raise SandboxError(f"no command can be run any more: {error}") from None
            words = f"the command took its own sandbox down: {lost}"
            return CommandResult(None, 9, "machinery", stderr=words), state
        finally:
            self._places.put_nowait(place)

    def supervisor_pids(self) -> list[int]:
        """The process ids of the supervisors that are up."""
        return [supervisor.pid for place in self._all for supervisor in place.supervisors()]

    def close(self) -> None:
        """End every supervisor and remove the store."""
        for place in self._all:
            place.close()
        self._all.clear()
        self.states.close()
        self._reaper.close()
        release_index(self._index)

    async def _place(self) -> _Place:
        if len(self._all) < self._count and self._places.empty():
            place = _Place(self._plan, index=self._index)
            self._all.append(place)
            return place
        return await self._places.get()

    async def _once(
        self, place: _Place, state: WorkspaceState, command: Command, limits: Limits
    ) -> tuple[CommandResult, WorkspaceState]:
        warm = command.module and command.argv[0] in self._plan.preload
        if command.module and not warm:
            argv = ("python3", "-m", *command.argv)
            command = Command(argv, stdin=command.stdin, cwd=command.cwd, environ=command.environ)
        supervisor = await place.supervisor(warm=warm)
        try:
            result, layer = await supervisor.run(state, command, limits)
        except BaseException:
            place.drop(supervisor)
            raise
        try:
            after, left_out = self.states.after(state, layer, overlay=supervisor.overlay)
        finally:
            os.close(layer)
        return result.with_left_out(left_out), after


class _Reaper:
    """A process that removes the store when this one is killed."""

    def __init__(self, top: str) -> None:
        self._control, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there, open("/dev/null") as unused:
            self._process = start_guest(reaper.__name__, there, unused, environ={})
        self._control.send(os.fsencode(top))

    def close(self) -> None:
        """End it without a removal."""
        self._control.send(b"end")
        self._control.close()
        self._process.wait()


class _Place:
    """Room for one command at a time: a supervisor, and one that is warm once a module is run."""

    def __init__(self, plan: SupervisorPlan, *, index: int) -> None:
        self._plan, self._index = plan, index
        self._supervisors: dict[bool, Supervisor] = {}
        self.overlay = True

    async def supervisor(self, *, warm: bool) -> Supervisor:
        found = self._supervisors.get(warm)
        if found is None:
            found = Supervisor(self._plan, index=self._index, warm=warm)
            await found.start()
            self._supervisors[warm] = found
            self.overlay = found.overlay
        return found

    def supervisors(self) -> list[Supervisor]:
        return list(self._supervisors.values())

    def drop(self, supervisor: Supervisor) -> None:
        supervisor.close()
        kept = {warm: one for warm, one in self._supervisors.items() if one is not supervisor}
        self._supervisors = kept

    def close(self) -> None:
        for supervisor in self._supervisors.values():
            supervisor.close()
        self._supervisors.clear()
