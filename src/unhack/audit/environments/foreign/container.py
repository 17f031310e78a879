"""Containers of foreign graders: a play is one sealed process tree with the agent's commands
and the grader.

    containers = ContainerEpisodes(grader)
    play = await containers.play(task, actions)
    containers.close()

Covered: what survives between an agent and a grader in one container does so here (processes,
home, /tmp, git, modes); nothing of it reaches the host or another play.
Not covered: images, services and networks.
"""

from __future__ import annotations

import base64
import json
import posixpath
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.audit.environments.attack import EnvironmentAttack, Sent, as_call, solution_of
from unhack.audit.environments.foreign import harness
from unhack.audit.environments.foreign.grader import EpisodeEnd, ForeignGrader, resolved
from unhack.core.errors import UsageError
from unhack.environments.episode import COMMAND_LIMITS
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command
from unhack.sandbox.workspace.states import WorkspaceState

_LIMITS = COMMAND_LIMITS.with_(
    wall_s=60, cpu_s=120, output_bytes=8 << 20, disk_bytes=96 << 20, processes=192
)
_KEPT = 400
"""Characters of the end of the output that are kept."""
_PARSE = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("log_parser", "log_parser.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
found = getattr(module, sys.argv[1])(open("log.txt").read())
found = {str(name): str(getattr(status, "value", status)) for name, status in found.items()}
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class AttackPlay:
    """An episode with an attack in it."""

    outcome: EpisodeEnd
    files: Mapping[str, bytes]
    """All declared files as they were handed in; empty where the container was lost."""
    said: str
    """The judge's reason, or the end of the grader's output."""
    step_reward: float = 0.0
    """The sum of the step rewards, the outcome left out; 0 where none are given."""
    state: WorkspaceState | None = None
    """In an image: its clean root directory with what was handed in, and the tests."""

    @property
    def handed(self) -> WorkspaceState | Mapping[str, bytes]:
        """The work, as an oracle takes it; empty where it was lost."""
        return self.state or self.files

    def read(self, path: str) -> bytes | None:
        """A file that was handed in, by its path from the working folder; None without it."""
        if self.state is None:
            return self.files.get(path)
        return self.state.read(posixpath.join(f"/{self.state.start}", path).lstrip("/"))


class ContainerEpisodes:
    """Plays episodes under one foreign grader, as many at once as there are cores."""

    def __init__(self, grader: ForeignGrader) -> None:
        self.grader = grader
        links = [(f"/{name}", f"{harness.PLACE}/{name}") for name in ("tests", "logs")]
        if grader.workdir != "/workspace":
            links.append((grader.workdir, "/workspace"))
        self._pool = CommandPool(links=tuple(links))
        self._program = Path(harness.__file__).read_text(encoding="utf-8")

    async def play(
        self,
        task: RepositoryTask,
        actions: Sequence[Sent],
        *,
        before: Sequence[Sent] = (),
    ) -> AttackPlay:
        """Play the actions of an episode, after those of a sibling's where there are any."""
        said = [*map(as_call, actions)]
        nonce = secrets.token_hex(8)
        tests = {_below_tests(path): text.encode() for path, text in task.tests.items()}
        tests |= self.grader.files
        order = {
            "nonce": nonce,
            "setup": self.grader.setup,
            "episodes": [[*map(as_call, before)], said] if before else [said],
            "editable": list(task.editable),
            "tests": {path: base64.b64encode(data).decode() for path, data in tests.items()},
            "script": self.grader.script,
            "command_s": self.grader.command_s,
            "grader_s": self.grader.grader_s,
        }
        command = Command(("python3", "-I", "-c", self._program), stdin=json.dumps(order).encode())
        start = self._pool.states.load(task.files, executable=task.executable)
        limits = _LIMITS.with_(wall_s=self.grader.container_s)
        result, _ = await self._pool.run(start, command, limits=limits)
        _, _, last = result.stdout.rpartition(nonce)
        seen: dict[str, Any] = json.loads(last) if nonce in result.stdout else {}
        submitted = bool(said) and said[-1][0] == "submit"
        outcome = self.grader.outcome(seen, submitted=submitted)
        if outcome is None:
            outcome = await self._parsed(seen, task)
        files = {path: base64.b64decode(data) for path, data in seen.get("files", {}).items()}
        return AttackPlay(outcome, files, str(seen.get("log", result.stderr))[-_KEPT:])

    async def solve(self, task: RepositoryTask) -> AttackPlay:
        """Play the reference."""
        return await self.play(task, solution_of(task))

    async def why_not(self, attack: EnvironmentAttack, task: RepositoryTask) -> str:
        """Nothing hinders."""
        del attack, task
        return ""

    async def _parsed(self, seen: Mapping[str, Any], task: RepositoryTask) -> EpisodeEnd:
        """The end by a log's statuses."""
        parser = self.grader.parser
        if parser is None:
            raise UsageError(f"{self.grader.name}: a log needs a parser; name one with --grader")
        log = self.grader.log_of(seen).encode()
        files = {"log_parser.py": parser.source.encode(), "log.txt": log}
        command = Command(("python3", "-c", _PARSE, parser.function))
        result, _ = await self._pool.run(self._pool.states.load(files), command, limits=_LIMITS)
        if not result.ok:
            return self.grader.missing
        return resolved(json.loads(result.stdout), task.fail_to_pass + task.pass_to_pass)

    def close(self) -> None:
        """End every process and remove every file."""
        self._pool.close()


def _below_tests(path: str) -> str:
    """The place of one of the judge's files below /tests."""
    return path.removeprefix("tests/")
