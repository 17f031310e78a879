"""The text verifier: what passes, what never does, and that any text gets a verdict."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.errors import TaskError, UnknownNameError
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.answers.final_answer import Marker
from unhack.verifiers.base import VerifierFault
from unhack.verifiers.text import MAX_COMPLETION_CHARS, AnswerCheck, Several, TextVerifier

HOST_CHECKS = (AnswerCheck.EXACT, AnswerCheck.NUMERIC, AnswerCheck.CHOICE)
GOLD = {
    AnswerCheck.EXACT: "B",
    AnswerCheck.NUMERIC: "5",
    AnswerCheck.CHOICE: "B",
    AnswerCheck.REGEX: "B|5",
}
PIECES = ["\\boxed{", "}", "5", "B", "#### ", "\n", "$", "-", "/", "%", "nan", "the answer is "]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)


def judge(check: AnswerCheck, gold: str | None, completion: str, **options: Any) -> Verdict:
    """The verdict of a check that needs no sandbox."""
    steps = TextVerifier(check, **options).verify(Problem("p", "?", answer=gold), completion)
    with pytest.raises(StopIteration) as stop:
        next(steps)
    return stop.value.value


def boxed(answer: str) -> str:
    return f"\\boxed{{{answer}}}"


@pytest.mark.parametrize(
    ("check", "gold", "answer"),
    [
        (AnswerCheck.EXACT, "New York", " New \n York "),
        (AnswerCheck.EXACT, "caf\u00e9", "cafe\u0301"),
        (AnswerCheck.EXACT, "$5$", "$5$"),
        (AnswerCheck.NUMERIC, "1234", "1,234.0"),
        (AnswerCheck.NUMERIC, "0.5", "1/2"),
        (AnswerCheck.NUMERIC, "0.5", "50%"),
        (AnswerCheck.NUMERIC, "-3", "\u22123"),
        (AnswerCheck.NUMERIC, "2/4", "4/8"),
        (AnswerCheck.CHOICE, "B", "B"),
        (AnswerCheck.CHOICE, "B", "b"),
        (AnswerCheck.CHOICE, "B", "(B)"),
        (AnswerCheck.CHOICE, "(B)", "B."),
        (AnswerCheck.CHOICE, "B", "B)"),
        (AnswerCheck.CHOICE, "B", "**B**"),
        (AnswerCheck.CHOICE, "B", r"\text{(B)}"),
        (AnswerCheck.CHOICE, "B", r"$\mathbf{B}$"),
    ],
)
def test_another_way_of_writing_the_same_answer_passes(
    check: AnswerCheck, gold: str, answer: str
) -> None:
    verdict = judge(check, gold, boxed(answer))
    assert (verdict.status, verdict.score) == (Status.PASSED, 1.0)
    assert (verdict.seal, verdict.isolation) == (Seal.TEXT, "none")


@pytest.mark.parametrize(
    ("check", "gold", "answer"),
    [
        (AnswerCheck.EXACT, "Paris", "paris"),
        (AnswerCheck.EXACT, "Paris", "Paris or Rome"),
        (AnswerCheck.EXACT, "Paris", "Par is"),
        (AnswerCheck.EXACT, "Paris", "P\u0430ris"),  # a Cyrillic letter
        (AnswerCheck.NUMERIC, "5", "-5"),
        (AnswerCheck.NUMERIC, "5", "5 or 6"),
        (AnswerCheck.NUMERIC, "5", "4, 5, 6"),
        (AnswerCheck.NUMERIC, "5", "2+3"),
        (AnswerCheck.NUMERIC, "5", "10/2"),
        (AnswerCheck.NUMERIC, "5", "nan"),
        (AnswerCheck.NUMERIC, "5", "inf"),
        (AnswerCheck.NUMERIC, "5", "5 apples"),
        (AnswerCheck.NUMERIC, "5", "500%%"),
        (AnswerCheck.NUMERIC, "50", "50%"),
        (AnswerCheck.NUMERIC, "0.3333333333333333", "1/3"),
        (AnswerCheck.NUMERIC, "1e300", "1e999"),
        (AnswerCheck.NUMERIC, "16", "4\u00b2"),
        (AnswerCheck.CHOICE, "B", "A or B"),
        (AnswerCheck.CHOICE, "B", "A, B"),
        (AnswerCheck.CHOICE, "B", "AB"),
        (AnswerCheck.CHOICE, "B", "B) because A is wrong"),
        (AnswerCheck.CHOICE, "B", "not B"),
        (AnswerCheck.CHOICE, "B", "\u0412"),  # a Cyrillic letter
        (AnswerCheck.CHOICE, "B", "[]"),
    ],
)
def test_a_different_hedged_or_unevaluated_answer_fails(
    check: AnswerCheck, gold: str, answer: str
) -> None:
    verdict = judge(check, gold, boxed(answer))
    assert (verdict.status, verdict.score) == (Status.FAILED, 0.0)


@pytest.mark.parametrize("check", HOST_CHECKS)
def test_several_marked_answers_must_agree(check: AnswerCheck) -> None:
    good, other = boxed(GOLD[check]), boxed({"5": "6"}.get(GOLD[check], "C"))
    assert judge(check, GOLD[check], good + good).passed
    for text in (other + good, good + other, f"{good}\n#### 7"):
        assert judge(check, GOLD[check], text).status is Status.FAILED


def test_the_last_answer_counts_alone_where_the_task_says_so() -> None:
    options = {"several": Several.LAST}
    assert judge(AnswerCheck.NUMERIC, "5", boxed("6") + boxed("5"), **options).passed
    assert not judge(AnswerCheck.NUMERIC, "5", boxed("5") + boxed("6"), **options).passed


def test_answers_that_say_the_same_differently_agree() -> None:
    assert judge(AnswerCheck.NUMERIC, "0.5", boxed("1/2") + boxed("0.50")).passed
    assert judge(AnswerCheck.CHOICE, "B", boxed("B") + boxed("(b)")).passed


@pytest.mark.slow
@given(TEXTS, st.sampled_from(HOST_CHECKS))
def test_a_text_without_a_marked_answer_never_passes(text: str, check: AnswerCheck) -> None:
    unmarked = text.replace("boxed", "").replace("####", "")
    verdict = judge(check, GOLD[check], unmarked)
    assert (verdict.status, verdict.score) == (Status.INVALID, 0.0)


@pytest.mark.slow
@given(TEXTS, st.sampled_from(HOST_CHECKS), st.sampled_from([(m,) for m in Marker]))
def test_whatever_the_text_there_is_a_verdict(
    text: str, check: AnswerCheck, markers: tuple[Marker, ...]
) -> None:
    verdict = judge(check, GOLD[check], text, answer_in=markers, several=Several.LAST)
    assert verdict.score == float(verdict.passed)
    if verdict.passed:
        assert verdict.cases[0].output.strip("()[].:*$ ")[-1] in GOLD[check]


@pytest.mark.slow
@given(st.fractions(), st.fractions(), st.booleans())
def test_numbers_are_compared_exactly(gold: Fraction, answer: Fraction, same: bool) -> None:
    answer = gold if same else answer
    verdict = judge(AnswerCheck.NUMERIC, str(gold), boxed(str(answer)))
    assert verdict.passed is (gold == answer)


@given(st.decimals(-1000, 1000, places=3), st.decimals(-1000, 1000, places=3))
def test_a_tolerance_is_exact_at_its_edge(gold: object, answer: object) -> None:
    left, right = Fraction(str(gold)), Fraction(str(answer))
    near = judge(AnswerCheck.NUMERIC, str(gold), boxed(str(answer)), abs_tol=0.1)
    assert near.passed is (abs(left - right) <= Fraction(1, 10))
    relative = judge(AnswerCheck.NUMERIC, str(gold), boxed(str(answer)), rel_tol=0.01)
    assert relative.passed is (abs(left - right) <= abs(left) / 100)


def test_a_tolerance_is_relative_to_the_gold_answer_not_to_the_claim() -> None:
    assert not judge(AnswerCheck.NUMERIC, "1", boxed("1e300"), rel_tol=0.5).passed
    assert not judge(AnswerCheck.NUMERIC, "0", boxed("1"), rel_tol=0.9).passed


def test_percent_points_units_and_case_are_accepted_only_by_option() -> None:
    assert judge(AnswerCheck.NUMERIC, "50", boxed("50%"), percent="points").passed
    assert not judge(AnswerCheck.NUMERIC, "50", boxed("0.5"), percent="points").passed
    assert judge(AnswerCheck.NUMERIC, "5", boxed("5 cm"), units=("cm",)).passed
    assert not judge(AnswerCheck.NUMERIC, "5", boxed("5 km"), units=("cm",)).passed
    assert judge(AnswerCheck.EXACT, "Paris", boxed("PARIS"), ignore_case=True).passed
    assert judge(AnswerCheck.NUMERIC, "5", boxed("10/2"), evaluated=False).passed


def test_only_what_follows_the_last_mark_of_thought_is_read() -> None:
    options = {"after": "</think>"}
    text = boxed("6") + "</think>" + boxed("7") + "</think>" + boxed("5")
    assert judge(AnswerCheck.NUMERIC, "5", text, **options).passed
    assert judge(AnswerCheck.NUMERIC, "5", boxed("5"), **options).status is Status.INVALID
    assert (
        judge(AnswerCheck.NUMERIC, "5", boxed("5") + "</think>", **options).status is Status.INVALID
    )


def test_choices_may_be_words() -> None:
    options = {"choices": ("yes", "no")}
    assert judge(AnswerCheck.CHOICE, "yes", boxed("Yes."), **options).passed
    assert not judge(AnswerCheck.CHOICE, "yes", boxed("yes and no"), **options).passed


@pytest.mark.parametrize("check", HOST_CHECKS)
def test_a_text_beyond_all_bounds_fails_without_being_read(check: AnswerCheck) -> None:
    huge = boxed("9" * 20_000)
    assert judge(check, GOLD[check], huge).status is Status.FAILED
    crowd = boxed(GOLD[check]) * 1001
    assert "more than 1000" in judge(check, GOLD[check], crowd).reason
    flood = boxed(GOLD[check]) + " " * MAX_COMPLETION_CHARS
    assert judge(check, GOLD[check], flood).status is Status.INVALID


def test_a_reason_never_holds_the_gold_answer() -> None:
    for check, gold in (
        (AnswerCheck.EXACT, "secret"),
        (AnswerCheck.NUMERIC, "71824"),
        (AnswerCheck.CHOICE, "J"),
    ):
        for answer in ("x", "1", "A", "1 or 2"):
            verdict = judge(check, gold, boxed(answer))
            assert gold not in str(verdict.to_json())


@pytest.mark.parametrize(
    ("check", "gold"),
    [
        *((check, gold) for check in HOST_CHECKS for gold in (None, "", "  ")),
        (AnswerCheck.NUMERIC, "many"),
        (AnswerCheck.NUMERIC, "nan"),
        (AnswerCheck.CHOICE, "Z"),
        (AnswerCheck.CHOICE, "A or B"),
        (AnswerCheck.REGEX, "(a"),
    ],
)
def test_a_gold_answer_that_the_check_cannot_use_is_an_error_of_the_task(
    check: AnswerCheck, gold: str | None
) -> None:
    problem = Problem("broken", "?", answer=gold)
    with pytest.raises(TaskError, match="broken"):
        TextVerifier(check).require_answer(problem)
    with pytest.raises(VerifierFault, match="broken"):
        next(TextVerifier(check).verify(problem, boxed("5")))


@pytest.mark.parametrize("check", HOST_CHECKS)
def test_the_canary_can_always_be_judged(check: AnswerCheck) -> None:
    assert len(Marker) > 1
    for marker in Marker:
        options: dict[str, Any] = {"answer_in": (marker,), "after": "</think>"}
        canary = TextVerifier(check, **options).canary()
        assert judge(check, GOLD[check], canary, **options).status is Status.FAILED


def test_names_of_options_are_checked_with_the_nearest_valid_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean numeric"):
        TextVerifier("numerical")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownNameError, match="did you mean boxed"):
        TextVerifier(AnswerCheck.EXACT, answer_in=("box",))  # pyright: ignore[reportArgumentType]
    assert TextVerifier("exact").check is AnswerCheck.EXACT  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"answer_in": ()}, "answer_in names no form"),
        ({"rel_tol": float("nan")}, "rel_tol must be a finite number"),
        ({"abs_tol": -1.0}, "abs_tol must be a finite number"),
        ({"choices": ()}, "choices must be"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(TaskError, match=words):
        TextVerifier(AnswerCheck.NUMERIC, **options)
    with pytest.raises(TaskError, match="no meaning for the check exact"):
        TextVerifier(AnswerCheck.EXACT, rel_tol=0.1)


def test_without_math_verify_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TaskError, match=r'pip install "\.\[math\]"'):
        TextVerifier(AnswerCheck.MATH)


Scoring = Callable[..., list[Verdict]]


@pytest.fixture
def match(pool: Pool) -> Scoring:
    def run(pattern: str, *answers: str, **options: Any) -> list[Verdict]:
        task = Task(Problem("p", "?", answer=pattern), TextVerifier(AnswerCheck.REGEX, **options))
        return list(run_batch(task, [boxed(answer) for answer in answers], backend=pool).verdicts)

    return run


@pytest.mark.slow
def test_a_pattern_must_match_the_whole_answer(match: Scoring) -> None:
    verdicts = match(r"B|5\d", "B", "57", "5", "xB", "Bx", "B 57", "A or B")
    assert [verdict.passed for verdict in verdicts] == [True, True, *[False] * 5]
    assert {verdict.seal for verdict in verdicts} == {Seal.TEXT}
    assert all(verdict.isolation != "none" for verdict in verdicts)


@pytest.mark.slow
def test_a_pattern_that_backtracks_without_end_scores_0_at_its_limit(match: Scoring) -> None:
    limits = Limits(wall_s=1.5, cpu_s=2.0)
    slow, quick = match(r"(a+)+$", "a" * 60 + "b", "aaa", limits=limits)
    assert (slow.status, slow.score) == (Status.TIMEOUT, 0.0)
    assert quick.passed


def test_a_broken_pattern_leaves_the_item_unscored(match: Scoring) -> None:
    [verdict] = match("(a", "a")
    assert (verdict.status, verdict.score) == (Status.UNSCORED, None)
    assert "does not compile" in verdict.reason


def test_no_text_leaves_a_regex_unscored(match: Scoring) -> None:
    hostile = ["\ud800", "\x00", "a" * 9000, '[null,"matched",true]', '"\n[null, "matched", true]']
    assert {verdict.status for verdict in match("never", *hostile)} == {Status.FAILED}


def test_reasoning_is_no_answer_unless_asked_for() -> None:
    text = "<think>maybe \\boxed{41}?</think> It is \\boxed{42}."
    assert judge(AnswerCheck.NUMERIC, "42", text).passed
    assert not judge(AnswerCheck.NUMERIC, "42", text, reasoning=True).passed
    assert judge(AnswerCheck.NUMERIC, "42", "<think>\\boxed{42}").status is Status.INVALID
    assert not judge(
        AnswerCheck.NUMERIC, "42", "<think>x</think> \\boxed{41} or \\boxed{42}"
    ).passed


@pytest.mark.parametrize("token", ["<|endoftext|>", "<|im_end|>\n", "</s>", "<end_of_turn>"])
def test_a_special_token_at_the_end_is_no_part_of_the_answer(token: str) -> None:
    assert judge(AnswerCheck.NUMERIC, "42", f"#### 42{token}").passed


@pytest.mark.parametrize(
    ("gold", "answer", "passes"),
    [
        ("42\\text{ jars}", "42", True),
        ("42\\text{ jars}", "42 jars", True),
        ("42\\text{ jars}", "42 boxes", False),
        ("18", "\\$18", True),
        ("18", "\\$18\\%", False),
    ],
)
def test_a_number_may_have_the_unit_of_the_gold_answer(
    gold: str, answer: str, passes: bool
) -> None:
    assert judge(AnswerCheck.NUMERIC, gold, boxed(answer)).passed is passes


@pytest.mark.parametrize(
    ("answer", "passes"),
    [("(B) Paris", True), ("B. A dog", True), ("(B) or (C)", False), ("B. or C", False)],
)
def test_a_choice_may_stand_with_its_text(answer: str, passes: bool) -> None:
    assert judge(AnswerCheck.CHOICE, "B", boxed(answer)).passed is passes


class TestUnits:
    @pytest.mark.parametrize(
        ("gold", "answer", "passes"),
        [
            ("57", r"57\text{ pens}", True),
            ("57", r"57 \text{ cm}^2", True),
            ("57", "57 hours", True),
            ("57", r"57\text{ thousand}", False),
            ("57", r"57\text{ dozen}", False),
            ("57", r"57\text{ or more}", False),
            ("57", r"57\text{ less than }x", False),
            ("57", r"57\text{ hundredths}", False),
            ("57", r"58\text{ pens}", False),
            (r"57\text{ cm}", r"57\text{ mm}", False),
        ],
    )
    @pytest.mark.parametrize("check", [AnswerCheck.NUMERIC, AnswerCheck.MATH])
    def test_a_gold_without_a_unit_takes_any_that_leaves_the_number(
        self, check: AnswerCheck, gold: str, answer: str, passes: bool, pool: Pool
    ) -> None:
        text = f"\\boxed{{{answer}}}"
        loose = Task(Problem("p", "", answer=gold), TextVerifier(check, any_unit=True))
        strict = Task(Problem("p", "", answer=gold), TextVerifier(check))
        assert run_batch(loose, [text], backend=pool).rewards == (float(passes),)
        assert run_batch(strict, [text], backend=pool).rewards == (0.0,)

    def test_a_pound_of_weight_is_none_of_money(self) -> None:
        for gold, answer in ((r"5\text{ lb}", "\\boxed{£5}"), ("5", r"\boxed{5\text{ lb}}")):
            assert judge(AnswerCheck.NUMERIC, gold, answer).score == 0.0
        assert judge(AnswerCheck.NUMERIC, "5", "\\boxed{£5}").score == 1.0


def test_other_forms_count_only_where_the_first_ones_are_not_there() -> None:
    forms = {"answer_in": (Marker.BOXED,), "else_in": (Marker.TAG, Marker.PHRASE)}
    said = {
        "The answer is 5.": 1.0,
        "<answer>5</answer>": 1.0,
        r"The answer is wrong, it is \boxed{5}": 1.0,
        r"The answer is 5, no, \boxed{6}": 0.0,
        "<answer>6</answer> The answer is 5.": 0.0,
        "5": 0.0,
    }
    found = {text: judge(AnswerCheck.NUMERIC, "5", text, **forms).score for text in said}
    assert found == said
    assert judge(AnswerCheck.NUMERIC, "5", "The answer is 5.").score == 0.0
