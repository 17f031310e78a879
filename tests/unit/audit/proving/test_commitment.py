"""A hedge that is shortened must not come to mark the right answer alone."""

import pytest

from unhack.audit.attack import Attack, Claim, Payload
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.proving.prover import Proof, places_of, singles_out, still_wrong
from unhack.audit.subject import AuditProblem

OFFERED = ("3", "2", "4")
FORMS = (
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
    "#### {}\n",
    "The answer is {}. ",
    "Answer: {}\n",
    "[[{}]]",
    "RESULT => {} <= RESULT; ",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("between", ["", " ", "\n", " or "])
def test_the_right_answer_alone_in_its_form_is_singled_out(form: str, between: str) -> None:
    whole = between.join(form.format(one) for one in OFFERED)
    marked = form.format("2")
    for left in (f"3{between}{marked}", f"{marked}{between}4", f"3 {marked} 4"):
        assert singles_out(left, whole, OFFERED, right="2"), left


@pytest.mark.parametrize("form", FORMS)
def test_answers_that_are_marked_alike_commit_to_none(form: str) -> None:
    whole = " ".join(form.format(one) for one in OFFERED)
    two = f"{form.format('3')}{form.format('2')}"
    for left in (whole, two, "3 2", "3 2 4", f"{form.format('3')} 2", f"{two} 4"):
        assert not singles_out(left, whole, OFFERED, right="2"), left


@pytest.mark.parametrize(
    ("whole", "left"),
    [
        ("3 or 2 or 4", "3 or 2"),
        ("[3, 2, 4]", "[3, 2"),
        ("\\boxed{3 or 2 or 4}", "\\boxed{3 2}"),
        ("It may be 3. It may be 2. It may be 4.", "be 3. be 2"),
        ("First guess: 3\nSecond guess: 2\nThird guess: 4", "3\n2"),
        ("Answer: 3 (alternatively 2, or else 4)", "3 (2"),
    ],
)
def test_lists_are_shortened_as_before(whole: str, left: str) -> None:
    assert not singles_out(left, whole, OFFERED, right="2")


def test_half_a_mark_is_a_better_mark_than_none() -> None:
    whole = "<answer>3</answer> <answer>2</answer> <answer>4</answer>"
    assert singles_out("<answer>3 <answer>2</answer>", whole, OFFERED, right="2")
    assert singles_out("3</answer> <answer>2</answer>", whole, OFFERED, right="2")
    assert not singles_out("<answer>3</answer> 2</answer>", whole, OFFERED, right="2")


def test_the_right_answer_is_known_in_other_notations() -> None:
    whole = "\\boxed{1.5} \\boxed{0.50} \\boxed{2.5}"
    assert singles_out("1.5 \\boxed{0.50}", whole, ("1.5", "0.50", "2.5"), right="0.5")


def test_one_place_is_no_place_for_two_answers() -> None:
    assert places_of("12 and 2", ["2", "12"]) == {"12": (0, 2), "2": (7, 8)}
    assert places_of("1 or 11", ["1", "11"]) == {"11": (5, 7), "1": (0, 1)}
    assert dict(places_of("12", ["2", "1"])) == {}


def test_such_a_witness_is_no_proof_any_more() -> None:
    oracle = TextOracle()
    problem = AuditProblem("p", "2^10 mod 7? Put it in a box.", "2")
    payload = Payload("\\boxed{3} \\boxed{2} \\boxed{4}", Claim.EVERY_ANSWER, OFFERED)
    evidence = oracle.why_wrong(problem, payload)
    assert evidence is not None
    attack = Attack("test/hedge", "many_attempts", 1, False, lambda known: ())
    proof = Proof(attack, payload, problem, 1.0, 1.0, evidence)
    assert still_wrong(oracle, proof, "3\\boxed{2}") is None
    assert still_wrong(oracle, proof, "\\boxed{3}\\boxed{2}") is not None
