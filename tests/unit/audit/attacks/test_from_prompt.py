"""Attacks made from the prompt and from the form of another problem's right completion."""

import json
import re

import pytest

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.from_prompt.listed import listed_form
from unhack.audit.attacks.from_prompt.ranges import with_last_number
from unhack.audit.attacks.from_prompt.restated import algebra_of
from unhack.audit.attacks.payloads.prompt_parts import named_in, quantities_of
from unhack.audit.attacks.registry import all_attacks
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.oracle.puzzle_sums import rule_broken
from unhack.audit.search.strategies.strategy import view_of
from unhack.audit.subject import AuditProblem

BY_NAME = {attack.name: attack for attack in all_attacks()}


def made(name: str, prompt: str, donor: tuple[str, str]) -> list[Payload]:
    """The payloads for a prompt, when the donor's answer and right completion are these."""
    attack: Attack = BY_NAME[name]
    problem = AuditProblem("p", prompt, "77 78", ("77 78",))
    known: Knowledge = view_of(problem, AuditProblem("d", "?", donor[0], (donor[1],)), None)
    return list(attack.make(known))


class TestListedForm:
    @pytest.mark.parametrize(
        ("answer", "text", "gap"),
        [
            ("2, 3, 5", "They are: 2, 3, 5.", ", "),
            ("2 3", "<items><item>2</item><item>3</item></items>", "</item><item>"),
            ("[3][7]", "see [3][7]", "]["),
            ("A C D", "A\nC\nD", "\n"),
            ("2, 3", "[2, 3]", ", "),
        ],
    )
    def test_a_list_keeps_its_signs_with_other_items(
        self, answer: str, text: str, gap: str
    ) -> None:
        form = listed_form(AuditProblem("p", "?", answer, (text,)))
        assert form is not None
        assert form.gap == gap
        assert form.write(form.items) == text
        assert form.write(["x"]) == f"{form.before}x{form.after}"

    @pytest.mark.parametrize(
        ("answer", "text"), [("42", "42"), ("2, 3", "3 and 2"), ("a b c", "a-b c"), ("", "x")]
    )
    def test_what_is_no_list_in_one_form_has_none(self, answer: str, text: str) -> None:
        assert listed_form(AuditProblem("p", "?", answer, (text,))) is None

    def test_lists_are_dumped_in_the_form_of_the_donor(self) -> None:
        first = made("listed/dumped", "Which primes?", ("2 3", "<i>2</i><i>3</i>"))[0]
        assert re.findall(r"<i>(\d+)</i>", first.text) == [str(number) for number in range(300)]
        assert first.claim is Claim.EVERY_ANSWER

    def test_one_named_item_is_repeated(self) -> None:
        texts = [
            one.text for one in made("listed/repeated", "Take: tent (5); map (1)", ("a, b", "a, b"))
        ]
        assert texts[0] == ", ".join(["tent"] * 40)
        assert texts[1] == ", ".join(["map"] * 40)

    def test_the_target_of_a_sum_stands_beside_zeros(self) -> None:
        prompt = "Which three of 3, 9, 12, 5 add up to 26?"
        problem = AuditProblem("p", prompt, "9+12+5", ("9+12+5",))
        known = view_of(problem, AuditProblem("d", "?", "1+2+3", ("1+2+3",)), None)
        first = next(iter(BY_NAME["listed/sum_alone"].make(known)))
        assert first.text == "26+0+0"
        assert TextOracle().why_wrong(problem, first) is not None
        assert "not given" in rule_broken(prompt, "9+12+5", first.asserts[0])


class TestExtremes:
    def test_only_a_second_number_is_changed(self) -> None:
        assert with_last_number("Answer: 7\nConfidence: 0.9", "0") == "Answer: 7\nConfidence: 0"
        assert with_last_number("Answer: 7", "0") is None
        assert with_last_number("x1 and 2.5, 3a", "0") is None

    def test_a_wrong_answer_gets_every_degree_of_certainty(self) -> None:
        payloads = made("extremes/number_aside", "6 * 7?", ("12", "<a>12</a><c>0.9</c>"))
        assert {one.text for one in payloads} >= {"<a>12</a><c>0</c>", "<a>12</a><c>-50</c>"}
        assert {(one.claim, one.asserts) for one in payloads} == {(Claim.OTHER_ANSWER, ("12",))}

    def test_an_interval_is_made_to_hold_everything(self) -> None:
        texts = [one.text for one in made("extremes/ends", "How long?", ("12", "about 10 to 14"))]
        assert "about 0 to 1000000" in texts

    def test_a_completion_with_one_number_has_no_second(self) -> None:
        assert made("extremes/number_aside", "6 * 7?", ("12", "#### 12")) == []


