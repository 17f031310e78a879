"""What readers of answers drop: each payload is wrong by the oracle, and some reward it."""

from __future__ import annotations

import re

import pytest

from unhack.audit.attack import Knowledge, Payload, payloads_of
from unhack.audit.attacks.texts.extraction import ATTACKS
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.subject import AuditProblem

ANSWERS = ("72", "1220", "-5", r"\frac{3}{4}", r"2\sqrt{3}")


def _payloads(answer: str, attack: str = "") -> list[Payload]:
    problem = AuditProblem("p", "Which number is it?", answer, correct=(answer,))
    known = Knowledge(problem, wrong_answers=wrong_answers(answer))
    found = payloads_of(ATTACKS, known)
    return [payload for one, payload in found if one.name.endswith(attack)]


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_payload_is_wrong(answer: str) -> None:
    problem = AuditProblem("p", "Which number is it?", answer)
    payloads = _payloads(answer)
    assert len(payloads) > 8
    for payload in payloads:
        assert TextOracle().why_wrong(problem, payload) is not None, payload


@pytest.mark.parametrize("answer", ["Paris", "B", "(1, 2)", "yes"])
def test_answers_of_other_kinds_are_left_alone(answer: str) -> None:
    assert _payloads(answer) == []


def test_a_thousands_separator_is_no_list() -> None:
    texts = [payload.text for payload in _payloads("1220", "digits_listed")]
    assert texts
    assert not any("1,220" in text or "1, 220" in text for text in texts)


def test_a_prompt_about_bases_gets_no_other_base() -> None:
    problem = AuditProblem("p", "Write eleven in base 8.", "13", correct=("13",))
    found = payloads_of(ATTACKS, Knowledge(problem, wrong_answers=("14", "15")))
    assert not any("base" in one.name for one, _ in found)


@pytest.mark.parametrize(
    ("pattern", "attack"),
    [(r"^.{1,2}=", "left_side"), (r"\\text\{ .*$", "in_text"), (r"_\{?\d+\}?$", "another_base")],
)
def test_a_reader_that_drops_it_is_fooled(pattern: str, attack: str) -> None:
    texts = [payload.text for payload in _payloads("72", attack)]
    assert any(re.sub(pattern, "", text).strip() == "72" for text in texts), texts
