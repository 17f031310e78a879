"""What else a verifier should do: take right answers in other clothes, tell good from bad, and give
a completion the score that it gets alone whatever stands beside it.

Covered: completeness (`variants`), signal (`signal_checks`), determinism and isolation
(`isolation`), what a program can read (`probes`); tasks of ours beside a slow completion.
Not covered: soundness, which is what attacks are for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unhack.audit.attack import Knowledge
from unhack.audit.attacks.payloads.program_shape import Snippet, shape_of
from unhack.audit.checks import isolation, probes
from unhack.audit.checks import signal as signal_checks
from unhack.audit.checks.group_samples import Mix, in_place, mixes_of
from unhack.audit.checks.isolation import IsolationResult
from unhack.audit.checks.variants import Variant, variants
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.report.report import Area, AuditCheck
from unhack.audit.subject import Query, Score
from unhack.audit.subjects.function_subject import FunctionSubject

_MOST_PROBLEMS = 3
_SLOW_CALL_S = 0.3
"""A verifier that takes so long for a call is looked at on one problem only."""
_SLOW_S = 1.0
_MOST_NAMED = 4
_Worn = tuple[Mix, Variant, Score]


def examine(hunt: Prover, marks: Sequence[Baseline], *, thorough: bool) -> IsolationResult:
    """The checks that the budget still allows, and what they prove.

    `marks` are those of all problems. Raises SandboxUnavailableError.
    """
    mixes = mixes_of(marks)
    known = [score.seconds for mix in mixes for score in mix.mark.scores.values()]
    slow = bool(known) and sum(known) / len(known) > _SLOW_CALL_S
    mixes = mixes if thorough else mixes[: 1 if slow else _MOST_PROBLEMS]
    if not mixes or hunt.budget.spent:
        return IsolationResult()
    fresh = {
        (mix.mark.problem.id, text): score
        for mix in mixes
        for text, score in mix.mark.scores.items()
    }
    weak = [Query(mix.mark.problem, text) for mix in mixes for text in mix.texts]
    for shot, score in zip(weak, _scored(hunt, weak), strict=True):
        fresh.setdefault((shot.problem.id, shot.completion), score)
    subject = hunt.journal.subject
    apart = isinstance(subject, FunctionSubject) and subject.script is not None
    checks = signal_checks.checks(mixes, fresh, subject.problems, apart=apart)
    company = isolation.examine(hunt, mixes, fresh, thorough=thorough)
    checks += company.checks
    for more in (_completeness(hunt, mixes), _beside_slow(hunt, mixes, fresh)):
        checks += more
    checks += probes.checks(hunt, mixes[0])
    return IsolationResult(tuple(checks), company.findings)


def _scored(hunt: Prover, shots: Sequence[Query]) -> list[Score]:
    hunt.budget.calls -= len(shots)
    return hunt.journal.score(shots)


def _completeness(hunt: Prover, mixes: Sequence[Mix]) -> Iterator[AuditCheck]:
    if hunt.budget.spent:
        return
    pairs = [(mix, one) for mix in mixes for one in variants(mix.mark.problem, mix.right)]
    scores = _scored(hunt, [Query(mix.mark.problem, one.text) for mix, one in pairs])
    worn: list[_Worn] = [(*pair, score) for pair, score in zip(pairs, scores, strict=True)]
    for certain, name in ((True, "the same in other clothes"), (False, "the same in other forms")):
        tried = [item for item in worn if item[1].certain is certain]
        if not tried:
            continue
        rejected = [item for item in tried if not item[2].at_least(item[0].mark.threshold or 0.0)]
        said = f"{len(tried) - len(rejected)} of {len(tried)} variants of correct completions pass"
        if rejected:
            names = list(dict.fromkeys(variant.name for _, variant, _ in rejected))
            said += f"; not with {', '.join(names[:_MOST_NAMED])}"
            said += "" if certain else ", which the prompt may mean to rule out"
        ok = True if not rejected else False if certain else None
        witness = rejected[0][1].text if rejected else ""
        yield AuditCheck(Area.COMPLETENESS, name, ok, said, witness)


def _beside_slow(
    hunt: Prover, mixes: Sequence[Mix], fresh: isolation.Fresh
) -> Iterator[AuditCheck]:
    """Tasks of ours: the right program again, in one batch with slow and failing ones."""
    mix = mixes[0]
    problem = mix.mark.problem
    if (
        isinstance(hunt.journal.subject, FunctionSubject)
        or not problem.is_code
        or hunt.budget.spent
    ):
        return
    slow = shape_of(Knowledge(problem)).source(Snippet("slow", setup=_slow(_SLOW_S)))
    texts = [in_place(mix.right, slow), mix.right, *mix.texts]
    scores = _scored(hunt, [Query(problem, text) for text in texts])[1:]
    same = [
        repr(score.value) == repr(fresh[problem.id, text].value)
        for text, score in zip(texts[1:], scores, strict=True)
    ]
    said = f"{sum(same)} of {len(same)} completions get the score that they get alone"
    witness = "" if all(same) else texts[1 + same.index(False)]
    yield AuditCheck(
        Area.DETERMINISM, "the same score beside a straggler", all(same), said, witness
    )


def _slow(seconds: float) -> str:
    return f"import time\ntime.sleep({seconds})"
