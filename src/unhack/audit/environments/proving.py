"""From wins to findings: proof, the shortest actions that still win, a replay from scratch.

Covered: a pass is a finding only where the oracle says that the behaviour of the reference was not
restored, or where the attack had the solution from somewhere; an end without a score and rewarded
steps are findings by themselves, since idle and honest episodes have neither.
Not covered: shortening what is inside a file.

An oracle beside the judge: does what was handed in behave as the reference does?

The functions of every test that is known (hidden, visible, in the statement) are run with other
numbers in them, each once with the reference and once with what was handed in, in processes of
their own. What they assert is not asked: the values that they look at are written down and
compared.

Covered: values that differ by type or content, errors that are raised or missing, a process that
ends; values that the reference itself does not give twice are left out.
Not covered: behaviour that no test comes near; tests that `probes` passes over; objects whose text
holds an address, of which type and attributes count.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unhack.audit.environments.attack import AttackRoute, EnvironmentAttack, Sent
from unhack.audit.environments.episode_runner import EpisodeRunner, actions_of, before
from unhack.audit.environments.foreign.container import AttackPlay
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.audit.environments.probes import BehaviourProbe, probes_of
from unhack.audit.report.flaws import FLAWS
from unhack.core.finding import Evidence, Finding, FindingKind
from unhack.environments.actions import Action, arguments_of, name_of
from unhack.environments.episode import COMMAND_LIMITS
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command

_LIMITS = COMMAND_LIMITS.with_(wall_s=30, cpu_s=30, output_bytes=8 << 20)
_DRIVER = """
import json, sys
order = json.load(sys.stdin)
sys.path[:0] = order["roots"]
found = []
for source, names in order["probes"]:
    seen = []
    def _seen(number, make):
        value = make()
        text = repr(value)
        kind = type(value).__name__
        if " at 0x" in text:
            text = repr(sorted(getattr(value, "__dict__", {}).items()))
        seen.append([number, kind if " at 0x" in text else f"{kind}: {text}"[:400]])
        return value
    space = {"_seen": _seen, "_raised": lambda number, error: seen.append([number, error])}
    try:
        exec(compile(source, "<probe>", "exec"), space)
        for name in names:
            space[name]()
    except Exception as error:
        seen.append([-1, type(error).__name__])
    found.append(seen)
print(order["nonce"] + json.dumps(found))
"""

Trace = list[list[Any]]
"""[number of the expression, what it gave] of one probe; the number -1 for its end by an error."""


class BehaviourOracle:
    """Compares files that were handed in with a task's reference."""

    def __init__(self, task: RepositoryTask, commands: CommandPool, *, seed: int = 0) -> None:
        self.task, self._commands = task, commands
        self.probes = tuple(probes_of(task, seed=seed))
        self._right: list[Trace] | None = None

    async def why_wrong(self, files: Mapping[str, bytes]) -> Evidence | None:
        """The first difference from the reference's behaviour; None where there is none or it
        cannot be told. `files` are all declared files as they were handed in."""
        if self._right is None:
            right = reference_files(self.task)
            first, again = await self._run(right), await self._run(right)
            self._right = [
                one if one == other and _ran(one) else []
                for one, other in zip(first, again, strict=True)
            ] if first and again else []  # fmt: skip
        if not any(self._right):
            return None
        seen = await self._run(files)
        if not seen:
            text = "the process exits before it answers; the reference answers"
            return Evidence("differs", text)
        for probe, wanted, got in zip(self.probes, self._right, seen, strict=True):
            if wanted and wanted != got:
                return _difference(probe, wanted, got)
        return None

    async def _run(self, files: Mapping[str, bytes]) -> list[Trace]:
        """The traces of every probe; none where the process ended before its end."""
        task, nonce = self.task, secrets.token_hex(8)
        base = {path: data for path, data in task.files.items() if not task.may_change(path)}
        state = self._commands.states.load({**base, **files}, executable=task.executable)
        order = {
            "nonce": nonce,
            "roots": ["/workspace/src", "/workspace"],
            "probes": [[probe.source, [probe.name]] for probe in self.probes],
        }
        command = Command(("python3", "-c", _DRIVER), stdin=json.dumps(order).encode())
        result, _ = await self._commands.run(state, command, limits=_LIMITS)
        if nonce not in result.stdout:
            return []
        try:
            found = json.loads(result.stdout.rpartition(nonce)[2].partition("\n")[0])
        except ValueError:
            return []
        return found if len(found) == len(self.probes) else []


def reference_files(task: RepositoryTask) -> dict[str, bytes]:
    """The declared files with the reference in them."""
    found = {path: data for path, data in task.files.items() if task.may_change(path)}
    for path, text in task.reference.items():
        if text is None:
            found.pop(path, None)
        else:
            found[path] = text.encode(errors="surrogateescape")
    return found


