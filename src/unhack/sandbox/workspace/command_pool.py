"""Commands on states, as many at once as there are keepers; a lost keeper is replaced.

    async with CommandPool() as pool:
        start = pool.states.load(files)
        result, after = await pool.run(start, shell("make test"), limits=Limits())

Covered: a command whose keeper is lost is run again from the same state; one that is lost twice
while a control on that state is not has taken its sandbox down itself, which is its end and no
fault of the machinery; callers wait in order for a free keeper.
Not covered: several event loops at once. A state outlives the pool's keepers, not its store.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping
from typing import Self

from unhack.core.errors import SandboxError
from unhack.sandbox.guest.server import janitor
from unhack.sandbox.job import Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.worker_start import claim_index, outer_id, release_index, start_guest
from unhack.sandbox.workspace.commands import Command, CommandResult
from unhack.sandbox.workspace.keeper import Keeper, KeeperLost, KeeperPlan
from unhack.sandbox.workspace.states import StateStore, WorkspaceState

_ATTEMPTS = 2


class CommandPool:
    """Keepers and the store of states that they share."""

    def __init__(
        self,
        *,
        keepers: int = 0,
        preload: tuple[str, ...] = ("pytest",),
        binds: tuple[tuple[str, str], ...] = (),
        environ: Mapping[str, str] | None = None,
        links: tuple[tuple[str, str], ...] = (),
        kept: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """`keepers` commands run at once; 0 for one a core. For the rest, see `KeeperPlan`."""
        self._index = claim_index()
        as_root = os.geteuid() == 0
        uid = outer_id(self._index, Role.CANDIDATE) if as_root else -1
        self.states = StateStore(uid=uid, gid=uid)
        top = self.states.layers.top
        self._plan = KeeperPlan(top, uid, preload, binds, dict(environ or {}), links, kept)
        self._count = keepers or len(os.sched_getaffinity(0))
        self._places: asyncio.Queue[_Place] = asyncio.Queue()
        self._all: list[_Place] = []
        self._janitor = _Janitor(self.states.layers.top)
        self.replaced = 0
        """Keepers that were lost."""

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
                except KeeperLost as error:
                    self.replaced += 1
                    lost = str(error)
            try:
                await self._once(place, state, Command(("true",)), limits)
            except KeeperLost as error:
                raise SandboxError(f"no command can be run any more: {error}") from None
            words = f"the command took its own sandbox down: {lost}"
            return CommandResult(None, 9, "machinery", stderr=words), state
        finally:
            self._places.put_nowait(place)

    def keeper_pids(self) -> list[int]:
        """The process ids of the keepers that are up."""
        return [keeper.pid for place in self._all for keeper in place.keepers()]

    def close(self) -> None:
        """End every keeper and remove the store."""
        for place in self._all:
            place.close()
        self._all.clear()
        self.states.close()
        self._janitor.close()
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
        keeper = await place.keeper(warm=warm)
        try:
            result, upper = await keeper.run(state, command, limits)
        except BaseException:
            place.drop(keeper)
            raise
        try:
            after, left_out = self.states.after(state, upper, overlay=keeper.overlay)
        finally:
            os.close(upper)
        return result.with_left_out(left_out), after


class _Janitor:
    """A process that removes the store when this one is killed."""

    def __init__(self, top: str) -> None:
        self._control, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there, open("/dev/null") as unused:
            self._process = start_guest(janitor.__name__, there, unused, environ={})
        self._control.send(os.fsencode(top))

    def close(self) -> None:
        """End it without a removal."""
        self._control.send(b"end")
        self._control.close()
        self._process.wait()


class _Place:
    """Room for one command at a time: a keeper, and one that is warm once a module is run."""

    def __init__(self, plan: KeeperPlan, *, index: int) -> None:
        self._plan, self._index = plan, index
        self._keepers: dict[bool, Keeper] = {}
        self.overlay = True

    async def keeper(self, *, warm: bool) -> Keeper:
        found = self._keepers.get(warm)
        if found is None:
            found = Keeper(self._plan, index=self._index, warm=warm)
            await found.start()
            self._keepers[warm] = found
            self.overlay = found.overlay
        return found

    def keepers(self) -> list[Keeper]:
        return list(self._keepers.values())

    def drop(self, keeper: Keeper) -> None:
        keeper.close()
        self._keepers = {warm: one for warm, one in self._keepers.items() if one is not keeper}

    def close(self) -> None:
        for keeper in self._keepers.values():
            keeper.close()
        self._keepers.clear()
