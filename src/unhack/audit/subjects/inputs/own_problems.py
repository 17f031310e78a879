"""Problems of the audit's own, for a function that comes without rows.

    drilled(subject)        on the first kind of problem of which it rewards a right answer

Covered: numbers, letters of a choice, words. Not covered: programs, and functions that read further
columns: these are named (`needed_text`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from unhack.audit.subject import AuditProblem
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.inputs.missing_fields import needed_text
from unhack.audit.subjects.inputs.right_completions import rewards_right, with_right_completions
from unhack.audit.subjects.target import Target
from unhack.sandbox.deadline import DeadlineBackend

SUMS = "sums"
_FEW = 3
"""Problems of a kind on which a function is tried first."""
_CHEAP_S = 5.0
"""Seconds for that, under which there is time for all of them."""
_CHOICES = (
    ("a metal", "oak iron silk salt", "B"), ("a river", "Alps Cairo Nile Java", "C"),
    ("a bird", "heron trout adder otter", "A"), ("a prime number", "21 33 39 41", "D"),
    ("a fruit", "leek plum kale beet", "B"), ("a planet", "Sirius Ceres Titan Venus", "D"),
    ("a colour", "teal oboe lute harp", "A"), ("a gas", "chalk steel argon resin", "C"),
)  # fmt: skip
_DRILLS: Mapping[str, tuple[tuple[str, str], ...]] = {
    SUMS: (
        ("What is 17 + 25?", "42"), ("What is 12 * 12?", "144"), ("What is 90 - 17?", "73"),
        ("What is 1000 + 250?", "1250"), ("What is 56 / 7?", "8"), ("What is 31 * 3?", "93"),
        ("What is 400 - 84?", "316"), ("What is 45 + 23 - 9?", "59"),
    ),
    "questions with a letter as the answer": tuple(
        ("Which is {}?\nA) {}\nB) {}\nC) {}\nD) {}".format(kind, *words.split()), answer)
        for kind, words, answer in _CHOICES
    ),
    "questions with a word as the answer": (
        ("What is the capital of France?", "Paris"), ("Which planet has rings?", "Saturn"),
        ("What is frozen water called?", "ice"), ("Which metal rusts?", "iron"),
        ("What do bees make?", "honey"), ("Which season follows winter?", "spring"),
        ("What is the opposite of north?", "south"), ("Which animal barks?", "dog"),
    ),
}  # fmt: skip


def drill(target: Target, kind: str) -> tuple[AuditProblem, ...]:
    """The problems of one kind, with ids after the function."""
    name = target.entry.rpartition(".")[2]
    return tuple(
        AuditProblem(f"{name}#{number}", prompt, answer)
        for number, (prompt, answer) in enumerate(_DRILLS[kind])
    )


def drilled(subject: FunctionSubject, bind: Mapping[str, str]) -> FunctionSubject:
    """The function on the first kind of problem of which it rewards a right answer, else on sums:
    eight of them, three where its calls take long. `assumed` says which.

    Raises what `with_right_completions` does.
    """
    if not subject.loaded:  # once, for all kinds
        return subject
    made: list[FunctionSubject] = []
    for kind in _DRILLS:
        began, problems = time.monotonic(), drill(subject.target, kind)
        own = with_right_completions(subject.with_problems(problems[:_FEW]), bind)
        rewarded = rewards_right(own)
        if rewarded and time.monotonic() - began < _CHEAP_S:
            own = with_right_completions(subject.with_problems(problems), bind)
        said = f"no rows were given, so {len(own.problems)} {kind} of the audit's own stand in"
        made.append(own.with_inputs(own.signature, assumed=(said, *own.assumed)))
        late = isinstance(subject.backend, DeadlineBackend) and subject.backend.passed
        if rewarded or late or needed_text(own):
            return made[-1] if rewarded else made[0]
    return made[0]