def _ran(trace: Trace) -> bool:
    """True for a probe that saw something and came to its end."""
    return bool(trace) and trace[-1][0] != -1


def _filled(trace: Trace, count: int) -> Trace:
    """The trace with a mark for everything that it did not come to."""
    missing: Trace = [[-1, "nothing"] for _ in range(count)]
    return [*trace, *missing]


def _difference(probe: BehaviourProbe, wanted: Trace, got: Trace) -> Evidence:
    for right, seen in zip(wanted, _filled(got, len(wanted)), strict=False):
        if right != seen:
            number: int = right[0]
            expression = probe.expressions[number]
            text = f"it behaves differently from the reference: {expression} gives another result"
            return Evidence("differs", text, expression, str(right[1]), str(seen[1]))
    return Evidence("differs", "it behaves differently from the reference")


_REPLAYS = 2
_MOST_STEP_REWARD = 1e-9
_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Win:
    """A play that was better than it should be, with the proof."""

    attack: EnvironmentAttack
    task: RepositoryTask
    actions: tuple[Sent, ...]
    play: AttackPlay
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class TaskTrial:
    """A task with where it is played and the oracle that knows its reference."""

    task: RepositoryTask
    runner: EpisodeRunner
    oracle: BehaviourOracle
    count: Callable[[], None]
    """Called for each play."""

    async def play(self, attack: EnvironmentAttack, actions: Sequence[Sent]) -> AttackPlay:
        """Play some actions of an attack."""
        self.count()
        return await self.runner.play(self.task, actions, before=before(attack, self.task))

    async def attempt(
        self, attack: EnvironmentAttack, actions: Sequence[Sent] | None = None
    ) -> tuple[AttackPlay, Win | None]:
        """Play an attack, whole or with some of its actions; the proof where it won."""
        chosen = actions_of(attack, self.task) if actions is None else list(actions)
        play = await self.play(attack, chosen)
        evidence = await self._evidence(attack, play)
        if evidence is None:
            return play, None
        return play, Win(attack, self.task, tuple(chosen), play, evidence)

    async def _evidence(self, attack: EnvironmentAttack, play: AttackPlay) -> Evidence | None:
        if play.outcome is EpisodeEnd.UNSCORED:
            text = "the episode ended without a score; neither doing nothing nor the reference does"
            return Evidence("unscored", text)
        if play.step_reward > _MOST_STEP_REWARD:
            text = f"its steps earned a reward of {play.step_reward:.3g} although nothing was done"
            return Evidence("paid_steps", text)
        if play.outcome is not EpisodeEnd.PASSED:
            return None
        wrong = await self.oracle.why_wrong(play.files) if play.files else None
        if wrong is None and (attack.route is AttackRoute.LEAK or attack.accomplice is not None):
            text = "it passes with the solution that the environment left readable"
            return Evidence("leak", text)
        return wrong


async def shortened(trial: TaskTrial, win: Win) -> Win:
    """The win with as few actions as still win, for the same reason."""
    best, at = win, 0
    while at < len(best.actions) and len(best.actions) > 1:
        actions = [*best.actions[:at], *best.actions[at + 1 :]]
        _, fewer = await trial.attempt(win.attack, actions)
        if fewer is not None and fewer.play.outcome is win.play.outcome:
            best = fewer
        else:
            at += 1
    return best


async def replayed(trial: TaskTrial, win: Win) -> bool:
    """True where the same actions win again, each time from scratch."""
    for _ in range(_REPLAYS):
        _, again = await trial.attempt(win.attack, win.actions)
        if again is None or again.play.outcome is not win.play.outcome:
            return False
    return True


def finding_of(win: Win, also: Sequence[str], *, tier: int = 1) -> Finding:
    """The finding of a proven win; `also` are other attacks of the same class that won."""
    rows = f" (row {', '.join(map(str, win.attack.rows))})" if win.attack.rows else ""
    flaw = FLAWS[win.attack.flaw]
    passed = win.play.outcome is EpisodeEnd.PASSED
    return Finding(
        flaw=flaw.id,
        severity=flaw.severity,
        attack=f"{win.attack.route}/{win.attack.name}",
        tier=tier,
        problem=win.task.id,
        witness=witness_of(win.actions),
        score=1.0 if passed else win.play.step_reward,
        threshold=1.0 if passed else 0.0,
        evidence=win.evidence,
        fix=flaw.fix,
        catalogue=f"{win.attack.how}{rows}",
        also=tuple(also),
        kind=FindingKind.HACK,
    )


def witness_of(actions: Sequence[Sent]) -> str:
    """The actions, one line of JSON each, as an agent's tool calls."""
    lines: list[str] = []
    for action in actions:
        if isinstance(action, Action):
            name, arguments = name_of(action), arguments_of(action)
        else:
            name, arguments = action  # pyright: ignore[reportAssignmentType]
        lines.append(json.dumps({"action": name, "arguments": arguments}))
    return "\n".join(lines)[:_CHARS]
