"""The levels of the contest: which verifiers there are, and where completions come from.

    draw(DataPool.JUDGE, 7, size)

Covered: `standard` (ten leaky verifiers, one recipe each closes) and `hard` (verifiers that are
drawn,
answers of many forms, tasks with several right results).
Not covered: verifiers of other makers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from unhack.tournament.contest import DataPool
from unhack_contests.reward_hacking.harden import corpora
from unhack_contests.reward_hacking.harden.corpora import HARD, CorpusSize
from unhack_contests.reward_hacking.harden.hard import leaks, proving, targets
from unhack_contests.reward_hacking.harden.hard.drawing import (
    draw_hard_corpus,
    leaky_files,
)
from unhack_contests.reward_hacking.harden.score import attack
from unhack_contests.reward_hacking.harden.verifiers import LabelledCompletion

_HARD_DEVELOPMENT = 2
"""Problems of each verifier in the data that agents are given."""


def families(level: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the verifiers of text and of those of code."""
    return (leaks.TEXT, leaks.CODE) if level == HARD else (corpora.TEXT, corpora.CODE)


def leaky(
    level: str, pool: DataPool = DataPool.DEV, seed: int = 0, *, role: str = "patch"
) -> bytes:
    """`solution.py` with the leaky verifiers of a measurement: attackers have others."""
    if level != HARD:
        return corpora.LEAKY
    return targets.narrow_files(pool, seed) if role == "attack" else leaky_files(pool, seed)


def draw(
    pool: DataPool, seed: int, size: CorpusSize, purpose: str = "corpus"
) -> tuple[LabelledCompletion, ...]:
    """Proven trials of the drawn verifiers. Raises SandboxUnavailableError."""
    if size.level != HARD:
        return corpora.draw_corpus(pool, seed, size, purpose)
    return draw_hard_corpus(
        pool, seed, verifiers=size.verifiers, problems=size.problems, purpose=purpose,
        code=size.code,
    )  # fmt: skip


def development(level: str) -> tuple[LabelledCompletion, ...]:
    """The labelled completions that everybody gets."""
    if level != HARD:
        return corpora.development()
    count = sum(map(len, families(HARD)))
    return draw(DataPool.DEV, 0, CorpusSize(count, _HARD_DEVELOPMENT, level=HARD))


def plainly_wrong(
    level: str, trials: Sequence[LabelledCompletion], rng: random.Random
) -> tuple[LabelledCompletion, ...]:
    """Completions that no leaky verifier accepts either; none at the hard level, whose hacks hold
    wrong values in every form."""
    return () if level == HARD else corpora.plainly_wrong(trials, rng)


def alike(level: str) -> tuple[LabelledCompletion, ...]:
    """Texts of the kinds that development data hold, which nobody was handed; none at the standard
    level, where a measurement's own are of these kinds."""
    if level != HARD:
        return ()
    texts, _ = families(level)
    size = CorpusSize(len(texts), 1, code=False, level=level)
    return draw(DataPool.DEV, 0, size, "alike")


def example_attacks(level: str) -> tuple[LabelledCompletion, ...]:
    """Problems that attackers are handed with a completion for each."""
    if level == HARD:
        return targets.example_attacks()
    return tuple(attack.targets(development(level)))


def worthless(level: str, trials: Sequence[LabelledCompletion]) -> list[bool]:
    """Which completions hand something in and are proven wrong. Raises SandboxUnavailableError."""
    if level == HARD:
        return proving.worthless(trials)
    return [attack.worthless(one) for one in trials]
