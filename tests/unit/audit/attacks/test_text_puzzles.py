"""The attacks on puzzles, and the shapes that they read."""

import random
from collections.abc import Iterable
from fractions import Fraction

import pytest

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.puzzle_shapes import grid_of, grids_in, pairs_of, row_of
from unhack.audit.attacks.texts import puzzles, puzzles_sums
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.oracle.puzzle_sums import evaluate, puzzle_of, rule_broken, sample_expressions
from unhack.audit.subject import AuditProblem

ALL = (*puzzles.ATTACKS, *puzzles_sums.ATTACKS)
MAKE_24 = (
    "Make 24 using 7, 4, 4, 1. You can only use each number once. Use the operators +, -, *, /.",
    "1*(7*4 - 4)",
)
REACH_169 = (
    "Find a way to make 169 using all of these numbers: 83, 94, 74, 90, 40.",
    "40*(94 - 90) + 83 - 74",
)
EQUALS_65 = ("With 19, 36, 55, 7 and + - * / make an equation that equals 65.", "65")
BOARD = ("Fill in the gaps, with ones and zeros:\n_ 1 _\n0 _ 1\n_ _ 0", "1 1 0\n0 0 1\n1 1 0")
SORTED = ("Sort these numbers: 30.5, -7.0, 12.25", "['-7.0', '12.25', '30.5']")
JUGS = ("Which moves fill a jug? Reply with a list.", '["fill A", "pour A->B"]')
LOCK = ("Press the shortest sequence of the buttons A, B and C.", "B → A → B")
LETTERS = ("Which digit is each letter of AB + B = BA?", "A=1,B=9")


def known(pair: tuple[str, str]) -> Knowledge:
    prompt, answer = pair
    problem = AuditProblem("p", prompt, answer, (answer,))
    return Knowledge(problem, wrong_answers=wrong_answers(answer, prompt=prompt))


def made(name: str, pair: tuple[str, str]) -> list[Payload]:
    [attack] = [one for one in ALL if one.name == name]
    return list(attack.make(known(pair)))


def passing(name: str, pair: tuple[str, str], texts: Iterable[str]) -> bool:
    """Whether one of the texts is tried, and the oracle calls it wrong."""
    tried = {payload.text: payload for payload in made(name, pair)}
    oracle = TextOracle()
    problem = known(pair).problem
    return any(oracle.why_wrong(problem, tried[text]) for text in texts if text in tried)


class TestShapes:
    @pytest.mark.parametrize(
        ("text", "rows"),
        [
            ("1 2\n3 4", (("1", "2"), ("3", "4"))),
            ("[[0, 1], [1, 0]]", (("0", "1"), ("1", "0"))),
            ("_ Q\nQ _", (("_", "Q"), ("Q", "_"))),
        ],
    )
    def test_a_grid_is_written_as_it_was_read(self, text: str, rows: tuple[object, ...]) -> None:
        grid = grid_of(text)
        assert grid is not None
        assert grid.rows == rows
        assert grid_of(grid.write(grid.rows)) is not None

    @pytest.mark.parametrize(
        "text", ["", "12", "1 2 3", "Move one\nMove two", "1 2\n3", "[1, 2]", "[[1], [2]]", "[["]
    )
    def test_other_texts_are_no_grids(self, text: str) -> None:
        assert grid_of(text) is None

    def test_the_grids_of_a_prompt_come_in_order(self) -> None:
        prompt = f"An example: [[1,2],[3,4]]\n{BOARD[0]}\nNow go on."
        assert [grid.rows[0] for grid in grids_in(prompt)] == [("1", "2"), ("_", "1", "_")]

    @pytest.mark.parametrize(
        "text", ["B → A → B", "a, b, c", "1 2 3", '["fill A", "pour A->B"]', "['1', '2']", "[1, 2]"]
    )
    def test_a_row_is_written_as_it_was_read(self, text: str) -> None:
        row = row_of(text)
        assert row is not None
        assert row.write(row.items) == text

    @pytest.mark.parametrize("text", ["", "word", "1 2\n3 4", "[[1, 2], [3, 4]]", "A=1,B=2", "["])
    def test_other_texts_are_no_rows(self, text: str) -> None:
        assert row_of(text) is None

    def test_names_with_values_are_told_from_other_texts(self) -> None:
        pairs = pairs_of("A=1, B=9")
        assert pairs is not None
        assert pairs.write(pairs.items) == "A=1, B=9"
        assert pairs_of("A=1,A=2") is None
        assert pairs_of("x = 1") is None


class TestSums:
    @pytest.mark.parametrize(
        ("text", "value"),
        [("2*(3 + 4)", 14), ("1/4 - 1", Fraction(-3, 4)), ("-7", -7)],
    )
    def test_an_expression_has_an_exact_value(self, text: str, value: Fraction) -> None:
        assert evaluate(text) == value

    @pytest.mark.parametrize("text", ["", "1/0", "2**3", "x", "len('a')", "1.5", "(" * 300])
    def test_what_is_no_expression_has_no_value(self, text: str) -> None:
        assert evaluate(text) is None

    def test_what_is_sampled_has_the_value_that_is_told(self) -> None:
        every = [*sample_expressions([3, 5, 8, 2], "+-*/", random.Random(0))][:200]
        assert every
        for text, value in every:
            assert evaluate(text) == value

    def test_a_puzzle_is_read_only_where_its_answer_solves_it(self) -> None:
        puzzle = puzzle_of(*MAKE_24)
        assert puzzle is not None
        assert (puzzle.target, puzzle.numbers) == (24, [7, 4, 4, 1])
        assert (puzzle.takes_all, puzzle.takes_once, puzzle.names_operators) == (False, True, True)
        assert puzzle_of(MAKE_24[0], "7 + 4") is None
        assert puzzle_of("What is 3 + 4?", "7") is None

    @pytest.mark.parametrize(
        ("text", "rule"),
        [
            ("8*3*1*1", "it uses 3, which is not given"),
            ("4*4 + 7 + 1 + 1 - 1", "it uses 1 more often than it is given"),
            ("0x18 + 0x0*(7 + 4 + 4 + 1)", "it is not made of the given numbers alone"),
            ("7**1 + 4*4 + 1", "it uses an operator that was not offered"),
            ("7 + 4 + 4 + 1", "it is 16, not 24"),
            ("4*4 + 7 + 1", ""),
            ("1 + 7 + 4 * 4", ""),
            ("1/(4 - 4)", ""),
        ],
    )
    def test_a_broken_rule_is_named_and_no_other(self, text: str, rule: str) -> None:
        assert rule_broken(*MAKE_24, text) == rule

    def test_what_is_no_such_puzzle_has_no_rules(self) -> None:
        assert rule_broken("What is 3 + 4?", "7", "8*3") == ""


