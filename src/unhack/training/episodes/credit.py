"""Credit: the advantage of each turn of each episode, when the policy decides when to stop.

Notation: turn t = 0..T-1 of episode i, state s_t, reward r_t, return to go
G_t = Σ_k (γλ)^k r_{t+k}.

| estimator | advantage of a turn | source |
|---|---|---|
| leave_one_out | G_t - mean of G_t of the *other* episodes in the same state at turn t, or
  else of those of the same start that still run at turn t, or else 0 | RLOO 2402.14740, by state |
| vineppo | r_t + γ V(s_{t+1}) - V(s_t), V(end) = 0, V the mean return of K continuations forked
  from the state | 2410.01679 |
| gigpo | A_E + ω A_S; A_E = Σ r - its mean over the group; A_S = G_t - its mean over all
  turns of the group in the same state, at whatever turn | 2505.10978 |

Nothing is divided by a deviation, an episode's length or a count that the policy chooses: the loss
divides by a constant. `scale` brings back GiGPO's deviation. λ (`trace`) is 1 in an unbiased
estimate. Below 1, with rewards shaped by a potential, G_t is the generalised advantage (1506.02438)
with the potential as its critic: Σ_k (γλ)^k (r + γΦ' - Φ). Dense credit then costs bias, as far as
the potential is not the value: ending is put off where the potential promises more than the
outcome. At λ = 1 a shaped return to go is the plain one less Φ(s_t): a baseline, and no news of
which action made progress.

Not offered: means per turn index (MT-GRPO style). The number of its baseline terms depends on the
action "stop", so it reaches -0.83 times the true gradient in a game whose turns earn 0.3 each, and
-0.25 where 0 is right (exact enumeration, in the tests). A group's deviation makes up to 12 times
the gradient there. GiGPO's means count the turn itself, (G - 1) / G of leave-one-out.

Covered: leave-one-out takes out the whole episode, so that a state visited twice is no baseline of
itself. Not covered: credit within a turn: its tokens share one advantage.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.shaping import check_weight

Peers = Literal["state", "start"]


@dataclass(frozen=True, slots=True)
class Trajectory:
    """An episode as credit sees it."""

    start: str
    """Episodes with the same one began in the same state."""
    states: tuple[str, ...]
    """Id of the state before each turn, [T], such as the hash of its files."""
    rewards: tuple[float, ...]
    """[T]; the outcome is part of the last."""
    values: tuple[float, ...] = ()
    """V(s_t) of the state before each turn, [T], for `vineppo`."""

    def __post_init__(self) -> None:
        if not self.states or len(self.states) != len(self.rewards):
            raise UsageError(
                f"{len(self.states)} states and {len(self.rewards)} rewards: one of each per turn, "
                "at least one turn"
            )


@dataclass(frozen=True, slots=True)
class CreditSettings:
    """The estimator and its constants. Raises UnknownNameError, UsageError.

    Example:

        turn_advantages(played, CreditSettings("gigpo", gamma=0.95, weight=0.5))
    """

    estimator: str = "leave_one_out"
    gamma: float = 1.0
    """Discount of a turn; that of the shaping too."""
    trace: float = 1.0
    """λ: how much of a later reward reaches one turn further back, besides γ."""
    peers: Peers = "state"
    """`leave_one_out`: compare with the same state first, or with all of the same start."""
    weight: float = 1.0
    """`gigpo`: ω."""
    scale: bool = False
    """`gigpo`: divide by the deviation, as its paper does by default."""

    def __post_init__(self) -> None:
        if self.estimator not in ESTIMATORS:
            raise UnknownNameError("turn estimator", self.estimator, valid=ESTIMATORS)
        if not (0.0 < self.gamma <= 1.0 and 0.0 <= self.trace <= 1.0):
            raise UsageError("gamma lies in (0, 1] and trace in [0, 1]")
        if self.peers not in ("state", "start"):
            raise UnknownNameError("peers", self.peers, valid=("state", "start"))
        check_weight(self.weight, "gigpo's turns")


def returns_to_go(rewards: Sequence[float], *, discount: float = 1.0) -> list[float]:
    """G_t = Σ_k discount^k r_{t+k}, [T]."""
    found: list[float] = []
    later = 0.0
    for reward in reversed(rewards):
        later = reward + discount * later
        found.append(later)
    return found[::-1]


def turn_advantages(
    played: Sequence[Trajectory], settings: CreditSettings | None = None
) -> list[list[float]]:
    """The advantage of each turn, in the order of the episodes and their turns.

    The default is leave-one-out by state, γ = λ = 1. Raises UsageError where `vineppo` has no
    values.
    """
    chosen = settings or CreditSettings()
    return ESTIMATORS[chosen.estimator](played, chosen)


def monte_carlo_values(continuations: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """V of each state: the mean return of the continuations forked from it (K of them).

    Raises UsageError for a state without any.
    """
    empty = [state for state, returns in continuations.items() if not returns]
    if empty:
        raise UsageError(f"state {empty[0]} has no continuation, so it has no value")
    return {state: math.fsum(found) / len(found) for state, found in continuations.items()}


def _leave_one_out(played: Sequence[Trajectory], settings: CreditSettings) -> list[list[float]]:
    to_go = [returns_to_go(one.rewards, discount=settings.gamma * settings.trace) for one in played]
    running: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    same: defaultdict[tuple[str, int, str], list[int]] = defaultdict(list)
    for index, one in enumerate(played):
        for turn, state in enumerate(one.states):
            running[one.start, turn].append(index)
            same[one.start, turn, state].append(index)
    found: list[list[float]] = []
    for index, one in enumerate(played):
        advantages: list[float] = []
        for turn, state in enumerate(one.states):
            peers = same[one.start, turn, state] if settings.peers == "state" else []
            if len(peers) < 2:
                peers = running[one.start, turn]
            others = [to_go[other][turn] for other in peers if other != index]
            baseline = math.fsum(others) / len(others) if others else 0.0
            advantages.append(to_go[index][turn] - baseline)
        found.append(advantages)
    return found


def _vineppo(played: Sequence[Trajectory], settings: CreditSettings) -> list[list[float]]:
    found: list[list[float]] = []
    for one in played:
        if len(one.values) != len(one.states):
            raise UsageError(
                f"vineppo needs a value of the state before each of the {len(one.states)} turns, "
                f"from forked continuations; there are {len(one.values)}"
            )
        after = (*one.values[1:], 0.0)
        steps = zip(one.rewards, one.values, after, strict=True)
        found.append([reward + settings.gamma * later - value for reward, value, later in steps])
    return found


def _gigpo(played: Sequence[Trajectory], settings: CreditSettings) -> list[list[float]]:
    to_go = [returns_to_go(one.rewards, discount=settings.gamma * settings.trace) for one in played]
    whole: defaultdict[str, list[float]] = defaultdict(list)
    anchored: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for one, returns in zip(played, to_go, strict=True):
        whole[one.start].append(math.fsum(one.rewards))
        for state, later in zip(one.states, returns, strict=True):
            anchored[one.start, state].append(later)
    return [
        [
            _centred(math.fsum(one.rewards), whole[one.start], scale=settings.scale)
            + settings.weight * _centred(later, anchored[one.start, state], scale=settings.scale)
            for state, later in zip(one.states, returns, strict=True)
        ]
        for one, returns in zip(played, to_go, strict=True)
    ]


def _centred(value: float, among: Sequence[float], *, scale: bool) -> float:
    """The value less the mean; a lone one gives 0, and so do values that are all the same."""
    if min(among) == max(among):
        return 0.0
    distance = value - math.fsum(among) / len(among)
    return distance / statistics.stdev(among) if scale else distance


ESTIMATORS: dict[str, Callable[[Sequence[Trajectory], CreditSettings], list[list[float]]]] = {
    "leave_one_out": _leave_one_out,
    "vineppo": _vineppo,
    "gigpo": _gigpo,
}
