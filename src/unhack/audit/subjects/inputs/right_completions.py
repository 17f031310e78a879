"""Right completions of rows that have none: which column holds the answer, which parameter takes
what, and how an answer is written. Names are a first guess; scores decide.

    subject = with_right_completions(subject)

A guess holds where the completion made from a row's own column is rewarded more than an empty one,
more than an unrelated one, and more than the same column of another row: what any row's value is
paid for shows nothing.

Covered: columns of any name, and those within columns that are dicts; lists and objects in the
ways they are written; forms from the verifier's source and the prompt (`written_forms`); parameters
whose names say nothing.
Not covered: answers that no column holds, as a schedule or a proof of work has: give `correct`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from unhack.audit.oracle.oracle import mentions, normal
from unhack.audit.subject import AuditProblem, Query, Score
from unhack.audit.subjects.call_plans import column_of
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.inputs.answer_trials import (
    FORMS,
    AnswerTrial,
    answer_of,
    columns_of,
    completion_of,
    guesses_of,
    text_of,
)
from unhack.audit.subjects.inputs.readings import (
    MOST_READINGS,
    bound,
    readings_of,
    text_of_roles,
)
from unhack.audit.subjects.inputs.written_forms import fill
from unhack.audit.subjects.parameter_names import ANSWER as ANSWER_NAMES
from unhack.audit.subjects.parameter_names import likely_role
from unhack.audit.subjects.row_shapes import shapes
from unhack.audit.subjects.sessions import score_together
from unhack.audit.subjects.signatures import is_about_form

_MAX_CORRECT, _FEW = 3, 6
_CALL_S = 0.5
"""Seconds granted to each call of a function that nobody has timed yet."""
_STEP_S = 5.0
"""Most seconds of one such call."""
_NO_BINDINGS: Mapping[str, str] = MappingProxyType({})
_FIRST = 3
"""Problems on which every form is tried."""
_UNRELATED = "zyx qwv"
_MOST, _CHUNK = 960, 96
"""Completions that are tried of one row, as the parameters' names say; and at once, which is also
the most for another reading of them."""
_LIKELIEST = 8
"""Completions that are tried before all others."""
_KEPT = 12
"""Guesses, the best on the first row, that other rows decide between."""
_LEAST = 0.5
"""A reward below which a guess may have met credit for a part, and is no right completion."""
_FULL = 1.0
"""A reward that needs no better guess."""


def with_right_completions(
    subject: FunctionSubject, bind: Mapping[str, str] = _NO_BINDINGS
) -> FunctionSubject:
    """The subject on problems that have right completions, as far as they can be made; `bind` is
    what the user says of parameters and columns (`readings.bound`), `assumed` what was found by
    trying.

    Raises UsageError when the function cannot be loaded, and for a binding that names nothing.
    """
    signature, gold = bound(subject.signature, subject.problems[0], bind)
    subject = subject.with_inputs(signature)
    if bind:
        subject = subject.with_inputs(signature, row_known=True)
    if not subject.loaded:
        return subject
    subject = _with_held_answers(subject, gold)
    first = next((one for one in subject.problems if not one.is_code), None)
    if first is None:
        return subject
    if gold:
        return _tried(subject, gold) or subject
    shaped = subject.with_problems(fit_answers(subject))
    plain = _with_correct(shaped, FORMS)
    best = _best(plain)
    if any(one.correct for one in subject.problems):
        return _by_row(plain if best > 0.0 else _otherwise_called(plain))
    tried = None if best >= _FULL else _tried(subject, gold)
    return tried if tried is not None and _best(tried) > best else _by_row(plain)


def _otherwise_called(subject: FunctionSubject) -> FunctionSubject:
    """The subject in the first reading of its parameters that rewards the completions given."""
    first = next(one for one in subject.problems if one.correct)
    for signature in itertools.islice(readings_of(subject.signature, first), 1, MOST_READINGS):
        read = subject.with_inputs(signature)
        if _best(read) > 0.0:
            note = f"parameters were told by trying: {text_of_roles(signature)}"
            return read.with_inputs(signature, assumed=(*read.assumed, note))
    return subject


def _by_row(subject: FunctionSubject) -> FunctionSubject:
    """The subject, known to be given the answer where some row's right completion is rewarded less
    on another row: what it reads there no name needs to say."""
    known = [one for one in subject.problems if one.correct and not one.is_code][:_FIRST]
    if subject.sees_answer or is_about_form(subject.target.entry) or len(known) < 2:
        return subject
    texts = [one.correct[0] for one in known]
    pairs = [(row, text) for row in known for text in texts]
    scores = _scores(subject, [Query(row, text) for row, text in pairs])
    values = {
        (row.id, text): _value(score.value)
        for (row, text), score in zip(pairs, scores, strict=True)
    }
    found = any(
        values[row.id, text] < values[row.id, row.correct[0]] for row in known for text in texts
    )
    return _row_known(subject) if found else subject


def _best(subject: FunctionSubject) -> float:
    """The best reward of the right completions of the first problems."""
    queries = [Query(one, text) for one in subject.problems[:_FIRST] for text in one.correct]
    scores = _scores(subject, queries)
    return max((_value(one.value) for one in scores), default=-math.inf)


def rewards_right(subject: FunctionSubject) -> bool:
    """Tell whether a right completion of one of the first problems is rewarded."""
    return bool(subject.loaded) and _best(subject) > 0.0


def _with_held_answers(subject: FunctionSubject, gold: str) -> FunctionSubject:
    """For right completions without an answer: the column that stands in all of them,
    and not in those of all others."""
    known = [one for one in subject.problems if one.correct and not one.is_code]
    if not known or any(one.answer for one in known):
        return subject
    for name in [gold] if gold else columns_of(known[0]):
        texts = {one.id: text_of(column_of(one, name)) for one in known}
        held = all(texts[one.id] and mentions(one.correct[0], texts[one.id]) for one in known)
        if held and len({normal(text) for text in texts.values()}) > 1:
            problems = [replace(one, answer=texts.get(one.id)) for one in subject.problems]
            note = f"the answer of a row is its column {name!r}, which its right completion holds"
            found = replace_problems(subject, problems, note)
            return _row_known(found) if name.split(".")[0] in _taken(subject) else found
    return subject


def _row_known(subject: FunctionSubject) -> FunctionSubject:
    shape = subject.signature
    names = (*shape.positional, *shape.keywords)
    alone = all(shape.role_of(name) == "completion" for name in names)
    if alone and not shape.takes_more and subject.target.owner is None:
        return subject  # it is handed the completion and nothing else, whatever lengths may show
    return subject.with_inputs(subject.signature, row_known=True)


def _taken(subject: FunctionSubject) -> set[str]:
    """Names of columns that the function takes."""
    shape = subject.signature
    given = {*shape.positional, *shape.keywords, *shape.columns}
    if "=row" in dict(shape.roles).values():
        given |= {name for one in subject.problems for name in one.extra}
    return given


def replace_problems(
    subject: FunctionSubject, problems: Sequence[AuditProblem], note: str
) -> FunctionSubject:
    """The subject on other problems, with a sentence on what was assumed for them."""
    return subject.with_inputs(
        subject.signature, problems=tuple(problems), assumed=(*subject.assumed, note)
    )


# Guesses about columns, ways and forms.


def _tried(subject: FunctionSubject, gold: str) -> FunctionSubject | None:
    """The subject with the guess that other rows confirm; None where there is none."""
    rows = [one for one in subject.problems if not one.is_code][:_FIRST]
    for signature in itertools.islice(readings_of(subject.signature, rows[0]), MOST_READINGS):
        read = subject.with_inputs(signature)
        most = _MOST if signature is subject.signature else _CHUNK
        found = _confirmed(read, rows, _promising(read, rows[0], gold, most=most))
        if found:
            return _made(read, found, signature is not subject.signature)
    return None


def _promising(
    subject: FunctionSubject, row: AuditProblem, gold: str, *, most: int
) -> list[AnswerTrial]:
    """The guesses that the first row rewards most, above nothing, the likeliest first."""
    waiting = list(guesses_of(subject, row, gold))[:most]
    blank = _scores(subject, [Query(row, text) for text in ("", _UNRELATED)])
    # A reward that falls for one of the two shows nothing yet of the others.
    least = max(0.0, min(_value(one.value) for one in blank))
    found: list[tuple[float, AnswerTrial]] = []
    # A slow verifier gets the likeliest ones alone first.
    starts = [0, *range(_LIKELIEST, len(waiting), _CHUNK)]
    for start, end in itertools.pairwise([*starts, len(waiting)]):
        part = waiting[start:end]
        queries = [Query(row, completion_of(subject, row, one)) for one in part]
        scores = _scores(subject, queries)
        values = [_value(score.value) for score in scores]
        if start == 0 and all(value == -math.inf for value in values):
            return []  # it cannot be called so
        found += [pair for pair in zip(values, part, strict=True) if pair[0] > least]
        if any(value >= _FULL for value, _ in found):
            break
    found.sort(key=lambda pair: -pair[0])
    return [guess for _, guess in found[:_KEPT]]


def _confirmed(
    subject: FunctionSubject, rows: Sequence[AuditProblem], guesses: Sequence[AnswerTrial]
) -> list[AnswerTrial]:
    """The guesses, best first, that are rewarded on more than one row and not for another row's
    column."""
    if not guesses:
        return []
    own = [Query(row, completion_of(subject, row, one)) for one in guesses for row in rows]
    other = [
        Query(row, completion_of(subject, rows[(at + 1) % len(rows)], one))
        for one in guesses
        for at, row in enumerate(rows)
    ]
    scores = _scores(subject, [*own, *other])
    values = [_value(score.value) for score in scores]
    found: list[tuple[float, AnswerTrial]] = []
    for at, guess in enumerate(guesses):
        mine = values[at * len(rows) : (at + 1) * len(rows)]
        theirs = values[len(own) + at * len(rows) : len(own) + (at + 1) * len(rows)]
        texts = {completion_of(subject, row, guess) for row in rows}
        # Of rows that share an answer, and of a single one, there is no other to compare with.
        better = sum(one > two for one, two in zip(mine, theirs, strict=True))
        alone = len(rows) == 1 or len(texts) == 1
        if 2 * sum(value > 0.0 for value in mine) > len(rows) and (better or alone):
            found.append((sum(mine), guess))
    found.sort(key=lambda pair: -pair[0])
    enough = max(_LEAST * len(rows), found[0][0] if found else 0.0)
    return [guess for value, guess in found if value >= enough]


def _is_answer(subject: FunctionSubject, column: str) -> bool:
    """Tell whether a column is what a completion is compared with. One that the function is not
    given is an example of what is right; so may be one whose value stands in the prompt, as the
    data of a constraint does, unless its name says that it is the answer."""
    name, last = column.partition(".")[0], column.rpartition(".")[2]
    if not column or last in ANSWER_NAMES or likely_role(last) == "answer":
        return not column or name in _taken(subject)
    rows = [one for one in subject.problems if not one.is_code]
    told = sum(mentions(one.prompt, text_of(column_of(one, column)) or "\0") for one in rows)
    return name in _taken(subject) and 2 * told < len(rows)


def _made(subject: FunctionSubject, guesses: Sequence[AnswerTrial], read: bool) -> FunctionSubject:
    """The subject with answers from the first guess, and completions in its forms."""
    best = guesses[0]
    if not _is_answer(subject, best.column):
        problems = [
            one if one.is_code else replace(one, correct=(completion_of(subject, one, best),))
            for one in subject.problems
        ]
        note = f"right completions were made of column {best.column!r}, in the form {best.form!r}; "
        note += "others may be right too"
        return _row_known(replace_problems(subject, problems, note))
    problems = [
        one if one.is_code else replace(one, answer=answer_of(subject, one, best) or one.answer)
        for one in subject.problems
    ]
    forms = [one.form for one in guesses if (one.column, one.way) == (best.column, best.way)]
    note = f"right completions were found by trying: {best.form!r}"
    note += f" with column {best.column!r} as the answer" if best.column else ""
    if read:
        note += f", and parameters: {text_of_roles(subject.signature)}"
    found = _row_known(replace_problems(subject, problems, note))
    return _with_correct(found, tuple(dict.fromkeys([*forms[:_MAX_CORRECT], *FORMS])))


# Forms of an answer that is known.


def fit_answers(subject: FunctionSubject) -> tuple[AuditProblem, ...]:
    """The problems, their answers in a shape in which a correct completion is rewarded; as they
    are where there is none.

    Raises UsageError when the function cannot be loaded.
    """
    first = next((item for item in subject.problems if item.answer and not item.is_code), None)
    if not subject.loaded or first is None:
        return subject.problems
    tried = [first, *shapes(subject.target, first)]
    for number, shaped in enumerate(tried):
        if _rewards(subject, shaped):
            return subject.problems if number == 0 else _in_shape(subject, number - 1)
    return subject.problems


def _in_shape(subject: FunctionSubject, number: int) -> tuple[AuditProblem, ...]:
    return tuple(
        next(itertools.islice(shapes(subject.target, item), number, None), item)
        for item in subject.problems
    )


def _rewards(subject: FunctionSubject, problem: AuditProblem) -> bool:
    """Tell whether a correct completion scores more than an empty or unrelated one: a reward that
    falls for one of them is no reason to hand it another shape."""
    texts = problem.correct[:_MAX_CORRECT] or [_written(form, problem) for form in FORMS]
    queries = [Query(problem, text) for text in ("", _UNRELATED, *texts)]
    scores = _scores(subject, queries)
    empty, unrelated, *right = [_value(score.value) for score in scores]
    return max(right) > max(0.0, min(empty, unrelated))


def _written(form: str, problem: AuditProblem) -> str:
    return fill(form, problem.answer or "", problem.extra)


def _with_correct(subject: FunctionSubject, forms: Sequence[str]) -> FunctionSubject:
    """Problems without correct completions get some: their answer in the forms that score most."""
    missing = [item for item in subject.problems if not item.correct and item.answer]
    if not missing:
        return subject
    # What the first problem shows spares the next ones most of the forms, and all others but one.
    ranked = _rank_forms(subject, missing[:1], forms)
    useful = _best_forms(ranked, forms)[:_FEW]
    ranked |= _rank_forms(subject, missing[1:_FIRST], useful)
    useful = _best_forms(ranked, useful)
    ranked |= _rank_forms(subject, missing[_FIRST:], useful[:1])
    best = max((value for scored in ranked.values() for value in scored.values()), default=0.0)
    other = [one for one in missing[1:] if max(ranked[one.id].values()) < best]
    ranked |= _rank_forms(subject, other, forms)
    found: dict[str, tuple[str, ...]] = {}
    for problem in missing:
        values = ranked[problem.id]
        most = max(values.values())
        chosen = [form for form, value in values.items() if value == most]
        # Where none has a score, the complaint about the first is shown.
        chosen = chosen[: 1 if most == -math.inf else _MAX_CORRECT]
        found[problem.id] = tuple(_written(form, problem) for form in chosen)
    return subject.with_problems(
        [replace(item, correct=found.get(item.id, item.correct)) for item in subject.problems]
    )


def _best_forms(ranked: Mapping[str, Mapping[str, float]], forms: Sequence[str]) -> list[str]:
    """The forms that score most on some problem, in their order; all where none was tried."""
    best = max((value for scored in ranked.values() for value in scored.values()), default=0.0)
    return [form for form in forms if any(one.get(form) == best for one in ranked.values())]


def _rank_forms(
    subject: FunctionSubject, problems: Sequence[AuditProblem], forms: Sequence[str]
) -> dict[str, dict[str, float]]:
    """By problem id, the score of its answer in each of the forms."""
    queries = [Query(problem, _written(form, problem)) for problem in problems for form in forms]
    scores = iter(_scores(subject, queries))
    return {
        problem.id: {form: _value(next(scores).value) for form in forms} for problem in problems
    }


def _scores(subject: FunctionSubject, queries: Sequence[Query]) -> list[Score]:
    pace = subject.runs.pace or _CALL_S
    score = partial(score_together, subject, call_s=pace, step_s=_STEP_S)
    return subject.runs.scores(queries, score, about=subject.signature)


def _value(score: float | None) -> float:
    return -math.inf if score is None or math.isnan(score) else score
