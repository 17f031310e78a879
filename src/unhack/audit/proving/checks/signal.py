"""Checks of the training signal: spread of scores within a group, and reasons for partial credit.

Covered: groups in which every score is equal, credit for format alone, credit for length, wrong
scored above right, scores that are no numbers or leave [0, 1], answers that are often the same.
Not covered: whether partial credit is meant; that is for the author to say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from unhack.audit.oracle.oracle import normal
from unhack.audit.proving.checks.group_samples import GroupSample
from unhack.audit.report.report import Area, AuditCheck
from unhack.audit.subject import AuditProblem, Score

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
