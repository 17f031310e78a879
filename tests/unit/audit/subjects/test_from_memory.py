"""Reward functions that exist in memory alone."""

from __future__ import annotations

import re
import threading
from fractions import Fraction

import pytest

from unhack.audit.subject import Query
from unhack.audit.subjects.from_memory import subject_from_memory
from unhack.core.errors import UsageError
from unhack.sandbox.pool.pool import Pool

ROWS = [{"prompt": "What is 6 times 7?", "answer": "42"}, {"prompt": "2 + 2?", "answer": "4"}]
NUMBER = re.compile(r"-?\d+(?:/\d+)?")
PARTS = {"full": 1.0, "none": 0.0}
LOCK = threading.Lock()


class Reader:
    """Reads a number."""

    def read(self, text: str) -> Fraction | None:
        """The last number."""
        found = NUMBER.findall(text)
        return Fraction(found[-1]) if found else None


def last_number(text: str) -> Fraction | None:
    return Reader().read(text)


def reward(completion: str, answer: str) -> float:
    return PARTS["full" if last_number(completion) == Fraction(answer) else "none"]


def locked(completion: str, answer: str) -> float:
    with LOCK:
        return float(completion == answer)


def scores(function, pool: Pool, *texts: str) -> list[float | None]:
    subject = subject_from_memory(function, ROWS, backend=pool)
    return [one.value for one in subject.score([Query(subject.problems[0], t) for t in texts])]


@pytest.mark.slow
def test_it_is_scored_with_all_that_it_uses(pool: Pool) -> None:
    assert scores(reward, pool, "It is 84/2", "It is 41", "none") == [1.0, 0.0, 0.0]


@pytest.mark.slow
def test_a_closure_keeps_its_values(pool: Pool) -> None:
    bonus, allowed = 0.25, {"42", "forty-two"}

    def closed(completion: str, answer: str) -> float:
        return bonus if completion in allowed else 0.0

    assert scores(closed, pool, "42", "41") == [0.25, 0.0]


@pytest.mark.slow
def test_a_row_may_hold_any_plain_data(pool: Pool) -> None:
    rows = [{"prompt": "p", "answer": "4", "allowed": {"4", "four"}, "pair": (1, 2)}]

    def among(completion: str, answer: str, allowed: set[str], pair: tuple[int, int]) -> float:
        return float(completion in allowed and pair == (1, 2))

    subject = subject_from_memory(among, rows, backend=pool)
    found = subject.score([Query(subject.problems[0], text) for text in ("four", "five")])
    assert [one.value for one in found] == [1.0, 0.0]


def test_what_cannot_be_written_down_is_named() -> None:
    with pytest.raises(UsageError, match=r"locked uses LOCK, a lock"):
        subject_from_memory(locked, ROWS)


@pytest.mark.parametrize("value", [lambda completion, answer: 1.0, print, object()])
def test_only_a_function_with_a_name_is_taken(value) -> None:
    with pytest.raises(UsageError, match="define the reward with `def`"):
        subject_from_memory(value, ROWS)


def test_a_row_that_is_no_data_is_named() -> None:
    with pytest.raises(UsageError, match="row 2 is not plain data: prompt"):
        subject_from_memory(reward, [ROWS[0], {"prompt": object()}])


def test_no_rows_are_said() -> None:
    with pytest.raises(UsageError, match="no rows"):
        subject_from_memory(reward, [])
