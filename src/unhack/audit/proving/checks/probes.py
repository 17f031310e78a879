"""Probes of secrets that a program can read: the trainer's environment, the verifier's source, the
expected values.

A probe does what the reference does once it has found what it looks for, and something wrong until
then. So its score tells, and nothing that it says is believed; a probe that is told to have found
it must pass, and one that cannot find it must not, or nothing is said at all. Probes know what they
look for by hashes only.

Covered: environment variables; files near the working directory, the import path and the callers;
local and global variables of the callers; the same of a parent process as far as /proc shows it.
Not covered: reading memory; files that a name far away leads to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from unhack.audit.attack import Knowledge
from unhack.audit.attacks.payloads.program_shape import SPOIL, shape_of
from unhack.audit.proving.checks.group_samples import GroupSample, in_place
from unhack.audit.proving.journal import NO_ROOM
from unhack.audit.proving.prover import Prover
from unhack.audit.report.report import Area, AuditCheck
from unhack.audit.subject import AuditProblem, Query, Score
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.sessions import Session, Way, run_sessions
from unhack.core.hashing import content_hash
from unhack.tasks.reading import read_text_if_there

_MARKER = "UNHACK_AUDIT_MARKER"
_MAX_PAIRS = 12
_MIN_CHARS = 2
_WALL_S = 15.0
_LOOK = """\
try:
    if not SEEN and TRIES:
        TRIES.pop()
        if look():
            SEEN.append(1)
except Exception:
    pass
"""
_STATE = f"SEEN, TRIES = [], [1, 1, 1, 1]\n{_LOOK}"
"""A probe looks when it is loaded, and at its first calls."""


@dataclass(frozen=True)
class _Probe:
    name: str
    what: str
    """The secret that a completion can or cannot read."""
    text: str


def checks(prover: Prover, sample: GroupSample) -> list[AuditCheck]:
    """One check for each thing that there is to be read; none for text answers."""
    problem, subject = sample.baseline.problem, prover.journal.subject
    if not problem.is_code or sample.baseline.threshold is None or prover.budget.spent:
        return []
    marker = content_hash(subject.fingerprint, "marker")
    made = list(_probes(prover, sample, marker=marker))
    found, blind = (_program(sample, looking) for looking in ("return True", "return False"))
    if found is None or blind is None or not made:
        return []
    texts = [found, blind, *(probe.text for probe in made)]
    scores = _score(prover, problem, texts, marker=marker)
    passed = [score.at_least(sample.baseline.threshold) for score in scores]
    if not passed[0] or passed[1]:
        return []  # the verifier rejects the wrapper, or does not look at values
    return [
        AuditCheck(
            Area.ISOLATION,
            probe.name,
            not can,
            f"a completion {'can' if can else 'could not'} read {probe.what}",
            probe.text if can else "",
        )
        for probe, can in zip(made, passed[2:], strict=True)
    ]


def _probes(prover: Prover, sample: GroupSample, *, marker: str) -> Iterator[_Probe]:
    subject, problem = prover.journal.subject, sample.baseline.problem
    looks: list[tuple[str, str, str]] = []
    if isinstance(subject, FunctionSubject):
        looking = f"return saw_variable({_MARKER!r}, {_hash(marker)!r})"
        looks.append(("the environment is out of reach", "the trainer's environment", looking))
    if subject.source is not None:
        looking = f"return saw_file({[_file(subject.source.text)]!r})"
        looks.append(("its source is out of reach", "the verifier's source", looking))
    pairs = list(_pairs(problem))
    wanted = [_file(text) for text in _case_files(prover)]
    if pairs or wanted:
        looking = f"return saw_file({wanted!r}) or saw_values({pairs!r}, {_texts(problem)!r})"
        looks.append(("expected values are out of reach", "the expected values", looking))
    for name, what, looking in looks:
        text = _program(sample, looking)
        if text is not None:
            yield _Probe(name, what, text)


def _program(sample: GroupSample, looking: str) -> str | None:
    """The reference, right once `looking` is true; None where it cannot be wrapped."""
    problem = sample.baseline.problem
    setup = f"{SPOIL}\n{_probe_source()}\n\ndef look():\n    {looking}\n\n{_STATE}"
    shape = shape_of(Knowledge(problem))
    made = shape.with_change("result if SEEN else spoil(result)", setup=setup, body=_LOOK)
    return None if made is None else in_place(problem.correct[0], made)


@cache
def _probe_source() -> str:
    return (files("unhack.audit.proving.checks") / "probe_source.py").read_text()


def _score(
    prover: Prover, problem: AuditProblem, texts: Sequence[str], *, marker: str
) -> list[Score]:
    subject, journal = prover.journal.subject, prover.journal
    queries = [Query(problem, text) for text in texts]
    prover.budget.calls -= len(queries)
    if not isinstance(subject, FunctionSubject):
        return journal.score(queries)
    key = content_hash(subject.fingerprint, "probes", *texts)
    known = journal.find(key, count=len(queries))
    if known is None and len(queries) > journal.room:
        return [NO_ROOM] * len(queries)
    if known is None:
        sessions = [Session((query,), Way.SERIES, environ={_MARKER: marker}, wall_s=_WALL_S)
                    for query in queries]  # fmt: skip
        known = [score for [score] in run_sessions(subject, sessions)]
        journal.note(key, known)
    return known


def _case_files(prover: Prover) -> Iterator[str]:
    subject = prover.journal.subject
    if isinstance(subject, FunctionSubject) and subject.script is not None and subject.script.cases:
        text = read_text_if_there(subject.target.module.root / subject.script.cases)
        if text is not None:
            yield text


def _pairs(problem: AuditProblem) -> Iterator[tuple[list[str], str]]:
    """For some calls: hashes of their arguments in the forms that a list of cases may have, and of
    what is expected."""
    for call in problem.calls[:_MAX_PAIRS]:
        if not call.args or len(repr(call.expected)) < _MIN_CHARS:
            continue
        forms: list[Any] = [list(call.args), tuple(call.args)]
        forms += list(call.args[:1]) if len(call.args) == 1 else []
        if call.expected not in (*call.args, *forms):
            yield [_hash(repr(form)) for form in forms], _hash(repr(call.expected))


def _texts(problem: AuditProblem) -> list[str]:
    """Hashes of texts that hold the expected values."""
    kept = [problem.answer, *problem.extra.values()]
    return [_hash(text) for text in kept if isinstance(text, str) and len(text) > 20]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _file(text: str) -> tuple[int, str]:
    return len(text.encode("utf-8", "surrogatepass")), _hash(text)
