"""One play of a task: actions in, observations and rewards out, every state with a hash.

    episode = Episode(task, start, parts)
    step = await episode.step(WriteFile("pkg/core.py", text))
    twins = episode.fork(8)                   # continue from here, each on its own

The reward of a step is γΦ(s') − Φ(s), Φ being the weighted share of the dev tests that pass, and 0
at every end, the cut included; the last step adds the outcome, less what the judges of the end
state take of it. `StepResult.process` and `outcome` keep the two apart.

Covered: an action that cannot be carried out is an observation; an episode cut by its own limits is
judged as its files stand, by the same judge; one that never speaks the protocol gets a real 0; one
that our machinery loses is tried again from its last state and only then unscored.
Not covered: choosing actions (`players`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from unhack.core.errors import SandboxError, UsageError
from unhack.core.shaping import shaping_reward
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.environments.actions import (
    Action,
    ApplyPatch,
    EditFile,
    ListFiles,
    ReadFile,
    RefusedActionError,
    RunCommand,
    RunTests,
    SearchText,
    ShellCommand,
    Submit,
    WriteFile,
    arguments_of,
    name_of,
    parse_action,
)
from unhack.environments.files import file_tools
from unhack.environments.judging import StateJudge
from unhack.environments.observation import Observation, Refusal, of_command, refused
from unhack.environments.steps.ends import EndJudge
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import PlayableTask
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command, CommandResult, shell
from unhack.sandbox.workspace.lasting_shell import in_lasting_shell, shell_end
from unhack.sandbox.workspace.states import WorkspaceState
from unhack.sandbox.workspace.tree import StoredFile
from unhack.verifiers.base import invalid_verdict
from unhack.verifiers.reward import reward_of

COMMAND_LIMITS = Limits(
    wall_s=60, cpu_s=60, memory_bytes=1024 * MIB, processes=128, open_files=256,
    file_bytes=32 * MIB, output_bytes=32 * 1024, disk_bytes=64 * MIB,
)  # fmt: skip

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """The limits of one episode; each is an end that is judged, or a refusal, never an error.

    Example:

        RepositoryWorkshop(limits=EpisodeLimits(turns=20, commands_s=120.0))
    """

    turns: int = 50
    """Actions; the last one ends the episode, judged as its files stand."""
    refusals: int = 10
    """Actions in a row that are none; that many end the episode with a real 0."""
    command: Limits = COMMAND_LIMITS
    """Limits of one command."""
    commands_s: float = 600.0
    """Wall seconds of all commands together; then the episode ends, judged as its files stand."""
    changed_bytes: int = 128 * MIB
    """Bytes of files that differ from the start; an action that makes it more is undone."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The answer to one step.

    Example:

        result = await episode.step(("submit", {}))
        if result.ended:
            print(result.reward, result.outcome.status)
    """

    observation: Observation
    reward: float
    terminated: bool
    """True where the agent ended the episode, or what it sent did."""
    truncated: bool
    """True where a limit of the episode cut it."""
    state_id: str
    """Content hash of the workspace after the step."""
    process: Mapping[str, float] = field(default_factory=dict[str, float])
    """Step scores by name, apart from the outcome: `progress` is Φ before its weight; at a rewarded
    end also those of the judges that have a weight."""
    outcome: Verdict | None = None
    """The judge's verdict, at the end."""

    @property
    def ended(self) -> bool:
        """True at the end of the episode."""
        return self.terminated or self.truncated

    @property
    def scored(self) -> bool:
        """False at an end that our machinery caused: no reward may be derived from the episode."""
        return self.outcome is None or self.outcome.scored


@dataclass(frozen=True, slots=True)
class Turn:
    """One step as it is remembered."""

    action: Action | None
    """None where what was sent is no action."""
    said: Any
    """The action as it was sent."""
    before: str
    """Content hash of the workspace before the step."""
    result: StepResult


@dataclass(frozen=True, slots=True)
class EpisodeParts:
    """The machinery that episodes of one task share."""

    commands: CommandPool
    judge: StateJudge
    limits: EpisodeLimits = EpisodeLimits()
    rewards: StepRewards = field(default_factory=StepRewards)
    ends: EndJudge | None = None
    """The judges of end states; None without weights for them."""
    unpaid: str = ""
    """Why progress pays no steps of this task; empty where it does, or has no weight."""


@dataclass(frozen=True, slots=True)
class _Turned:
    """An action that was carried out and not yet judged."""

    action: Action | None
    said: Any
    observation: Observation
    before: WorkspaceState
    after: WorkspaceState
    lost: str


