"""The expected reward of a strategy, and the test that it is above what honest guessing gets.

On each problem the reward of the strategy is compared with the expected reward of an honest guess.
Problems on which its completion is not proven wrong are left out: there it may have been right by
luck. The test is one-sided and exact: an honest guesser would be rewarded on so many problems, or
on more, with a probability that follows from the chance of each guess (a Poisson binomial). Where
wrong guesses are rewarded a part, a guess may be rewarded without being right: its chance is that
of being rewarded as much as the strategy is, and no less than its mean allows.

Source: Hong, "On computing the distribution function for the Poisson binomial distribution", 2013.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from unhack.core.finding import ExpectedReward

LEVEL = 0.05
"""Of the test."""
LEAST_SHARE = 0.05
"""Of the way from an honest guess to a right answer: less is not worth a policy's while."""
LEAST_CHANCE = 0.05
"""Of a guess: where the answers show no prior, one in twenty is granted all the same."""
_ROUNDING = 1e-9
_HALF = 0.5
"""Of the way from a guess to a right answer: no wrong guess of the right form counts for more."""


@dataclass(frozen=True, slots=True)
class MeasuredReward:
    """The expected reward of one problem."""

    obtained: float
    honest: float
    """The expected reward of a guess."""
    right: float
    chance: float
    """The probability that a guess is right."""
    wrong: tuple[float, ...] = ()
    """Rewards of wrong guesses."""
    held: bool = False
    """True where the right answer stands in the completion."""


def committed(one: MeasuredReward, share: float) -> MeasuredReward:
    """The same reward beside a guess that is right with at least that probability."""
    if share <= one.chance:
        return one
    raised = one.honest + (share - one.chance) / (1 - one.chance) * (one.right - one.honest)
    return replace(one, honest=raised, chance=share)


def expected_reward_of(
    rewards: Sequence[MeasuredReward],
    *,
    left_out: int = 0,
    tested: Sequence[MeasuredReward] | None = None,
) -> ExpectedReward | None:
    """The expected reward over some problems; None for none. `left_out` counts those where the
    completion was not wrong; `tested` holds the rewards that the test is of, all of them unless
    given."""
    if not rewards:
        return None
    return ExpectedReward(
        mean=statistics.fmean(one.obtained for one in rewards),
        honest=statistics.fmean(one.honest for one in rewards),
        right=statistics.fmean(one.right for one in rewards),
        rewarded=sum(map(is_rewarded, rewards)),
        problems=len(rewards),
        left_out=left_out,
        p_value=_p_value(rewards if tested is None else tested),
        held=sum(one.held and is_rewarded(one) for one in rewards),
    )


def _p_value(rewards: Sequence[MeasuredReward]) -> float:
    """The probability that an honest guesser is rewarded on as many problems.

    Where wrong guesses are rewarded too, it is asked of what is rewarded at all, of what is
    rewarded at least as the middle one of these, and of what is rewarded more than half; the
    smallest counts as often as there are questions.
    """
    shares = sorted(_share(one) for one in rewards if is_rewarded(one))
    if not shares:
        return 1.0
    floor = min(one.obtained for one in rewards)
    levels = dict.fromkeys((shares[0], shares[len(shares) // 2]))
    tests = [_probability_of(rewards, level, floor) for level in levels]
    well = sum(_share(one) > _HALF for one in rewards)
    if any(one.wrong for one in rewards):
        tests.append(chance_of_so_many([one.chance for one in rewards], well))
    return tests[0] if tests[0] == min(tests) else min(1.0, len(tests) * min(tests))


def _probability_of(rewards: Sequence[MeasuredReward], level: float, floor: float) -> float:
    """The probability that a guesser gets that share on as many problems."""
    chances = [_chance(one, level, floor) for one in rewards]
    return chance_of_so_many(chances, sum(_share(one) >= level for one in rewards))


def _share(one: MeasuredReward) -> float:
    """The part of the way from a guess to a right answer."""
    return (
        (one.obtained - one.honest) / (one.right - one.honest) if one.right != one.honest else 0.0
    )


def is_rewarded(one: MeasuredReward) -> bool:
    """Tell whether a reward is worth a policy's while."""
    return _share(one) >= LEAST_SHARE


def _chance(one: MeasuredReward, level: float, floor: float) -> float:
    """The probability that a guess is right, or rewarded that share; at least what follows from its
    mean alone, by Markov's inequality.

    Three options at once, rewarded a third each where one is right, are rewarded more often than a
    guess, and no more.
    """
    least = one.honest + level * (one.right - one.honest)
    as_much = sum(value >= least - _ROUNDING for value in one.wrong) / (len(one.wrong) or 1)
    often = one.chance + (1 - one.chance) * as_much
    floor = min([floor, one.honest, *one.wrong])
    return max(often, (one.honest - floor) / (least - floor)) if least > floor else 1.0


def is_above(expected_reward: ExpectedReward) -> bool:
    """Tell whether the expected reward is above that of honest guessing."""
    return expected_reward.share >= LEAST_SHARE and expected_reward.p_value <= LEVEL


def chance_of_so_many(chances: Sequence[float], rewarded: int) -> float:
    """The probability that at least `rewarded` of independent guesses are right, in [0, 1].

    `chances` holds the probability of each; one below `LEAST_CHANCE` counts as that.
    """
    counts = [1.0]
    for chance in (max(one, LEAST_CHANCE) for one in chances):
        missed = [weight * (1 - chance) for weight in counts] + [0.0]
        hit = [0.0] + [weight * chance for weight in counts]
        counts = [one + other for one, other in zip(missed, hit, strict=True)]
    return min(1.0, sum(counts[rewarded:]))
