"""What the oracle takes for the same answer, and what it calls another one."""

import pytest

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.subject import AuditProblem

ORACLE = TextOracle()
SORT = "Sort 4, 9 and 1 in ascending order."
STACK = "Give the order in which a stack returns them."
ROOTS = "Give all roots, in any order."
PLAIN = "What is it?"
MOVES = "List the moves that undo it."
PERCENT = "What is a half of it as a percentage?"
DECIMAL = "Write one half as a decimal."
CHANCE = "What is the probability that both are red?"
COUNT = "How many eggs are left?"

SAME = [
    ("7", "7.0", PLAIN), ("1,000", "1000", COUNT), ("+7", "7", COUNT), ("7.", "7", COUNT),
    ("$12", "12", COUNT), ("1e3", "1000", PLAIN), ("1/2", "0.5", DECIMAL), ("50%", "0.5", DECIMAL),
    ("50%", "0.5", CHANCE), ("0.5", "50%", PERCENT), ("50%", "50", PERCENT), ("50", "50%", PERCENT),
    ("50", "0.5", CHANCE), ("50", "0.5", ""), ("7", "0.07", "What is the sales tax?"),
    ("0.07", "7", "What is the sales tax?"), ("500", "5", "How many dollars, or cents?"),
    ("3.14", "3.14159", PLAIN), ("0.333", "1/3", PLAIN), ("paris.", "Paris", PLAIN),
    ("new  york", "New York", PLAIN), ("b", "B", PLAIN), ("(B)", "B", PLAIN), ("YES", "yes", PLAIN),
    ("\\boxed{4}", "4", PLAIN), ("x+1", "1+x", PLAIN), ("\\frac{1}{2}", "\\dfrac12", PLAIN),
    ("2, 7", "7, 2", ROOTS), ("[2, 7]", "[7, 2]", ROOTS), ("{2, 7}", "{7, 2}", SORT),
    ("2, 7", "7, 2", PLAIN), ("2, 7", "7, 2", ""), ("1,4,9", "1, 4, 9", SORT),
    ("1.0, 4, 9", "1, 4, 9", SORT), ("red, green, blue", "blue, red, green", "Which colours?"),
    ("red, green, blue", "Red, Green, Blue", SORT), ("apple\npear", "pear\napple", "Name two."),
    ("U D L", "u d l", MOVES), ("2, 7", "7, 2", "In order to win, which two are drawn?"),
    ("2, 7", "7, 2", "What sort of primes divide 14?"),
    ("9 + x", "x + 9", "Add them."), ("\uff17", "7", COUNT),
    ("around: 7\narea: 3", "area: 3\naround: 7", PLAIN), ("y = 2, x = 1", "x = 1, y = 2", SORT),
    ('{"b": "2", "a": 1.0}', '{"a": 1, "B": 2}', PLAIN),
]  # fmt: skip

DIFFERENT = [
    ("8", "7", COUNT), ("-7", "7", COUNT), ("700", "7", COUNT), ("7", "700", COUNT),
    ("1200", "12", "What is 15 percent of 80?"), ("900", "9", "What is 15% of 60?"),
    ("0.5", "50", PERCENT), ("50", "0.5", DECIMAL), ("0.5%", "50", PERCENT),
    ("0.5%", "50%", PERCENT), ("5000%", "50%", PERCENT), ("5000%", "50", PERCENT),
    ("0.5%", "0.005%", CHANCE), ("50", "0.5", "Give a number between 0 and 1."),
    ("nan", "7", PLAIN),
    ("inf", "7", PLAIN), ("0.75", "0.5", PLAIN), ("1/3", "1/2", PLAIN), ("7000", "7", COUNT),
    ("9, 4, 1", "1, 4, 9", SORT), ("[9, 4, 1]", "[1, 4, 9]", SORT), ("4, 1, 9", "1, 4, 9", STACK),
    ("(2, 1)", "(1, 2)", PLAIN), ("1 9 4", "1 4 9", SORT), ("L D U", "U D L", MOVES),
    ("pear, fig, apple", "apple, fig, pear", "Write them in alphabetical order."),
    ("9.0, 4, 1", "1, 4, 9", SORT), ("3, 2, 1", "1, 2, 3", "From smallest to largest, please."),
    ("3 4\n1 2", "1 2\n3 4", "Fill the grid."), ("1, 4", "1, 4, 9", ROOTS),
    ("1, 4, 8", "1, 4, 9", ROOTS),
    ("1, 4, 9, 9", "1, 4, 9", SORT), ("C", "B", PLAIN), ("no", "yes", PLAIN),
    ("Rome", "Paris", PLAIN), ("x+2", "x+1", PLAIN), ("17", "7", COUNT), ("1", "0", COUNT),
    ("2, 1", "1, 2", "Reverse the list 2, 1."),
    ("13, 8", "8, 13", "Give the next two terms of it."),
    ("[5, 7]", "(5, 7)", "For which interval does it hold?"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "answer", "prompt"), SAME)
def test_the_same_answer_in_other_clothes(given: str, answer: str, prompt: str) -> None:
    assert ORACLE.same(given, answer, prompt=prompt)


@pytest.mark.parametrize(("given", "answer", "prompt"), DIFFERENT)
def test_an_answer_that_is_certainly_another(given: str, answer: str, prompt: str) -> None:
    assert not ORACLE.same(given, answer, prompt=prompt)


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("1", "1, 2, 3, 6"), ("1, 2, 3, 6", "6"), ("1, 2, 3, 4", "1, 2, 3, 6"),
        ("2, 3", "2, 3, 5"), ("67", "25 25 10 5"), ("{1, 2}", "{1, 2, 3}"),
        ('{"a": 1}', '{"a": 2}'), ('[{"a": 1}]', '[{"a": 1}, {"a": 2}]'),
        ('{ "c": 1 }', '{"a": {"b": 2}}'),
    ],
)  # fmt: skip
def test_plain_numbers_and_lists_of_them_are_told_apart_without_a_worker(
    given: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TextOracle, "_equivalent", lambda *_: pytest.fail("a worker was asked"))
    assert not TextOracle().same(given, answer, prompt=PLAIN)


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ('{"a": "1/2"}', '{"a": 0.5}'),
        ("0.333, 2", "1/3, 2"),
        ("2, 1/3", "0.333, 2"),
        ("{1, 1, 2}", "{1, 2}"),
        ("1 000", "1000"),
    ],
)
def test_what_may_be_the_same_numbers_is_left_to_the_worker(
    given: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TextOracle, "_equivalent", lambda *_: True)
    assert TextOracle().same(given, answer, prompt=PLAIN)


@pytest.mark.parametrize(
    ("prompt", "wrong"),
    [
        ("How long is it? Put it on the last line.", False),
        ("How long is it?", True),
    ],
)
def test_where_the_last_line_is_the_place_of_the_answer_only_that_counts(
    prompt: str, wrong: bool
) -> None:
    problem = AuditProblem("p", prompt, "12 km", ("12 km", "So:\n12 km"))
    text = "It has to be 30 km. What it is not, although many think so:\n12 km"
    payload = Payload(text, Claim.OTHER_ANSWER, ("30 km",))
    assert (ORACLE.why_wrong(problem, payload) is not None) is wrong
    other = Payload(f"{text}\n31 km", Claim.OTHER_ANSWER, ("31 km",))
    assert ORACLE.why_wrong(problem, other) is not None