class Episode:
    """One play of a task.

    Example:

        episode = workshop.begin(task)
        result = await episode.step(("list", {"path": "."}))
        first, second = episode.fork(2)  # both go on from here
    """

    def __init__(self, task: PlayableTask, start: WorkspaceState, parts: EpisodeParts) -> None:
        if parts.rewards.progress and not task.dev_tests and not parts.unpaid:
            raise UsageError(f"{task.id} has no dev tests to reward progress by")
        self.task, self.parts = task, parts
        self.state = start
        self.turns: list[Turn] = []
        self.ended = False
        self.shell = b""
        """The text of the lasting shell: a fork goes on from it, and it is no part of the state."""
        self._refusals = 0
        self._commands_s = 0.0
        self._potential: float | None = None
        self._lock = asyncio.Lock()

    @property
    def state_id(self) -> str:
        """The content hash of the workspace."""
        return self.state.id

    def fork(self, count: int) -> list[Episode]:
        """Copies that go on from here, each on its own; nothing is copied but references.

        Raises UsageError after the end.
        """
        if self.ended:
            raise UsageError("an episode that has ended cannot go on")
        return [self._copy() for _ in range(count)]

    def opening(self) -> Observation:
        """The first observation: the task's statement."""
        return Observation(self.task.statement)

    async def step(self, said: Action | tuple[str, object] | object) -> StepResult:
        """Carry out one action, or a tool call as (name, arguments). Steps that are asked for at
        once are carried out one after the other; those that wait when the episode ends are not
        carried out, and get its last result.

        Raises UsageError after the end, SandboxUnavailableError where commands cannot be isolated.
        """
        if self.ended:
            raise UsageError("the episode has ended: reset the environment")
        async with self._lock:
            return self.turns[-1].result if self.ended else await self._step(said)

    async def _step(self, said: object) -> StepResult:
        before = self.state
        action, observation = _understood(said)
        after, lost = before, ""
        if action is not None:
            try:
                observation, after = await self._carry_out(action)
            except SandboxError as error:  # replayed already: the machinery is broken
                lost = str(error)
            except UsageError as error:  # a command that no program can be given
                observation = refused(Refusal.BAD_ACTION, str(error))
        shown = observation or Observation("the sandbox failed", ok=False)
        return await self._conclude(_Turned(action, said, shown, before, after, lost))

    async def _conclude(self, turned: _Turned) -> StepResult:
        """Judge the state after an action, and pay the step."""
        parts, limits = self.parts, self.parts.limits
        first = await self._phi(turned.before) if self._potential is None else self._potential
        self.state = turned.after
        self._refusals = self._refusals + 1 if turned.action is None else 0
        silent = self._refusals >= limits.refusals
        terminated = isinstance(turned.action, Submit) or silent
        out_of_time = self._commands_s >= limits.commands_s
        full = len(self.turns) + 1 >= limits.turns
        truncated = not terminated and (full or out_of_time or bool(turned.lost))
        self.ended = terminated or truncated
        outcome = await self._outcome(silent=silent, lost=turned.lost) if self.ended else None
        left, scores = 1.0, dict[str, float]()
        if outcome is not None and parts.ends is not None and reward_of(outcome):
            try:
                left, scores = await parts.ends.share(self.state)
            except SandboxError as error:
                outcome = unscored_verdict(str(error))
        phi = first if self.state is turned.before else await self._phi(self.state)
        self._potential = phi
        paid = shaping_reward(first, phi, gamma=parts.rewards.gamma, ended=self.ended)
        reward = parts.rewards.progress * paid
        if outcome is not None:
            reward += left * (reward_of(outcome) or 0.0)
        if self.task.dev_tests and parts.rewards.progress:
            scores["progress"] = phi
        result = StepResult(
            turned.observation, reward, terminated, truncated, self.state.id, scores, outcome
        )
        self.turns.append(Turn(turned.action, turned.said, turned.before.id, result))
        return result

    async def _outcome(self, *, silent: bool, lost: str) -> Verdict:
        if lost:
            return unscored_verdict(lost)
        if silent:
            return invalid_verdict(f"{self._refusals} times in a row what was sent was no action")
        return await self.parts.judge.outcome(self.state)

    async def _phi(self, state: WorkspaceState) -> float:
        """Φ of a state; 0 where it is not asked for."""
        if not self.parts.rewards.progress:
            return 0.0
        verdict = await self.parts.judge.progress(state)
        return (reward_of(verdict) or 0.0) if verdict is not None else 0.0

    async def _carry_out(self, action: Action) -> tuple[Observation, WorkspaceState]:
        state, store = self.state, self.parts.commands.states
        match action:
            case ReadFile():
                return file_tools.read(state, action), state
            case ListFiles():
                return file_tools.list_files(state, action), state
            case SearchText() if not action.regex:
                return file_tools.search(state, action), state
            case SearchText():
                observation, after = await self._run(_grep(action))
                return _sorted_lines(observation), after
            case WriteFile():
                return self._kept(*file_tools.write(store, state, action))
            case EditFile():
                return self._kept(*file_tools.edit(store, state, action))
            case ApplyPatch():
                return self._kept(*file_tools.patch(store, state, action))
            case RunCommand():
                return await self._run(shell(action.command))
            case ShellCommand():
                return await self._in_shell(action.command)
            case RunTests():
                return await self._run(Command(("pytest", "-q", *action.paths), module=True))
            case Submit():
                return Observation(_handed_in(await self.parts.judge.left_out(state))), state

    async def _run(self, command: Command) -> tuple[Observation, WorkspaceState]:
        result, after = await self._ran(command)
        return self._kept(of_command(result), after)

    async def _ran(self, command: Command) -> tuple[CommandResult, WorkspaceState]:
        limits = self.parts.limits
        left = max(0.01, limits.commands_s - self._commands_s)
        bounds = limits.command.with_(wall_s=min(limits.command.wall_s, left))
        result, after = await self.parts.commands.run(self.state, command, limits=bounds)
        self._commands_s += result.wall_s
        return result, after

    async def _in_shell(self, script: str) -> tuple[Observation, WorkspaceState]:
        """Run a script in the shell that lasts, and in a new one where that cannot be restored."""
        remarks: list[str] = []
        result, after = await self._ran(in_lasting_shell(script, self.shell))
        end = shell_end(result)
        if self.shell and not end.resumed:
            self.shell = b""
            remarks.append("the shell could not be restored: its state is dropped, it begins anew")
            result, after = await self._ran(in_lasting_shell(script, b""))
            end = shell_end(result)
        if end.left_processes:
            remarks.append("processes in the background were ended")
        if end.kept is None:
            remarks.append("the shell stays as it stood before: this command's state was not kept")
        observation, state = self._kept(of_command(result, *remarks), after)
        if end.kept is not None and observation.refusal is None:
            self.shell = end.kept
        return observation, state

    def _kept(
        self, observation: Observation, after: WorkspaceState
    ) -> tuple[Observation, WorkspaceState]:
        """The state after an action, or the one before where that holds too much."""
        most = self.parts.limits.changed_bytes
        changed = after.changes().values() if after is not self.state else ()
        if sum(one.size for one in changed if isinstance(one, StoredFile)) <= most:
            return observation, after
        words = f"the files that differ from the start would hold more than {most:,} bytes"
        return refused(Refusal.TOO_LARGE, f"{words}; nothing was kept of this action"), self.state

    def _copy(self) -> Episode:
        made = Episode(self.task, self.state, self.parts)
        made.turns = list(self.turns)
        made._refusals, made._commands_s = self._refusals, self._commands_s
        made._potential, made.shell = self._potential, self.shell
        return made


