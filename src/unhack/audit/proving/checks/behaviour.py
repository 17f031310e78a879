"""Checks of a verifier's behaviour: rewrites of right answers pass, good scores above bad, and a
completion's score does not depend on the others in its batch.

Covered: completeness (`variants`), determinism and isolation (`isolation`), secrets that a program
can read (`probes`); unhack's tasks beside a slow completion; the training signal: groups in which
every score is equal, credit for format alone, credit for length, wrong scored above right, scores
that are no numbers or leave [0, 1], answers that are often the same.
Not covered: soundness, which is what attacks are for; whether partial credit is meant, which is for
the author to say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from unhack.audit.attack import Knowledge
from unhack.audit.attacks.payloads.program_shape import Snippet, shape_of
from unhack.audit.oracle.oracle import normal
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.checks import isolation, probes
from unhack.audit.proving.checks.group_samples import GroupSample, group_samples_of, in_place
from unhack.audit.proving.checks.isolation import IsolationResult
from unhack.audit.proving.checks.variants import Variant, variants
from unhack.audit.proving.prover import Prover
from unhack.audit.report.report import OTHER_NOTATIONS, Area, AuditCheck
from unhack.audit.subject import AuditProblem, Query, Score
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
    names = {True: "reformatted correct answers pass", False: OTHER_NOTATIONS}
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
        counts = (len(tried), len(rejected))
        yield AuditCheck(Area.COMPLETENESS, name, ok, said, witness, *counts)


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


_LITTLE = 0.02
"""Shares of the way from empty to right that are too small to report."""
_FEW = 5
_OFTEN = 0.34
Fresh = Mapping[tuple[str, str], Score]


def signal_checks(
    samples: Sequence[GroupSample], fresh: Fresh, problems: Sequence[AuditProblem], *, apart: bool
) -> list[AuditCheck]:
    """The checks that the scores of group samples and the answers of all problems allow.

    `apart`: each run has a process of its own, which may fail without harm to others.
    """
    groups = [(sample, _group(sample, fresh)) for sample in samples]
    found = list(_answers(problems))
    if groups:
        found += [
            _spread(groups),
            *_credit(groups),
            _order(groups),
            _numbers(samples, fresh, apart=apart),
            *_range(groups),
        ]
    return found


def _group(sample: GroupSample, fresh: Fresh) -> dict[str, float]:
    """The scores that are numbers, by text."""
    found: dict[str, float] = {}
    for text in (*sample.baseline.scores, *sample.texts):
        score = fresh.get((sample.baseline.problem.id, text))
        if score is not None and score.value is not None and not math.isnan(score.value):
            found[text] = score.value
    return found


def _spread(groups: Sequence[tuple[GroupSample, dict[str, float]]]) -> AuditCheck:
    flat = [sample for sample, group in groups if len(set(group.values())) < 2]
    levels = [len(set(group.values())) for _, group in groups]
    noun = "group" if len(groups) == 1 else "groups"
    text = (
        f"all scores are equal in {len(flat)} of {len(groups)} {noun} of weak, partial and right "
        f"completions; at most {max(levels)} different scores in one"
    )
    return AuditCheck(Area.SIGNAL, "scores differ within a group", not flat, text)


def _credit(groups: Sequence[tuple[GroupSample, dict[str, float]]]) -> Iterator[AuditCheck]:
    form: list[tuple[float, str]] = []
    length: list[tuple[float, str]] = []
    for sample, group in groups:
        right, way = group.get(sample.right), 0.0
        if right is not None:
            way = right - sample.baseline.null
        wrong = [(group[one.text], one.text) for one in sample.wrong if one.text in group]
        if way <= 0 or not wrong:
            continue
        least = min(wrong)
        form.append(((least[0] - sample.baseline.null) / way, least[1]))
        first = group.get(sample.wrong[0].text)
        if sample.padded in group and first is not None:
            length.append(((group[sample.padded] - first) / way, sample.padded))
    free = any(sample.baseline.null > 0 for sample, _ in groups)
    whole = "the step from an empty to a right one" if free else "the reward of a right one"
    for name, shares, text in (
        ("no credit for format alone", form, "a wrong answer in the right format"),
        ("no credit for length", length, "making a wrong completion longer"),
    ):
        if shares:
            share, witness = max(shares)
            gets = f"{text} earns at most {max(share, 0):.0%} of {whole}"
            credit = share > _LITTLE
            yield AuditCheck(Area.SIGNAL, name, not credit, gets, witness if credit else "")


def _order(groups: Sequence[tuple[GroupSample, dict[str, float]]]) -> AuditCheck:
    name = "a right completion scores highest"
    for sample, group in groups:
        right = [group[text] for text in sample.baseline.problem.correct if text in group]
        weak = [*(one.text for one in sample.wrong), sample.part, sample.padded]
        weak += [
            text for text in sample.baseline.scores if text not in sample.baseline.problem.correct
        ]
        above = [text for text in weak if text in group and right and group[text] > max(right)]
        if above:
            text = (
                f"problem {sample.baseline.problem.id}: {group[above[0]]:g} for a weak completion, "
            )
            text += f"{max(right):g} for the best right one"
            return AuditCheck(Area.SIGNAL, name, False, text, above[0])
    return AuditCheck(
        Area.SIGNAL, name, True, "no weak completion scores more than the best right one"
    )


def _numbers(samples: Sequence[GroupSample], fresh: Fresh, *, apart: bool) -> AuditCheck:
    texts = [
        (sample.baseline.problem.id, text)
        for sample in samples
        for text in (*sample.baseline.scores, *sample.texts)
    ]
    known = [(text, fresh[problem, text]) for problem, text in texts if (problem, text) in fresh]
    bad = [
        (text, score)
        for text, score in known
        if score.value is None or not math.isfinite(score.value)
    ]
    said = f"{len(known) - len(bad)} of {len(known)} weak, partial and right completions get one"
    if bad:
        score = bad[0][1]
        given = score.reason or score.trouble or str(score.value)
        said += f"; otherwise {given}"
    witness = (bad[0][0] or "(the empty completion)") if bad else ""
    only_raised = apart and all(score.trouble == "raised" for _, score in bad)
    ok = not bad or (None if only_raised else False)
    return AuditCheck(Area.SIGNAL, "every completion gets a finite score", ok, said, witness)


def _range(groups: Sequence[tuple[GroupSample, dict[str, float]]]) -> Iterator[AuditCheck]:
    values = [value for _, group in groups for value in group.values() if math.isfinite(value)]
    if values and (min(values) < 0 or max(values) > 1):
        text = f"scores lie between {min(values):g} and {max(values):g}"
        yield AuditCheck(Area.SIGNAL, "scores within 0 and 1", None, text)


def _answers(problems: Sequence[AuditProblem]) -> Iterator[AuditCheck]:
    """The best constant answer: a property of the data."""
    answers = [normal(problem.answer) for problem in problems if problem.answer]
    if len(answers) < _FEW:
        return
    [(answer, count)] = Counter(answers).most_common(1)
    share = count / len(answers)
    text = f"answering {answer[:40]!r} every time is right for {count} of {len(answers)} problems"
    name = "no constant answer is often right"
    yield AuditCheck(Area.SIGNAL, name, True if share < _OFTEN else None, text)