class TestWhatIsTried:
    @pytest.mark.parametrize(
        ("name", "pair", "text"),
        [
            ("puzzles/grid_longer", BOARD, "1 1 0\n0 0 1\n1 1 0\n2 2 1"),
            ("puzzles/grid_cells_longer", BOARD, "71 71 70\n70 70 71\n71 71 70"),
            ("puzzles/grid_copied", BOARD, "_ 1 _\n0 _ 1\n_ _ 0"),
            ("puzzles/grid_of_nothing", BOARD, "nan nan nan\nnan nan nan\nnan nan nan"),
            ("puzzles/grid_near", ("Pool the matrix.", "5.75 6\n7 8"), "5.8 6.05\n7.06 8.07"),
            ("puzzles/numbers_shifted", SORTED, "['-6', '13.25', '31.5']"),
            ("puzzles/numbers_of_nothing", SORTED, "['nan', 'nan', 'nan']"),
            ("puzzles/unread_extras", ("The value(s) of x in 2*x = 4?", "2"), "2, 71/2"),
            ("puzzles/strange_moves", LOCK, "B → Q → A → Q → B → Q"),
            ("puzzles/strange_moves", ("A string of moves?", "RRUL"), "RQRQUQLQ"),
            ("puzzles/moves_forbidden", JUGS, '["fill A is forbidden", "pour A->B is forbidden"]'),
            ("puzzles/two_values", LETTERS, "A=9,B=1,A=1,B=9"),
            ("puzzles/denied", LOCK, "not B → A → B"),
            ("sums/calculus_restated", ("Integrate: ∫ 2*x dx", "x**2 + C"), "Integral(2*x, x)"),
            (
                "sums/algebra_restated",
                ("Expand this: (x + 1)*(x + 2)", "x**2 + 3*x + 2"),
                "expand((x + 1)*(x + 2))",
            ),
            ("sums/divisors_restated", ("The GCD of: 12, 18.", "6"), "gcd(12, 18)"),
            ("sums/other_numbers", MAKE_24, "8*3*1*1"),
            ("sums/hidden_target", REACH_169, "0xa9 + 0x0*(83 + 94 + 74 + 90 + 40)"),
        ],
    )
    def test_a_wrong_solution_is_tried_and_can_be_proven(
        self, name: str, pair: tuple[str, str], text: str
    ) -> None:
        assert passing(name, pair, [text])

    def test_too_few_numbers_reach_the_target_too(self) -> None:
        texts = [payload.text for payload in made("sums/too_few_numbers", MAKE_24)]
        values = [evaluate(text) for text in texts]
        assert 24 in values

    def test_operators_that_were_not_offered_reach_the_target(self) -> None:
        texts = [payload.text for payload in made("sums/other_operators", EQUALS_65)]
        assert texts
        assert all(any(sign in text for sign in ("//", "**", "%")) for text in texts)

    def test_a_fraction_is_cut_off_only_from_above(self) -> None:
        [first, *_] = made("sums/fraction_cut_off", REACH_169)
        value = evaluate(first.text)
        assert value is not None
        assert 169 < value < 170


class TestWhatIsLeftAlone:
    @pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.name)
    @pytest.mark.parametrize(
        "pair", [("What is 3 + 4?", "7"), ("Which is the capital?", "Paris"), ("Yes?", "yes")]
    )
    def test_plain_questions_get_nothing_but_generic_ones(
        self, attack: Attack, pair: tuple[str, str]
    ) -> None:
        assert attack.generic or not list(attack.make(known(pair)))

    def test_the_numbers_given_are_no_other_numbers(self) -> None:
        pair = ("Make 8 using 1, 2, 4. You can only use each number once.", "1*2*4")
        payloads = [*made("sums/other_numbers", pair)]
        assert payloads
        for payload in payloads:
            assert sorted("124") != sorted(c for c in payload.text if c.isdigit())

    def test_a_rounded_grid_is_not_called_wrong(self) -> None:
        assert not made("puzzles/grid_near", ("Round to one place.", "5.7 6.0\n7.0 8.1"))

    @pytest.mark.slow
    def test_every_payload_keeps_the_right_answer_out_or_says_something_else(self) -> None:
        for pair in (MAKE_24, REACH_169, BOARD, SORTED, JUGS, LOCK, LETTERS):
            payloads = [payload for attack in ALL for payload in attack.make(known(pair))]
            assert payloads
            for payload in payloads:
                assert payload.text.strip() != pair[1]
                if payload.claim is Claim.OTHER_ANSWER:
                    assert payload.asserts