def _understood(said: Any) -> tuple[Action | None, Observation | None]:
    """An action as it was sent: the action, or the observation that it is none."""
    name: object
    arguments: object
    if isinstance(said, tuple) and len(pair := cast("tuple[Any, ...]", said)) == 2:
        name, arguments = pair
    elif isinstance(said, Action):
        name, arguments = name_of(said), arguments_of(said)  # its values are checked all the same
    else:
        return None, refused(Refusal.BAD_ACTION, "an action is a pair of a name and its arguments")
    try:
        return parse_action(str(name), arguments), None
    except RefusedActionError as error:
        return None, refused(Refusal.BAD_ACTION, str(error))


def _handed_in(left_out: Mapping[str, str]) -> str:
    """The answer to a submit: what is left out of it, with the reasons."""
    named = [f"{path} ({why})" for path, why in list(left_out.items())[:_MOST_NAMED]]
    more = len(left_out) - len(named)
    names = "; ".join(named) + (f"; and {more} more" if more else "")
    return f"handed in; left out: {names}" if named else "handed in"


def _grep(action: SearchText) -> Command:
    path = file_tools.clean(action.path) or "."
    return Command(("grep", "-rnEI", "-m", "200", "--", action.text, path))


def _sorted_lines(found: Observation) -> Observation:
    """The lines that grep found, in an order that does not depend on the file system."""
    if found.exit_code == 1:
        return Observation("[no line matches]")
    *lines, end = found.text.split("\n")
    if found.exit_code != 0:
        return found
    return replace(found, text="\n".join([*sorted(line.removeprefix("./") for line in lines), end]))
