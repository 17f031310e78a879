"""The world `repairs`: a faulty package, a few turns, hidden tests that decide.

Covered: states are values (files, open files, last report), so a fork is the state itself; an
episode cut by its turns is judged as its files stand, by the same judge; step potentials look at
the dev tests alone. Not covered: free edits; a fix chooses an operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from unhack.models import tokenizer
from unhack.training.worlds.turns import TurnResult
from unhack_study.repairs.actions import RepairAction, parse_action
from unhack_study.repairs.judging import Repair, TreeJudge, TreeVerdict, tree_hash

STOP = ord("\n")
PAD = 0
LONGEST = len("fix 1 and\n")
TURNS = 8


@dataclass(frozen=True, slots=True)
class RepairState:
    """A moment of an episode."""

    repair: Repair
    operators: tuple[str, ...]
    """At the sites of the files, which follow from them."""
    opened: frozenset[int] = frozenset()
    """Files whose site is shown."""
    report: str = "?"
    """Of the last run of the visible tests; `?` where there is none of these files."""
    left: int = TURNS
    refused: bool = False
    """The last action could not be done."""

    @property
    def files(self) -> dict[str, str]:
        """Path -> source."""
        return self.repair.package.files(self.operators)


class RepairsWorld:
    """Packages to be repaired in `max_turns` turns."""

    name = "repairs"
    vocabulary = tokenizer.VOCABULARY
    pad, stop, max_new = PAD, STOP, LONGEST

    def __init__(self, judge: TreeJudge, *, max_turns: int = TURNS) -> None:
        self._judge, self.max_turns = judge, max_turns

    def start(self, repair: Repair) -> RepairState:
        """The state in which a task begins."""
        return RepairState(repair, repair.package.faulty, left=self.max_turns)

    def task_id(self, state: RepairState) -> str:
        """See `TurnWorld.task_id`."""
        return state.repair.id

    def state_id(self, state: RepairState) -> str:
        """See `TurnWorld.state_id`."""
        return _state_id(state.repair, state.operators)

    def prompt(self, state: RepairState) -> tuple[int, ...]:
        """See `TurnWorld.prompt`."""
        return tuple(view(state).encode())

    def potentials(self, states: Sequence[RepairState]) -> list[float]:
        """The shares of dev tests that pass."""
        return [verdict.dev for verdict in self._verdicts(states)]

    def act(
        self, states: Sequence[RepairState], actions: Sequence[Sequence[int]]
    ) -> list[TurnResult[RepairState]]:
        """See `TurnWorld.act`. The stop token may be left out of an action."""
        read = [parse_action(_text(action)) for action in actions]
        after = [_changed(state, action) for state, action in zip(states, read, strict=True)]
        verdicts = self._verdicts(after)
        return [
            _result(state, action, verdict)
            for state, action, verdict in zip(after, read, verdicts, strict=True)
        ]

    def _verdicts(self, states: Sequence[RepairState]) -> list[TreeVerdict]:
        return self._judge.judge(
            [state.repair for state in states], [state.operators for state in states]
        )


def view(state: RepairState) -> str:
    """The text that the policy reads."""
    sites = state.repair.package.sites
    lines = [
        f"{site.function} {chosen}" if index in state.opened else "?"
        for index, (site, chosen) in enumerate(zip(sites, state.operators, strict=True))
    ]
    refused = "no " if state.refused else ""
    return "\n".join([*lines, f"{refused}{state.report} {state.left}>"])


def _text(action: Sequence[int]) -> str:
    """The line before the stop token."""
    return bytes(action).partition(b"\n")[0].decode("ascii", "replace")


def _changed(state: RepairState, action: RepairAction) -> RepairState:
    """The state after an action, the report of tests apart."""
    after = replace(state, left=state.left - 1, refused=False)
    sites = state.repair.package.sites
    match action.act:
        case "read" if action.site < len(sites):
            return replace(after, opened=state.opened | {action.site})
        case "fix" if action.site in state.opened:
            if action.operator in sites[action.site].options:
                chosen = list(state.operators)
                chosen[action.site] = action.operator
                return replace(after, operators=tuple(chosen), report="?")
        case "test" | "submit":
            return after
        case _:
            pass
    return replace(after, refused=True)


def _result(
    state: RepairState, action: RepairAction, verdict: TreeVerdict
) -> TurnResult[RepairState]:
    if action.act == "test":
        state = replace(state, report="".join("F."[passed] for passed in verdict.visible))
    handed_in = action.act == "submit"
    ended = handed_in or state.left == 0
    return TurnResult(
        state,
        potential=verdict.dev,
        ended=ended,
        cut=ended and not handed_in,
        outcome=float(verdict.solved) if ended else None,
    )


@lru_cache(maxsize=65536)
def _tree(files: tuple[tuple[str, str], ...]) -> str:
    return tree_hash(dict(files))


def _state_id(repair: Repair, operators: tuple[str, ...]) -> str:
    return _tree(tuple(sorted(repair.package.files(operators).items())))
