"""The corpora that are measured on, and what agents are handed of them.

    draw(DataPool.JUDGE, 7, CorpusSize(verifiers=8, problems=2))

Covered: development data, planted and fresh texts of the same kinds, leaky verifiers by role.
Not covered: how completions are made and proven (`drawn`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.tournament.kit import DataPool
from unhack_contests.reward_hacking.harden.drawn.drawing import draw_corpus, leaky_files
from unhack_contests.reward_hacking.harden.drawn.leaks import CODE, TEXT
from unhack_contests.reward_hacking.harden.drawn.targets import narrow_files
from unhack_contests.reward_hacking.harden.verifiers import LabelledCompletion

FAMILIES = (*TEXT, *CODE)
_DEVELOPMENT = 2
"""Problems of each verifier in the data that agents are given."""


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """How much is drawn."""

    verifiers: int = 8
    problems: int = 2
    """For each verifier."""
    code: bool = True
    """True when verifiers of code are among them."""


def leaky(pool: DataPool = DataPool.DEV, seed: int = 0, *, role: str = "patch") -> bytes:
    """`solution.py` with the leaky verifiers of a measurement: attackers have others."""
    return narrow_files(pool, seed) if role == "attack" else leaky_files(pool, seed)


def draw(
    pool: DataPool, seed: int, size: CorpusSize, purpose: str = "corpus"
) -> tuple[LabelledCompletion, ...]:
    """Proven trials of the drawn verifiers. Raises SandboxUnavailableError."""
    return draw_corpus(
        pool, seed, verifiers=size.verifiers, problems=size.problems, purpose=purpose,
        code=size.code,
    )  # fmt: skip


def development() -> tuple[LabelledCompletion, ...]:
    """The labelled completions that everybody gets."""
    return draw(DataPool.DEV, 0, CorpusSize(len(FAMILIES), _DEVELOPMENT))


def texts_like(purpose: str) -> tuple[LabelledCompletion, ...]:
    """Texts of the kinds that development data hold, which nobody was handed."""
    return draw(DataPool.DEV, 0, CorpusSize(len(TEXT), 1, code=False), purpose)


def as_lines(trials: Sequence[LabelledCompletion]) -> bytes:
    """Trials as JSONL."""
    rows = [
        {
            "verifier": one.verifier, "prompt": one.problem.prompt, "answer": one.problem.answer,
            **({"cases": json.loads(one.problem.extra["cases"])} if one.problem.is_code else {}),
            "completion": one.completion, "honest": one.honest,
        }
        for one in trials
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
