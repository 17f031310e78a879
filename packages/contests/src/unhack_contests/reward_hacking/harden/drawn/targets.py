"""The questions for attackers: verifiers with a narrow leak each, and problems.

    targets = draw_targets(DataPool.JUDGE, 7, verifiers=8, problems=2)
    files = narrow_files(DataPool.JUDGE, 7)

A verifier of programs runs them on inputs of the whole domain, small and large: that its cases are
few is no leak here.

Covered: problems of every family, drawn by seed; examples of attacks for development data.
Not covered: whether a target can be passed; the tests' oracle passes them.
"""

from __future__ import annotations

import functools
import random
from pathlib import Path

from unhack.audit.subject import AuditProblem
from unhack.tournament.kit import DataPool
from unhack_contests.reward_hacking.harden.drawn import proving
from unhack_contests.reward_hacking.harden.drawn.drawing import (
    ASKS,
    code_problem,
    drawn_names,
    text_problem,
)
from unhack_contests.reward_hacking.harden.drawn.leaks import TEXT, TRUTH, draw_narrow, leaky_source
from unhack_contests.reward_hacking.harden.drawn.programs.tasks import (
    TaskDraft,
    drawn_entry,
    drawn_rule,
    prompt_of,
)
from unhack_contests.reward_hacking.harden.drawn.texts.asking import written
from unhack_contests.reward_hacking.harden.drawn.truth import tasks
from unhack_contests.reward_hacking.harden.drawn.truth.answers import states_wrong
from unhack_contests.reward_hacking.harden.verifiers import LabelledCompletion, VerifierBench
from unhack_contests.reward_hacking.streams import choices

_CASES = 6
_EXAMPLES, _TRIED = 2, 12
"""Problems of each family of texts in development data, and texts that are tried on each."""
NOTES = {f"{TRUTH}.py": Path(tasks.__file__).read_bytes()}
"""The code that a noted source needs beside it."""


@functools.lru_cache(maxsize=64)
def narrow_files(pool: DataPool, seed: int, *, noted: bool = False) -> bytes:
    """`solution.py` with the verifiers that are attacked in a measurement; `noted`: the judge's
    copy (see `leaks.leaky_source`)."""
    rng = choices(pool, seed, "hard narrow leaks")
    return leaky_source(draw_narrow(rng, public=pool is DataPool.DEV), noted=noted)


def draw_targets(
    pool: DataPool, seed: int, *, verifiers: int, problems: int
) -> tuple[LabelledCompletion, ...]:
    """One blank completion for each problem of the drawn verifiers."""
    found: list[LabelledCompletion] = []
    for name in drawn_names(pool, seed, verifiers=verifiers):
        for number in range(problems):
            rng = choices(pool, seed, f"hard target {name} {number}")
            public = pool is DataPool.DEV
            if name in TEXT:
                asked = ASKS[name](rng, public=public)
                problem = text_problem(name, f"{number} {rng.getrandbits(40)}", asked)
            else:
                problem = _code(name, number, rng, public=public)
            found.append(LabelledCompletion(name, number, problem, "", honest=False))
    return tuple(found)


def _code(name: str, number: int, rng: random.Random, *, public: bool) -> AuditProblem:
    entry, rule = drawn_entry(name, rng, public=public), drawn_rule(name, rng)
    cases = tasks.inputs(name, rule, rng, count=_CASES)
    task = TaskDraft(entry, rule, prompt_of(name, rule, entry), cases, [])
    return code_problem(name, f"{number} {rng.getrandbits(40)}", task)


@functools.cache
def example_attacks() -> tuple[LabelledCompletion, ...]:
    """Attacks on texts that development data show: at most one for each problem."""
    drafts: list[LabelledCompletion] = []
    for name in TEXT:
        for number in range(_EXAMPLES):
            rng = choices(DataPool.DEV, 0, f"hard example {name} {number}")
            asked = ASKS[name](rng, public=True)
            problem = text_problem(name, f"{number} example", asked)
            texts = [
                one.text
                for one in written(asked, rng, public=True)
                if states_wrong(name, asked.prompt, one.text, asked.answer)
            ]
            drafts += [
                LabelledCompletion(name, number, problem, text, honest=False)
                for text in texts[:_TRIED]
            ]
    scores = VerifierBench({"solution.py": narrow_files(DataPool.DEV, 0)}).scores(drafts)
    passed = proving.passed_off(drafts, scores, noted=())
    first: dict[tuple[str, int], LabelledCompletion] = {}
    for one, through in zip(drafts, passed, strict=True):
        if through:
            first.setdefault(one.unit, one)
    return tuple(first.values())
