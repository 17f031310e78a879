"""A recorded run played again in the sealed environment, judged, and compared step by step.

    played = await replay(task, read_trajectory(path))
    played.finished.outcome, played.gaps, [step.likeness() for step in played.steps]

Covered: whatever no action stands for is a gap with its reason, and with one the verdict is of
something else than the run; the work is handed in at the end of the file, however often the agent
said that it was done.
Not covered: programs that take keys while they run; the time that a step took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unhack.environments.environment import EpisodeTask, RepositoryWorkshop
from unhack.environments.episode import Episode, EpisodeLimits
from unhack.environments.episode_pool import FinishedEpisode, play_all
from unhack.environments.files.file_tools import is_folder
from unhack.environments.players.foreign_tools import ENDS, VIEW, NoActionError, action_for
from unhack.environments.report import transcript
from unhack.environments.report.atif import RecordedRun, TrajectoryStep
from unhack.environments.sources.loaders.harbor import HarborTask

Sent = tuple[str, Mapping[str, Any]] | str
"""An action as it is sent; a text is none, and refused as it was."""
_COMMAND_S = 60.0
_MOST_SHOWN = 200
_SILENT = ("write", "edit", "submit")


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """One step of a recorded run, what was played for it, and what came of it."""

    recorded: TrajectoryStep
    actions: tuple[Sent, ...] = ()
    gaps: tuple[str, ...] = ()
    """Calls that no action stands for, with the reasons."""
    passed_over: tuple[str, ...] = ()
    """Tools whose calls change no file."""
    answer: str = ""
    refused: bool = False
    """True where an action was not carried out now."""

    def likeness(self, *, exact: bool = False) -> tuple[str, str, str]:
        """`same`, `within` (the record has every line, and more), `differs`, or for what says no
        more than that it was done, in words of its own: `done`, `refused`; `unknown` without a
        record or an action. Then the first lines that differ: the recorded one, the one of now.

        `exact` where the record is of this package, and so in the same words."""
        if self.recorded.answer is None or not self.actions:
            return "unknown", "", ""
        before, now = (_lines(text, exact) for text in (self.recorded.answer, self.answer))
        if before == now:
            return "same", "", ""
        pairs = zip([*before, ""], [*now, ""], strict=False)
        first, second = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        if not exact:
            if self.refused or all(action[0] in _SILENT for action in self.actions):
                return ("refused", first, "".join(now[:1])) if self.refused else ("done", "", "")
            left = iter(before)
            second = next((line for line in now if line not in left), "")
            if not second:
                return "within", "", ""
        return "differs", first[:_MOST_SHOWN], second[:_MOST_SHOWN]


def _lines(text: str, exact: bool) -> list[str]:
    """The lines to compare, without seconds; of another harness, neither empty ones nor our own way
    to end."""
    gap = " " if exact else None
    lines = [
        " ".join(_without_seconds(word) for word in line.split(gap)) for line in text.split("\n")
    ]
    return [one for one in lines if exact or (one and not one.startswith("[exit code "))]


def _without_seconds(word: str) -> str:
    return "… s" if word.endswith("s") and word[:-1].replace(".", "", 1).isdigit() else word


@dataclass(frozen=True, slots=True)
class ReplayedRun:
    """A recorded run that was played again.

    Example:

        played = await replay(task, read_trajectory(path))
        not played.gaps and played.finished.solved
    """

    run: RecordedRun
    steps: tuple[ReplayedStep, ...]
    finished: FinishedEpisode
    gaps: tuple[tuple[int, str], ...] = ()
    """(step, reason) of everything that was not played; empty where the verdict is of the run."""

    def to_json(self) -> dict[str, Any]:
        """The replay as plain JSON values."""
        values = transcript.as_values(self.finished)
        del values["turns"], values["index"]
        values["gaps"] = [{"step": number, "reason": why} for number, why in self.gaps]
        values["steps"] = [
            {
                "step": step.recorded.number,
                "actions": [action[0] for action in step.actions if isinstance(action, tuple)],
                "passed_over": list(step.passed_over),
                **dict(zip(("likeness", "recorded", "replayed"), step.likeness(exact=self.run.ours),
                           strict=True)),
            }
            for step in self.steps
        ]  # fmt: skip
        return values


class RecordedPlayer:
    """Plays given actions in their order, then hands in."""

    def __init__(self, actions: Sequence[Sent]) -> None:
        self._actions = actions

    async def act(self, episode: Episode) -> Any:
        """The next action."""
        at = len(episode.turns)
        action: Sent = self._actions[at] if at < len(self._actions) else ("submit", {})
        if isinstance(action, tuple) and action[0] == VIEW:
            path = action[1]["path"]
            listed = is_folder(episode.state, path)
            action = ("list", {"path": path, "depth": 2}) if listed else ("read", action[1])
        return action


def plan(run: RecordedRun, *, workdir: str = "") -> tuple[ReplayedStep, ...]:
    """The actions of every step of a run, and what no action stands for."""
    last = max((step.number for step in run.steps if step.calls), default=0)
    return tuple(_planned(step, run, workdir, last=step.number == last) for step in run.steps)


def _planned(step: TrajectoryStep, run: RecordedRun, workdir: str, *, last: bool) -> ReplayedStep:
    if run.ours:
        refused = (step.said,) if step.answer is not None and not step.calls else ()
        return ReplayedStep(step, (*step.calls, *refused))
    actions: list[Sent] = []
    gaps = [step.gap] if step.gap else []
    passed: list[str] = []
    for at, (name, arguments) in enumerate(step.calls):
        action: Sent | None
        try:
            action = action_for(name, arguments, agent=run.agent, workdir=workdir)
        except NoActionError as error:
            gaps.append(f"{name}: {error}")
            continue
        if name in ENDS and last and at == len(step.calls) - 1:
            action = "submit", {}
        if action is None:
            passed.append(name)
        else:
            actions.append(action)
    return ReplayedStep(step, tuple(actions), tuple(gaps), tuple(passed))


async def replay(task: EpisodeTask, run: RecordedRun, *, workdir: str | None = None) -> ReplayedRun:
    """Play a recorded run again on a task. `workdir`: see `foreign_tools.action_for`; None for that
    of a Harbor folder without an image of its own, where absolute paths are not those of files."""
    if workdir is None:
        workdir = task.workdir if isinstance(task, HarborTask) and not task.image else ""
    steps = plan(run, workdir=workdir)
    actions = tuple(action for step in steps for action in step.actions)
    limits = EpisodeLimits(turns=len(actions) + 1, commands_s=max(600.0, _COMMAND_S * len(actions)))
    async with RepositoryWorkshop(slots=1, limits=limits) as workshop:
        [finished] = [
            one async for one in play_all(workshop, [task], RecordedPlayer(actions), at_once=1)
        ]
    answers = [turn.result.observation for turn in finished.turns]
    gaps = [(step.recorded.number, why) for step in steps for why in step.gaps]
    if run.continued_in:
        gaps.append((len(run.steps), f"it goes on in {run.continued_in}, which is not played"))
    if len(answers) < len(actions):
        count = len(actions) - len(answers)
        gaps.append((len(run.steps), f"the episode had ended before the last {count} calls"))
    played: list[ReplayedStep] = []
    for step in steps:
        mine, answers = answers[: len(step.actions)], answers[len(step.actions) :]
        refused = any(one.refusal is not None for one in mine)
        text = "\n".join(one.text for one in mine)
        played.append(replace(step, answer=text, refused=refused))
    return ReplayedRun(run, tuple(played), finished, tuple(gaps))
