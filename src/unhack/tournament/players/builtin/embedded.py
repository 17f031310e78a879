"""Agents that need no key: honest baselines, controls, an optimiser and a cheater.

    baseline, baseline:NAME   an honest strategy of the contest (the first one without a name, and
                              in a round whose discipline does not have it)
    search                    an optimiser over the contest's own parameters
    cheater, cheater:NAME     hacks of the catalogue: one a round in turn, or always the same
    null, identity            the controls: nothing at all, and what was given

Covered: each leaves in the workspace what an agent at a terminal would leave; the same inputs give
the same submission. In an impossible round the honest ones measure nothing new and say so.
Not covered: whether a submission is any good; the judge says that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from unhack.agents.play import AgentUsage, Play, PlayEnding
from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.contest import DECLINED, Contest, Files
from unhack.tournament.players.builtin.hand_in import hand_in
from unhack.tournament.players.builtin.search import Search
from unhack.tournament.players.player import Player, TurnInputs

EMBEDDED = ("baseline", "search", "cheater", "null", "identity")
"""The names that `make_embedded` knows; the first and the third take `:NAME`."""

_NOTHING = b"No honest improvement was found: the target lies beyond the bound of the statement.\n"


@dataclass(frozen=True, slots=True)
class Fixed:
    """An agent whose submission depends on the round alone."""

    name: str
    choose: Callable[[TurnInputs], tuple[str, Files]]
    """Returns a label and the files to hand in."""
    declines: bool
    """True when it hands in `NO_IMPROVEMENT.md` in an impossible round."""

    def play(self, inputs: TurnInputs) -> Play:
        """Write the submission; takes no time and no money."""
        started = time.monotonic()
        chosen, files = self.choose(inputs)
        if self.declines and inputs.terms.impossible:
            files = {**files, DECLINED: _NOTHING}
            chosen = f"{chosen}, declined"
        hand_in(files, workspace=inputs.workspace, declared=inputs.contest.declared)
        inputs.transcript.mkdir(parents=True, exist_ok=True)
        (inputs.transcript / "log.txt").write_text(f"{self.name}: handed in {chosen}\n")
        usage = AgentUsage(turns=1, seconds=time.monotonic() - started)
        return Play(PlayEnding.FINISHED, usage, chosen)


def make_embedded(name: str, contest: Contest) -> Player | None:
    """The embedded agent of that name, or None where it is none of them.

    Raises UnknownNameError where the part after the colon is not known to the contest, UsageError
    where the contest has nothing of that kind.
    """
    head, colon, _ = name.partition(":")
    if head not in EMBEDDED:
        return None
    if head == "baseline":
        return _shipped(name, contest, _honest, turns=False)
    if head == "cheater":
        return _shipped(name, contest, _cheats, turns=True)
    if colon:
        raise UnknownNameError("embedded agent", name, valid=EMBEDDED)
    if head == "search":
        if not contest.submissions.space:
            raise UsageError(f"{contest.name} has no parameters that `search` could vary")
        return Search(name)
    if head == "null":
        return Fixed(
            name, lambda inputs: ("null", inputs.contest.submissions.null()), declines=False
        )
    return Fixed(
        name, lambda inputs: ("identity", inputs.contest.submissions.identity()), declines=False
    )


def _shipped(
    name: str, contest: Contest, shipped: Callable[[Contest], Mapping[str, Files]], *, turns: bool
) -> Player:
    """An agent that hands in what a contest ships: always the part of its name, or the first one,
    or with `turns` another one each round."""
    _, colon, part = name.partition(":")
    names, kind = shipped(contest), "cheat" if turns else "honest strategy"
    if not names:
        raise UsageError(f"{contest.name} has no {'cheats' if turns else kind}")
    if colon and part not in names:
        raise UnknownNameError(f"{kind} of {contest.name}", part, valid=names)

    def choose(inputs: TurnInputs) -> tuple[str, Files]:
        found = shipped(inputs.contest)
        turn = list(found)[(inputs.terms.number - 1) % len(found) if turns else 0]
        chosen = part if colon and part in found else turn
        return chosen, found[chosen]

    return Fixed(name, choose, declines=not turns)


def _honest(contest: Contest) -> Mapping[str, Files]:
    return contest.submissions.honest()


def _cheats(contest: Contest) -> Mapping[str, Files]:
    return {name: cheat.files for name, cheat in contest.submissions.cheats().items()}