class TestStructured:
    GROUPS = ("[[1], [2, 3]]", "[[1], [2, 3]]")
    CALL = '{"name": "find", "arguments": {"place": "Rome", "seats": 2}}'

    def test_containers_are_emptied_at_every_depth(self) -> None:
        values = [json.loads(one.text) for one in made("structured/emptied", "?", self.GROUPS)]
        assert values == [[], [[], []], [[1], [2, 3]], [[1]]]

    def test_a_call_keeps_its_name_without_arguments(self) -> None:
        values = [
            json.loads(one.text) for one in made("structured/emptied", "?", (self.CALL, self.CALL))
        ]
        assert {"name": "find", "arguments": {}} in values

    def test_each_key_has_a_value_of_its_own(self) -> None:
        text = '{"A": 1, "B": 1}'
        values = [json.loads(one.text) for one in made("structured/all_differ", "?", (text, text))]
        assert {"A": 1, "B": 2} in values
        assert {"A": 101, "B": 102} in values

    def test_records_hold_every_name_of_the_prompt_with_every_count(self) -> None:
        text = '[{"name": "Zoe", "count": 3}]'
        [payload] = made("structured/records", "Ann has 4, Bob has 5.", (text, text))
        found = json.loads(payload.text)
        assert {"name": "Ann", "count": 4} in found
        assert {"name": "Bob", "count": 59} in found

    def test_answers_of_another_shape_get_no_records(self) -> None:
        assert made("structured/records", "?", ("42", "42")) == []
        assert made("structured/emptied", "?", ("42", "42")) == []


class TestQueries:
    QUERY = ("SELECT age FROM people", "SELECT age FROM people")

    def test_queries_name_the_table_of_the_prompt(self) -> None:
        texts = [one.text for one in made("queries/no_rows", "Table pets(name, age)?", self.QUERY)]
        assert "SELECT 1 WHERE 1 = 0" in texts
        assert "DELETE FROM pets; SELECT * FROM pets" in texts

    def test_only_queries_and_patterns_and_moves_are_answered_so(self) -> None:
        for name in ("queries/no_rows", "queries/any_text", "queries/every_cell"):
            assert made(name, "What is 6 * 7?", ("42", "42")) == []

    def test_a_pattern_is_answered_by_one_that_matches_all(self) -> None:
        texts = [one.text for one in made("queries/any_text", "Write a regex.", ("a+", "a+"))]
        assert ".*" in texts

    def test_moves_pass_every_cell_of_a_small_board(self) -> None:
        [walk, *_] = made("queries/every_cell", "A maze.", ("RRD", "The way is RRD"))
        assert walk.text.startswith("The way is ")
        at, seen = (0, 0), {(0, 0)}
        for sign in walk.asserts[0]:
            down, right = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}[sign]
            at = (min(7, max(0, at[0] + down)), min(7, max(0, at[1] + right)))
            seen.add(at)
        assert len(seen) == 64


class TestRestated:
    def test_quantities_and_dates_are_left_to_be_computed(self) -> None:
        prompt = "Which day is 45 days after 2024-03-01?"
        texts = [one.text for one in made("restated/quantities", prompt, ("x", "Date: x"))]
        assert "Date: 2024-03-01 + 45 days" in texts
        assert quantities_of("Convert 5 miles to km, 2.5kg") == ["5 miles", "2.5kg"]

    @pytest.mark.parametrize(
        ("prompt", "algebra"),
        [
            ("Multiply out: (x + 2)*(x - 3). Reply.", "(x + 2)*(x - 3)"),
            ("Expand a(a+1) now.", "a(a+1)"),
            ("What is 6 * 7?", ""),
            ("A cat and a dog.", ""),
        ],
    )
    def test_algebra_is_told_from_words(self, prompt: str, algebra: str) -> None:
        assert algebra_of(prompt) == algebra

    def test_entries_are_named_by_their_first_words(self) -> None:
        assert named_in("Items (weight): tent (5, 9); lamp (2, 4).") == ["tent", "lamp"]
        assert named_in("Documents: D1, D22, D3.") == ["D1", "D22", "D3"]
        assert named_in("What is it?") == []


class TestRestatedParts:
    def test_a_numbered_premise_is_handed_back_as_the_conclusion(self) -> None:
        prompt = "Given:\n1. (P and R)\n.2. Q\n.What can we conclude?"
        texts = [one.text for one in made("restated/items", prompt, ("(P or Q)", "(P or Q)"))]
        assert texts[0] == "(P and R)"
        assert "Q" in texts

    def test_a_number_that_was_to_be_taken_apart_is_handed_back(self) -> None:
        prompt = "Find the prime factorization of 333. Write the factors separated by ×."
        found = made("restated/unworked", prompt, ("2 × 7 × 17", "2 × 7 × 17"))
        assert [one.text for one in found if one.text == "333"]
        assert [one.text for one in found if one.text == "333 × 1"]
        problem = AuditProblem("p", prompt, "3 × 3 × 37", ("3 × 3 × 37",))
        assert TextOracle().why_wrong(problem, found[0]) is not None

    def test_a_prime_is_its_own_factorization(self) -> None:
        prompt = "Find the prime factorization of 587."
        found = made("restated/unworked", prompt, ("2 × 7 × 17", "2 × 7 × 17"))
        problem = AuditProblem("p", prompt, "587", ("587",))
        assert TextOracle().why_wrong(problem, found[0]) is None

    def test_a_number_is_not_to_be_taken_apart_where_answers_are_numbers(self) -> None:
        assert made("restated/unworked", "What is 12 of 3?", ("4", "4")) == []
        assert made("restated/unworked", "What is 1 by 3?", ("1/3", "1/3")) == []
