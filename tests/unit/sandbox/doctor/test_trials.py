"""Trials leave no trace and never take the examiner down with them."""

from __future__ import annotations

import os

import pytest

from unhack.sandbox.doctor import trials


def test_a_trial_that_works_says_nothing() -> None:
    assert trials.attempt(lambda: None) == ""


def test_a_trial_that_fails_says_why() -> None:
    def fail() -> None:
        raise OSError(1, "not here")

    assert trials.attempt(fail) == "PermissionError: [Errno 1] not here"


def test_a_trial_that_dies_is_a_failure() -> None:
    assert "died" in trials.attempt(lambda: os.kill(os.getpid(), 9))


def test_a_trial_changes_nothing_here() -> None:
    trials.attempt(lambda: os.environ.update(TRIAL="1"))
    assert "TRIAL" not in os.environ


@pytest.mark.parametrize("name", trials.TRIALS)
def test_each_trial_ends_and_answers(name: str) -> None:
    words = trials.attempt(trials.TRIALS[name])
    assert words == "" or ":" in words
