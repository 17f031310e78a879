"""Changed expectations are other ones, and of the kind of the right ones."""

import ast
import copy
from typing import Any

import pytest

from unhack.verifiers.repository.expectations import Variation, change, edits, helper

STRONG = {
    "assert f(2) == 4": 1,
    "assert [1, (2, 'a')] == f(2)": 1,
    "assert 'ab' in f(2)": 1,
    "assert f(2) == {'a': 1}": 1,
    "assert f(2) == -3": 1,
    "want = 7\nassert f(2) == want": 1,
    "assert f(2) == self.want": 1,
    "with pytest.raises(ValueError):\n    f(2)": 1,
    "self.assertEqual(f(2), 'x')": 1,
    "self.assertRaises(KeyError, f, 2)": 1,
    "assert f(2)": 0,
    "assert f(2) is None": 0,
    "assert f(2) == g(3)": 0,
    "f(2)": 0,
}


def parsed(body: str, marks: str = "") -> ast.FunctionDef:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    node = ast.parse(f"{marks}\ndef test_it(self, a, b):\n{lines}\n").body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


@pytest.mark.parametrize("body", STRONG)
def test_strong_edits_are_found_where_a_value_is_expected(body: str):
    strong, _ = edits(parsed(body), other="other")
    assert len(strong) == STRONG[body]


@pytest.mark.parametrize("body", [body for body, count in STRONG.items() if count])
def test_every_variant_of_a_test_has_a_text_of_its_own(body: str):
    before = ast.unparse(parsed(body))
    for seed in range(20):
        made: list[str] = []
        for number in range(4):
            test = parsed(body)
            edits(test, other="other")[0][0](Variation(seed, number))
            made.append(ast.unparse(ast.fix_missing_locations(test)))
        assert before not in made[1:]
        assert len(set(made)) == 4


def test_the_columns_that_are_compared_with_are_changed_in_every_row():
    marks = "@pytest.mark.parametrize('a,b', [(1, 10), pytest.param(2, 20), (3, 30)])"
    test = parsed("assert f(a) == b", marks)
    strong, _ = edits(test, other="other")
    strong[-1](Variation(1, 1))
    text = ast.unparse(test)
    assert "(1, 10)" not in text
    assert "(1, " in text
    assert "20)" not in text
    assert "30)" not in text


def test_truth_is_negated_where_no_value_is_expected():
    test = parsed("assert f(2)")
    edits(test, other="other")[1][0](Variation(0, 1))
    assert "assert not f(2)" in ast.unparse(test)


def test_assertions_of_unittest_have_opposites():
    test = parsed("self.assertIn(1, f(2))")
    edits(test, other="other")[1][0](Variation(0, 1))
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


@pytest.mark.parametrize(
    "value", [1, 0.5, True, None, "", "ab", b"", b"x", [], [1], (2, "a"), {}, {"a": 1}, {1, 2}]
)
def test_the_helper_gives_another_value(value: object):
    for seed in range(20):
        space: dict[str, object] = {}
        module = ast.Module(helper("other"), [])
        exec(compile(module, "helper", "exec"), space)
        other: Any = space["other"]
        assert other(value, Variation(seed, 1 + seed % 7).key()) != value
        assert other(value, Variation(seed, 0).key()) is value


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
