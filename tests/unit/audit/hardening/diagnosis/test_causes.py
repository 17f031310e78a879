"""The cause of a hole is found by running edited copies in place of the verifier."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from unhack.audit.hardening.diagnosis.causes import CauseTrial
from unhack.audit.proving.classification import Closing, OpenCause, cause_of
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.subject import AuditProblem, Query
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.signatures import detect
from unhack.audit.subjects.target import find_target
from unhack.sandbox.pool.pool import Pool

pytestmark = pytest.mark.slow

PROBLEMS = (
    AuditProblem("a", "6 * 7?", "42", correct=("42", "it is 42")),
    AuditProblem("b", "5 * 3?", "15", correct=("15", "it is 15")),
)


def subject_of(folder: Path, pool: Pool, body: str) -> FunctionSubject:
    (folder / "beside.py").write_text("def last(text):\n    return text.split()[-1:]\n")
    lines = f"from beside import last\n\n\ndef f(completion, answer):\n    {body}\n"
    (folder / "m.py").write_text(lines)
    target = find_target(f"{folder / 'm.py'}:f")
    return FunctionSubject("m:f", target, detect(target), PROBLEMS, backend=pool)


def closings(subject: FunctionSubject, witness: str, seconds: float = 300.0) -> list[Closing]:
    hole = OpenCause((Query(PROBLEMS[0], witness),), (1.0,), frozenset())
    journal = ScoreJournal(subject, None)
    [found] = CauseTrial(journal, time.monotonic() + seconds).closings([hole])
    return found


class TestTrials:
    def test_the_line_and_its_class_are_found(self, tmp_path: Path, pool: Pool) -> None:
        subject = subject_of(tmp_path, pool, "return float(answer in completion)")
        found = cause_of(closings(subject, "1 2 42 3"), {"keyword_stuffing": 1.0})
        assert found is not None
        flaw, closing = found
        assert flaw in ("substring_match", "keyword_stuffing")
        assert (closing.line, closing.code) == (5, "return float(answer in completion)")
        assert (tmp_path / "m.py").read_text().endswith("answer in completion)\n")

    def test_a_sound_line_has_none(self, tmp_path: Path, pool: Pool) -> None:
        subject = subject_of(tmp_path, pool, "return float([answer] == last(completion))")
        assert closings(subject, "it is 42") == []

    def test_no_time_is_no_trial(self, tmp_path: Path, pool: Pool) -> None:
        subject = subject_of(tmp_path, pool, "return float(answer in completion)")
        assert closings(subject, "1 2 42 3", seconds=-1.0) == []

    def test_another_text_runs_in_place_of_the_file(self, tmp_path: Path, pool: Pool) -> None:
        subject = subject_of(tmp_path, pool, "return float([answer] == last(completion))")
        text = "from beside import last\n\n\ndef f(completion, answer):\n    return 0.25\n"
        other = type(subject)(
            subject.name, subject.target, subject.signature, PROBLEMS, backend=pool, text=text
        )
        scores = [one.score([Query(PROBLEMS[0], "42")])[0].value for one in (subject, other)]
        assert scores == [1.0, 0.25]
        assert other.fingerprint != subject.fingerprint
        assert other.source is not None
        assert other.source.text == text


class TestChoice:
    def test_a_fix_that_changes_little_counts_most(self) -> None:
        some = Closing(("sign_lost",), 3, "x", "without abs", 1.0)
        more = Closing(("weak_proxy",), 4, "y", "equality", 0.4)
        assert cause_of([more, some], {}) == ("sign_lost", some)

    def test_what_passed_says_which_of_its_classes(self) -> None:
        one = Closing(("many_attempts", "hedging"), 3, "x", "exactly one", 1.0)
        assert cause_of([one], {"hedging": 2.0, "echo": 1.0}) == ("hedging", one)
        assert cause_of([one], {}) == ("many_attempts", one)

    def test_a_fix_that_loses_right_forms_needs_an_attack_of_its_class(self) -> None:
        one = Closing(("order_ignored",), 3, "x", "the order counts", 0.5, keeps_all=False)
        assert cause_of([one], {"hedging": 1.0}) is None
        assert cause_of([one], {"order_ignored": 1.0}) == ("order_ignored", one)

    def test_a_vague_fix_alone_names_nothing(self) -> None:
        assert cause_of([Closing(("unanchored_regex",), 3, "x", "one match", 0.4)], {}) is None
