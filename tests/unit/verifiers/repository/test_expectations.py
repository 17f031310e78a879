"""Changed expectations are other ones, and of the kind of the right ones."""

import ast
import builtins
import copy
import re
from random import Random

import pytest

from unhack.verifiers.repository.expectations import Variation, change, edits
from unhack.verifiers.repository.vocabulary import Vocabulary

STRONG = {
    "assert f(2) == 4": 1,
    "assert [1, (2, 'a')] == f(2)": 1,
    "assert 'ab' in f(2)": 1,
    "assert f(2) == {'a': 1}": 1,
    "assert f(2) == -3": 1,
    "want = 7\nassert f(2) == want": 1,
    "assert f(2) == self.want": 0,
    "with pytest.raises(ValueError):\n    f(2)": 1,
    "self.assertEqual(f(2), 'x')": 1,
    "self.assertRaises(KeyError, f, 2)": 1,
    "assert f(2)": 0,
    "assert f(2) is None": 0,
    "assert f(2) == g(3)": 0,
    "assert f(2) == pytest.approx(2.5)": 1,
    "f(2)": 0,
}


def parsed(body: str, marks: str = "") -> ast.FunctionDef:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    node = ast.parse(f"{marks}\ndef test_it(self, a, b):\n{lines}\n").body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


@pytest.mark.parametrize("body", STRONG)
def test_strong_edits_are_found_where_a_value_is_expected(body: str):
    strong, _ = edits(parsed(body))
    assert len(strong) == STRONG[body]


def changed(text: str, *, weak: bool = False, seed: int = 0) -> str:
    """A file in which each test has another expectation."""
    tree = ast.parse(text)
    vocabulary = Vocabulary.of(tree)
    for test in tree.body:
        assert isinstance(test, ast.FunctionDef)
        edits(test)[weak][0](Variation(0, 1, vocabulary))
    vocabulary.settle(Random(seed))
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize("body", [body for body, count in STRONG.items() if count])
def test_a_changed_test_has_the_form_of_the_test_itself(body: str):
    before = ast.unparse(parsed(body))
    forms = {re.sub(r"'[^']*'|\b\d+\b|\w+Error", "X", text) for text in (before, changed(before))}
    assert len(forms) == 1
    assert changed(before) != before


def test_the_changed_tests_of_a_file_exchange_their_values():
    text = "\n".join(
        f"def test_{n}(self, a, b):\n    assert f({n}) == {value!r}\n"
        for n, value in enumerate((12, 40, 75, "red", "blue", "green"))
    )
    for seed in range(10):
        made = changed(text, seed=seed)
        constants = [
            [ast.unparse(one) for one in ast.walk(ast.parse(now)) if isinstance(one, ast.Constant)]
            for now in (text, made)
        ]
        changes = [now for then, now in zip(*constants, strict=True) if then != now]
        assert len(changes) == 6
        assert len(set(changes) - set(constants[0])) <= 2  # one of three of a kind has no partner


def test_errors_are_exchanged_with_others_that_the_file_names():
    test = "def test_{0}(self, a, b):\n    with pytest.raises({0}):\n        f(2)\n"
    made = changed(test.format("ParseError") + test.format("KeyError"))
    assert made.index("KeyError") < made.index("raises(ParseError)")


@pytest.mark.parametrize("error", ["ValueError", "KeyError", "UnicodeDecodeError", "Exception"])
def test_another_error_is_not_of_the_same_family(error: str):
    for seed in range(20):
        made = changed(
            f"def test_it():\n    with pytest.raises({error}):\n        f(2)\n", seed=seed
        )
        other = getattr(builtins, re.findall(r"raises\((\w+)\)", made)[0])
        mine = getattr(builtins, error)
        assert other is not mine
        assert error == "Exception" or not (issubclass(other, mine) or issubclass(mine, other))


def test_the_columns_that_are_compared_with_are_changed_in_every_row():
    marks = "@pytest.mark.parametrize('a,b', [(1, 10), pytest.param(2, 20), (3, 30)])"
    test = parsed("assert f(a) == b", marks)
    strong, _ = edits(test)
    strong[-1](Variation(1, 1))
    text = ast.unparse(test)
    assert "(1, 10)" not in text
    assert "(1, " in text
    assert "20)" not in text
    assert "30)" not in text


def test_truth_is_negated_where_no_value_is_expected():
    test = parsed("assert f(2)")
    edits(test)[1][0](Variation(0, 1))
    assert "assert not f(2)" in ast.unparse(test)


@pytest.mark.parametrize(
    ("body", "opposite"),
    [
        ("assert not f(2)", "assert f(2)"),
        ("assert f(2) is None", "assert f(2) is not None"),
        ("assert 1 in f(2)", "assert 1 not in f(2)"),
        ("assert f(2) < 3", "assert f(2) >= 3"),
    ],
)
def test_the_opposite_is_written_as_one_would_write_it(body: str, opposite: str):
    test = parsed(body)
    edits(test)[1][0](Variation(0, 1))
    assert opposite in ast.unparse(test)


def test_assertions_of_unittest_have_opposites():
    test = parsed("self.assertIn(1, f(2))")
    edits(test)[1][0](Variation(0, 1))
    assert "self.assertNotIn(1, f(2))" in ast.unparse(test)


@pytest.mark.parametrize(
    "value", [1, 0, -2, 1e300, 2.5, True, None, "", "a", "Ab9", "  ", b"", b"x", (1, "b")]
)
def test_another_value_is_another_one_of_the_same_kind(value: object):
    node = ast.parse(repr(value), mode="eval").body
    leaves = [item for item in ast.walk(node) if isinstance(item, ast.Constant)]
    assert leaves
    for seed in range(30):
        made = copy.deepcopy(node)
        change(made, Variation(seed, 1 + seed % 7))
        assert eval(ast.unparse(made)) != value


def test_no_rank_among_the_values_of_the_variants_is_that_of_the_right_one():
    ranks = [0, 0, 0, 0]
    for seed in range(400):
        values: list[int] = []
        for number in range(4):
            node = ast.parse("50", mode="eval").body
            change(node, Variation(seed, number))
            values.append(ast.literal_eval(node))
        assert values[0] == 50
        ranks[sorted(values).index(50)] += 1
    assert min(ranks) > 70
