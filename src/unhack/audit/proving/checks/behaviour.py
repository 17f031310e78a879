"""Checks of a verifier's behaviour: rewrites of right answers pass, good scores above bad, and a
completion's score does not depend on the others in its batch.

Covered: completeness (`variants`), signal (`signal`), determinism and isolation
(`isolation`), secrets that a program can read (`probes`); unhack's tasks beside a slow completion.
Not covered: soundness, which is what attacks are for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unhack.audit.attack import Knowledge
from unhack.audit.attacks.payloads.program_shape import Snippet, shape_of
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.checks import isolation, probes
from unhack.audit.proving.checks.group_samples import GroupSample, group_samples_of, in_place
from unhack.audit.proving.checks.isolation import IsolationResult
from unhack.audit.proving.checks.signal import signal_checks
from unhack.audit.proving.checks.variants import Variant, variants
from unhack.audit.proving.prover import Prover
from unhack.audit.report.report import Area, AuditCheck
from unhack.audit.subject import Query, Score
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.core.finding import Finding

_MAX_PROBLEMS = 3
_SLOW_CALL_S = 0.3
"""A verifier that takes so long for a call is looked at on one problem only."""
_SLOW_S = 1.0
_MAX_NAMED = 4
_ScoredVariant = tuple[GroupSample, Variant, Score]


def examine(prover: Prover, baselines: Sequence[Baseline], *, thorough: bool) -> IsolationResult:
    """The checks that the budget still allows, and what they prove.

    `baselines` are those of all problems. Raises SandboxUnavailableError.
    """
    samples = group_samples_of(baselines)
    slow = _call_time(samples) > _SLOW_CALL_S
    samples = samples if thorough else samples[: 1 if slow else _MAX_PROBLEMS]
    if not samples or prover.budget.spent:
        return IsolationResult()
    fresh = {
        (sample.baseline.problem.id, text): score
        for sample in samples
        for text, score in sample.baseline.scores.items()
    }
    journal = prover.journal
    weak = [Query(sample.baseline.problem, text) for sample in samples for text in sample.texts]
    for query, score in zip(weak, _score(prover, weak), strict=True):
        fresh.setdefault((query.problem.id, query.completion), score)
    subject = prover.journal.subject
    apart = isinstance(subject, FunctionSubject) and subject.script is not None
    if journal.is_late:
        return IsolationResult()
    checks = signal_checks(samples, fresh, subject.problems, apart=apart)
    findings: tuple[Finding, ...] = ()
    for examined in (
        lambda: isolation.examine(prover, samples, fresh, thorough=thorough),
        lambda: IsolationResult(tuple(_completeness(prover, samples))),
        lambda: IsolationResult(tuple(_beside_slow(prover, samples, fresh))),
        lambda: IsolationResult(tuple(probes.checks(prover, samples[0]))),
    ):
        seen = examined()
        if journal.is_late:
            break  # what has no score for want of time would look like one that differs
        checks += seen.checks
        findings += seen.findings
    return IsolationResult(tuple(checks), findings)


def _call_time(samples: Sequence[GroupSample]) -> float:
    """The seconds that the verifier takes for a right completion; 0 where that is not known.

    The least counts: the others also hold imports, and what else the machine had to do.
    """
    known = [(one.right, one.baseline.scores) for one in samples]
    return min((scores[text].seconds for text, scores in known if text in scores), default=0.0)


def _score(prover: Prover, queries: Sequence[Query]) -> list[Score]:
    prover.budget.calls -= len(queries)
    return prover.journal.score(queries)


def _completeness(prover: Prover, samples: Sequence[GroupSample]) -> Iterator[AuditCheck]:
    if prover.budget.spent:
        return
    pairs = [
        (sample, one)
        for sample in samples
        for one in variants(sample.baseline.problem, sample.right)
    ]
    scores = _score(prover, [Query(sample.baseline.problem, one.text) for sample, one in pairs])
    scored: list[_ScoredVariant] = [
        (*pair, score) for pair, score in zip(pairs, scores, strict=True)
    ]
    names = {True: "reformatted correct answers pass", False: "other notations of them pass"}
    for certain, name in names.items():
        tried = [item for item in scored if item[1].certain is certain]
        if not tried:
            continue
        rejected = [
            item for item in tried if not item[2].at_least(item[0].baseline.threshold or 0.0)
        ]
        said = f"{len(tried) - len(rejected)} of {len(tried)} variants of correct completions pass"
        if rejected:
            names = list(dict.fromkeys(variant.name for _, variant, _ in rejected))
            said += f"; not with {', '.join(names[:_MAX_NAMED])}"
            said += "" if certain else ", which the prompt may mean to rule out"
        ok = True if not rejected else False if certain else None
        witness = rejected[0][1].text if rejected else ""
        yield AuditCheck(Area.COMPLETENESS, name, ok, said, witness)


def _beside_slow(
    prover: Prover, samples: Sequence[GroupSample], fresh: isolation.Fresh
) -> Iterator[AuditCheck]:
    """Score the right program of a task again, in one batch with slow and failing ones."""
    sample = samples[0]
    problem = sample.baseline.problem
    if (
        isinstance(prover.journal.subject, FunctionSubject)
        or not problem.is_code
        or prover.budget.spent
    ):
        return
    slow = shape_of(Knowledge(problem)).source(Snippet("slow", setup=_slow(_SLOW_S)))
    texts = [in_place(sample.right, slow), sample.right, *sample.texts]
    scores = _score(prover, [Query(problem, text) for text in texts])[1:]
    same = [
        repr(score.value) == repr(fresh[problem.id, text].value)
        for text, score in zip(texts[1:], scores, strict=True)
    ]
    said = f"{sum(same)} of {len(same)} completions get the same score as alone"
    witness = "" if all(same) else texts[1 + same.index(False)]
    yield AuditCheck(
        Area.DETERMINISM, "the same score beside a straggler", all(same), said, witness
    )


def _slow(seconds: float) -> str:
    return f"import time\ntime.sleep({seconds})"
