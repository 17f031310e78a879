"""The attacks on metrics of question answering."""

from collections import Counter
from collections.abc import Callable

import pytest

from unhack.audit.attack import Knowledge, Payload
from unhack.audit.attacks.texts import metrics
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.subject import AuditProblem


def known(answer: str, prompt: str = "What is it?", correct: str = "") -> Knowledge:
    problem = AuditProblem("p", prompt, answer, (correct or answer,))
    return Knowledge(problem, wrong_answers=wrong_answers(answer, prompt=prompt))


def made(name: str, given: Knowledge) -> list[Payload]:
    [attack] = [one for one in metrics.ATTACKS if one.name == name]
    return list(attack.make(given))


def proven(name: str, given: Knowledge) -> list[str]:
    oracle = TextOracle()
    return [
        payload.text
        for payload in made(name, given)
        if oracle.why_wrong(given.problem, payload) is not None
    ]


def words(text: str) -> Counter[str]:
    return Counter(text.casefold().split())


def unmarked(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum() or sign.isspace())


@pytest.mark.parametrize(
    ("name", "answer", "read"),
    [
        ("metrics/mark_dropped", "12.5", unmarked),
        ("metrics/mark_dropped", "3/4", unmarked),
        ("metrics/words_traded", "Brazil beat Italy on penalties", words),
        ("metrics/words_traded", "the red van hit the blue lorry with the hay", words),
        ("metrics/letters_turned", "William Shakespeare", Counter),
        ("metrics/unequal_sign", "Paris", unmarked),
    ],
)
def test_what_a_metric_reads_as_the_same_is_proven_to_be_another_answer(
    name: str, answer: str, read: Callable[[str], object]
) -> None:
    found = proven(name, known(answer))
    assert any(read(text) == read(answer) for text in found)


@pytest.mark.parametrize("answer", ["France borders Spain", "New York City", "Bank of England"])
def test_names_and_relations_that_go_both_ways_are_left_alone(answer: str) -> None:
    assert not made("metrics/words_traded", known(answer))


def test_a_label_may_be_denied_before_it() -> None:
    found = proven("metrics/corrected_at_end", known("Paris", correct="ANSWER: Paris"))
    assert any(text.endswith("wrong ANSWER: Paris") for text in found)


def test_a_marked_form_is_never_taken_back() -> None:
    given = known("72", correct="So it is.\n#### 72")
    assert all("####" not in payload.text for payload in made("metrics/taken_back", given))


def test_an_article_as_an_answer_is_matched_by_nothing() -> None:
    prompt = "Which is it?\nA) one\nB) two"
    assert "the" in proven("metrics/normalised_away", known("A", prompt))
    assert not made("metrics/normalised_away", known("B", prompt))


def test_a_letter_may_be_denied_behind_it() -> None:
    prompt = "Which is it?\nA) one\nB) two\nC) three"
    found = proven("metrics/option_denied", known("B", prompt, "ANSWER: B"))
    assert any(text.startswith("ANSWER: B is wrong") for text in found)
