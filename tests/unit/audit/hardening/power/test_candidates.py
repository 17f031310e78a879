"""Completions that may show a copy to be weaker."""

from unhack.audit.attack import Claim, Knowledge
from unhack.audit.hardening.power.candidates import Candidate, candidates
from unhack.audit.subject import AuditProblem, Call


def made(answer: str, right: str) -> list[Candidate]:
    problem = AuditProblem("p", "How many?", answer, (right,))
    return candidates(Knowledge(problem, wrong_answers=("7", "40")))


def test_another_answer_stands_where_the_right_one_stood() -> None:
    texts = {one.payload.text: one.payload for one in made("42", "#### 42\n")}
    assert texts["#### 7\n"].asserts == ("7",)
    assert texts["#### 43\n"].claim is Claim.OTHER_ANSWER
    assert texts["#### 42 or 7\n"].claim is Claim.EVERY_ANSWER
    assert texts["#### \n"].claim is Claim.NO_ANSWER


def test_the_parts_of_a_listing_are_dropped_doubled_and_moved() -> None:
    texts = {one.payload.text for one in made("[3, 5, 8]", "[3, 5, 8]")}
    assert {"[5, 3, 8]", "[3, 5, 9]", "[3, 5"} <= texts


def test_a_right_answer_in_another_notation_is_found_by_its_number() -> None:
    texts = {one.payload.text for one in made("1036", "It is 1,036.0 m")}
    assert {"It is 7 m", "It is 1,036.0 or 7 m"} <= texts


def test_own_completions_come_before_those_of_the_attacks_and_none_is_right() -> None:
    found = made("42", "#### 42")
    origins = [one.of_attack for one in found]
    assert origins == sorted(origins)
    assert sum(origins) > 50 < len(origins) - sum(origins)
    assert "#### 42" not in {one.payload.text for one in found}


def test_a_program_is_mutated() -> None:
    program = "def double(n):\n    return n * 2\n"
    problem = AuditProblem(
        "p", "Write double(n).", correct=(program,), entry_point="double",
        calls=(Call((2,), {}, 4),),
    )  # fmt: skip
    own = [one for one in candidates(Knowledge(problem)) if not one.of_attack]
    assert len(own) > 3
    assert {one.payload.claim for one in own} == {Claim.PROGRAM}


def test_items_of_a_list_are_dropped_doubled_and_moved_whatever_the_sign_between_them() -> None:
    texts = {one.payload.text for one in made("ant < bee < cat", "ant < bee < cat")}
    assert {"cat < bee < ant", "ant < bee", "ant < ant < ant", "bee < ant < cat"} <= texts


def test_values_of_an_object_are_changed_emptied_and_given_other_types() -> None:
    right = '{"name": "Ann", "age": 7}'
    texts = {one.payload.text for one in made(right, right)}
    assert {'{"name": "Ann"}', '{"name": "Ann", "age": "7"}', "{}"} <= texts
    assert '{"name": null, "age": 7}' in texts


def test_where_the_answer_is_not_in_the_right_completion_any_part_of_it_is_edited() -> None:
    texts = {one.payload.text for one in made("", "a: 1\nb: 2")}
    assert {"a: 1", "b: 2\na: 1", "a: 2\nb: 2"} <= texts
