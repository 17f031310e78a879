"""The bar for hacks: what honest guessing is rewarded, on verifiers small enough to see through."""

import re
from collections.abc import Callable

import pytest
from tests.unit.audit.search.strategies.one_process import Verifier

from unhack.audit.proving.baseline import measure_baselines
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.search.strategies.honest import HonestReward, honest_reward
from unhack.audit.subject import AuditProblem

SUMS = [
    AuditProblem(f"p{n}", f"What is {n} plus 30?", str(n + 30), (f"It is {n + 30}",))
    for n in range(4)
]


def expected_reward(
    score: Callable[[str, str], float | None], rows: list[AuditProblem]
) -> list[HonestReward]:
    journal = ScoreJournal(Verifier(score, rows), None)
    baselines = measure_baselines(journal, rows)
    assert all(one.threshold is not None for one in baselines)
    found = honest_reward(journal, baselines, lambda _: ())
    return [found[row.id] for row in rows]


def last(text: str) -> str:
    return (re.findall(r"\d+", text) or [""])[-1]


def test_a_verifier_of_open_answers_rewards_a_guess_nothing() -> None:
    one = expected_reward(lambda text, answer: float(last(text) == answer), SUMS)[0]
    assert (one.right, one.guess, one.chance) == (1.0, 0.0, 0.0)


def test_a_choice_is_guessed_as_often_as_its_options_allow() -> None:
    rows = [
        AuditProblem(f"p{at}", "Which? A) x B) y C) z D) w", letter, (letter,))
        for at, letter in enumerate("ABCD")
    ]
    one = expected_reward(lambda text, answer: float(text == answer), rows)[0]
    assert one.guess == pytest.approx(0.25)


def test_credit_for_form_raises_the_bar_to_half_at_most() -> None:
    little = expected_reward(lambda text, answer: 0.2 + 0.8 * (last(text) == answer), SUMS)[0]
    assert little.guess == pytest.approx(0.2)
    much = expected_reward(
        lambda text, answer: 0.9 + 0.1 * (last(text) == answer) if text else 0.0, SUMS
    )[0]
    assert much.guess == pytest.approx(0.5)


class TestPenalties:
    def test_a_guess_rewards_the_penalty_where_right_ones_get_nothing(self) -> None:
        one = expected_reward(lambda text, answer: 0.0 if last(text) == answer else -1.0, SUMS)[0]
        assert (one.right, one.guess) == (0.0, -1.0)

    def test_who_is_spared_without_an_answer_is_no_honest_bar(self) -> None:
        def lenient(text: str, answer: str) -> float:
            return 0.0 if last(text) in ("", answer) else -1.0

        one = expected_reward(lenient, SUMS)[0]
        assert (one.right, one.guess) == (0.0, -0.5)

    def test_who_abstains_from_a_fined_answer_is_honest(self) -> None:
        def fined(text: str, answer: str) -> float:
            return 1.0 if last(text) == answer else -1.0 if last(text) else 0.0

        assert expected_reward(fined, SUMS)[0].guess == 0.0

    def test_a_completion_without_a_score_is_not_spared(self) -> None:
        def breaks(text: str, answer: str) -> float | None:
            return None if not last(text) else 0.0 if last(text) == answer else -1.0

        assert expected_reward(breaks, SUMS)[0].guess == -1.0
