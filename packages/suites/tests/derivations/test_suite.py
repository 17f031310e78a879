"""The suite of derivations: right by construction, the same from a seed, faults found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unhack.core.errors import UnknownNameError, UsageError
from unhack_suites.derivations.kinds import KINDS, shown
from unhack_suites.derivations.suite import COUNT, DerivationProblem, make_problems


def test_the_suite_has_many_problems_of_many_kinds() -> None:
    problems = make_problems("suite")
    assert len({one.id for one in problems}) == len(problems) == COUNT >= 60
    assert len({one.kind for one in problems}) == len(KINDS) >= 10
    assert problems == make_problems("suite")
    again = {one.id for one in problems} & {one.id for one in make_problems("another")}
    assert len(again) < COUNT / 20


@pytest.mark.slow
@given(seed=st.integers())
@settings(max_examples=20, deadline=None)
def test_every_reference_is_right_line_by_line(seed: int) -> None:
    problems = [*make_problems(seed, count=len(KINDS))]
    assert problems
    for problem in problems:
        report = problem.check("\n".join(problem.reference))
        assert (report.first_wrong, report.score) == (None, 1.0)
        assert report.reaches_answer


@pytest.mark.sample
@given(seed=st.integers(), shift=st.integers(1, 9))
@settings(max_examples=20, deadline=None)
@pytest.mark.slow
def test_a_wrong_result_is_found_at_its_line(seed: int, shift: int) -> None:
    problems = [*make_problems(seed, count=len(KINDS))]
    assert problems
    for problem in problems:
        lines = [*problem.reference]
        at = (seed + shift) % len(lines)
        changed = re.sub(r"\d+$", lambda found: str(int(found[0]) + shift), lines[at])
        report = problem.check("\n".join([*lines[:at], changed, *lines[at + 1 :]]))
        assert report.first_wrong is not None
        assert report.first_wrong.number == at + 1


@pytest.mark.slow
def test_the_answer_alone_earns_nothing() -> None:
    problems = [*make_problems("jump")]
    assert problems
    for problem in problems:
        report = problem.check(f"The answer is {problem.answer}.")
        assert (report.score, report.reaches_answer) == (0.0, False)


def test_a_statement_does_not_hold_its_answer() -> None:
    def told(problem: DerivationProblem) -> bool:
        return problem.answer in re.findall(r"\d+(?:\.\d+)?", problem.statement)

    problems = make_problems("told", count=240)
    assert sum(map(told, problems)) < len(problems) / 10


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="linear"):
        make_problems(1, kinds=("liner",))
    with pytest.raises(UsageError, match="at least one"):
        make_problems(1, count=0)
    with pytest.raises(ValueError, match="no short decimal"):
        shown(1 / 3)
