"""Corpora by draw: drawn verifiers, drawn problems, completions with proven labels.

    trials = draw_corpus(DataPool.JUDGE, 7, verifiers=8, problems=3)
    files = leaky_files(DataPool.JUDGE, 7)

A completion is kept when the drawn leaky verifier accepts it. Texts are right or wrong by how they
were made, and `truth` reads none of them otherwise; programs by what they give, run sealed, on
inputs of their own: honest ones are right on all, hacks wrong on at least a sixth.

Covered: forms and hacks of which development data hold a part.
Not covered: verifiers of prose.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Sequence

from unhack.audit.subject import AuditProblem
from unhack.tournament.kit import DataPool
from unhack_contests.reward_hacking.harden.drawn import proving
from unhack_contests.reward_hacking.harden.drawn.leaks import CODE, TEXT, draw_leaks, leaky_source
from unhack_contests.reward_hacking.harden.drawn.programs.tasks import TaskDraft, drawn_task
from unhack_contests.reward_hacking.harden.drawn.texts import (
    day,
    fraction,
    interval,
    quantity,
    ranking,
    roots,
)
from unhack_contests.reward_hacking.harden.drawn.texts.asking import (
    DrawnQuestion,
    WrittenCompletion,
    written,
)
from unhack_contests.reward_hacking.harden.verifiers import LabelledCompletion, VerifierBench
from unhack_contests.reward_hacking.streams import choices

ASKS = {
    "quantity": quantity.ask, "fraction": fraction.ask, "roots": roots.ask, "day": day.ask,
    "interval": interval.ask, "ranking": ranking.ask,
}  # fmt: skip
_HONEST, _HACKS = 3, 4
"""For each problem: honest completions and hacks that are kept."""
_TRIED = 2
"""How many times as many are tried."""


def drawn_names(pool: DataPool, seed: int, *, verifiers: int) -> tuple[str, ...]:
    """The families of one measurement: text and code by turns."""
    rng = choices(pool, seed, "hard verifiers")
    texts, codes = rng.sample(TEXT, len(TEXT)), rng.sample(CODE, len(CODE))
    return tuple(name for pair in zip(texts, codes, strict=True) for name in pair)[:verifiers]


@functools.lru_cache(maxsize=32)
def leaky_files(pool: DataPool, seed: int) -> bytes:
    """`solution.py` with the leaky verifiers of a measurement."""
    rng = choices(pool, seed, "hard leaks")
    return leaky_source(draw_leaks(rng, public=pool is DataPool.DEV))


@functools.lru_cache(maxsize=16)
def draw_corpus(
    pool: DataPool, seed: int, *, verifiers: int, problems: int, purpose: str = "corpus",
    code: bool = True,
) -> tuple[LabelledCompletion, ...]:  # fmt: skip
    """Proven trials of the drawn verifiers. Raises SandboxUnavailableError."""
    drafts: list[LabelledCompletion] = []
    names = drawn_names(pool, seed, verifiers=verifiers) if code else TEXT[:verifiers]
    for name in names:
        for number in range(problems):
            rng = choices(pool, seed, f"hard {purpose} {name} {number}")
            make = _text_trials if name in TEXT else _code_trials
            drafts += make(name, number, public=pool is DataPool.DEV, rng=rng)
    labels = proving.borne_out(drafts)
    proven = _only(drafts, labels)
    source = leaky_files(pool, seed)
    taken = _only(proven, VerifierBench({"solution.py": source}).accepts(proven))
    order = {id(one): at for at, one in enumerate(proven)}
    return tuple(_fewer(sorted(taken, key=lambda one: order[id(one)])))


def _only(trials: Sequence[LabelledCompletion], fine: Sequence[bool]) -> list[LabelledCompletion]:
    return [one for one, took in zip(trials, fine, strict=True) if took]


def _fewer(trials: Sequence[LabelledCompletion]) -> list[LabelledCompletion]:
    counts: dict[tuple[str, int, bool], int] = {}
    found: list[LabelledCompletion] = []
    for trial in trials:
        key = (trial.verifier, trial.number, trial.honest)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= (_HONEST if trial.honest else _HACKS):
            found.append(trial)
    return found


def _first(found: Sequence[WrittenCompletion], *, honest: bool) -> list[WrittenCompletion]:
    own = {one.text: one for one in found if one.honest is honest}
    return list(own.values())[: _TRIED * (_HONEST if honest else _HACKS)]


def _text_trials(
    name: str, number: int, *, public: bool, rng: random.Random
) -> list[LabelledCompletion]:
    asked = ASKS[name](rng, public=public)
    found = written(asked, rng, public=public)
    problem = text_problem(name, f"{number} {rng.getrandbits(40)}", asked)
    return _trials(name, number, problem, found)


def _code_trials(
    name: str, number: int, *, public: bool, rng: random.Random
) -> list[LabelledCompletion]:
    draft = drawn_task(name, rng, public=public)
    problem = code_problem(name, f"{number} {rng.getrandbits(40)}", draft)
    return _trials(name, number, problem, draft.written)


def text_problem(name: str, which: str, asked: DrawnQuestion) -> AuditProblem:
    """A question as a problem of the audit."""
    return AuditProblem(f"{name} {which}", asked.prompt, asked.answer)


def code_problem(name: str, which: str, task: TaskDraft) -> AuditProblem:
    """A task as a problem of the audit."""
    data = {"verifier": name, "entry": task.entry, "rule": task.rule, "cases": task.cases}
    cases = {"cases": json.dumps(data)}
    return AuditProblem(f"{name} {which}", task.prompt, entry_point=task.entry, extra=cases)


def _trials(
    name: str, number: int, problem: AuditProblem, found: Sequence[WrittenCompletion]
) -> list[LabelledCompletion]:
    chosen = [*_first(found, honest=True), *_first(found, honest=False)]
    return [LabelledCompletion(name, number, problem, one.text, one.honest) for one in chosen]
