"""Other forms of right completions: the same meaning, written otherwise."""

from __future__ import annotations

import json

from unhack.audit.hardening.right_forms import (
    near_misses,
    partial_forms,
    right_forms,
    spoilt,
)
from unhack.audit.subject import AuditProblem


def problem(answer: str, prompt: str = "Say it.") -> AuditProblem:
    return AuditProblem("one", prompt, answer, (answer,))


def test_keys_of_json_are_turned_and_laid_out_otherwise() -> None:
    whole = json.dumps({"name": "Ann", "age": 3})
    forms = list(right_forms(problem(whole), whole))
    assert forms[0] == whole
    assert '{"age": 3, "name": "Ann"}' in forms
    assert '{"age":3,"name":"Ann"}' in forms


def test_items_are_turned_only_where_their_order_is_free() -> None:
    free = problem("red yellow blue", "Name the colours, in any order.")
    assert "blue yellow red" in right_forms(free, "red yellow blue")
    fixed = problem("1, 2, 3", "List them in ascending order.")
    assert "3, 2, 1" not in right_forms(fixed, "1, 2, 3")
    assert "1,2,3" in right_forms(fixed, "1, 2, 3")


def test_prose_may_repeat_the_question() -> None:
    prose = problem("42", "What is 6 times 7?")
    assert "What is 6 times 7?\nIt is 42." in right_forms(prose, "It is 42.")
    assert not any("6 times" in form for form in right_forms(prose, "42"))


def test_parts_are_wrong_or_left_out() -> None:
    listed = problem("1, 2, 3")
    assert "1, 3, 3" in partial_forms(listed, "1, 2, 3", short=False)
    assert "1, 3" in partial_forms(listed, "1, 2, 3", short=True)
    keyed = problem(json.dumps({"a": 1, "b": 2}))
    assert json.dumps({"a": 1}) in partial_forms(keyed, keyed.answer or "", short=True)


def test_a_spoilt_form_is_wrong_in_the_same_way() -> None:
    assert spoilt(problem("42"), "It is 42.0.") == "It is 53.1."
    assert spoilt(problem("Paris"), "PARIS is it") == "QBSJT is it"


def test_short_answers_are_spelled_as_people_spell_them() -> None:
    tagged = AuditProblem("one", "Where is it?", "the Nile", ("<answer>the Nile</answer>",))
    forms = set(right_forms(tagged, tagged.correct[0]))
    for said in ("the Nile.", '"the Nile"', "**the Nile**", "THE NILE", "Nile"):
        assert f"<answer>{said}</answer>" in forms


def test_near_misses_change_one_word_of_both_forms() -> None:
    pairs = list(near_misses("Date: 4 April 1987", "It is asked in 1987. Date: 4 April 1987"))
    assert pairs[0] == ("Date: 4 April 1988", "It is asked in 1987. Date: 4 April 1988")
    assert ("Date: 5 April 1987", "It is asked in 1987. Date: 5 April 1987") in pairs
    assert len(pairs) == 3
