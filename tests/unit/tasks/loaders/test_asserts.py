"""Assert statements become cases; what cannot become one says why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.tasks.loaders.asserts import NeedsScript, compile_asserts, compile_check
from unhack.tasks.loaders.predicates import Compared, Near
from unhack.verifiers.function import Case
from unhack.verifiers.values.compare import equally


def cases_of(*asserts: str, call: str = "f") -> tuple[Case, ...]:
    compiled = compile_asserts(asserts, call=call)
    assert not isinstance(compiled, NeedsScript), compiled
    return compiled


def refusal(*asserts: str, call: str = "f") -> NeedsScript:
    compiled = compile_asserts(asserts, call=call)
    assert isinstance(compiled, NeedsScript), compiled
    return compiled


def holds(case: Case, output: Any) -> bool:
    """What the function verifier asks of a returned value."""
    return case.accepts(output) if case.accepts else equally(output, case.expected)


@pytest.mark.parametrize(
    "text",
    ["assert f(1, [2], key='x') == 3", "assert 3 == f(1, [2], key='x')",
     "assert f(1, [2], key='x') == 3, 'a message'", "assert f(*[1, [2]], key='x') == 2 + 1"],
)  # fmt: skip
def test_an_equality_is_a_case_with_arguments_and_a_value(text: str):
    assert cases_of(text) == (Case((1, [2]), {"key": "x"}, 3),)


CONDITIONS = [
    ("f() == {v}", lambda x, v: x == v),
    ("f() != {v}", lambda x, v: x != v),
    ("{v} != f()", lambda x, v: x != v),
    ("f() < {v}", lambda x, v: x < v),
    ("{v} < f()", lambda x, v: v < x),
    ("f() >= {v}", lambda x, v: x >= v),
    ("f() in [{v}, 7]", lambda x, v: x in [v, 7]),
    ("f() is True", lambda x, v: x is True),
    ("f() is None", lambda x, v: x is None),
    ("f()", lambda x, v: bool(x)),
    ("not f()", lambda x, v: not x),
    ("abs(f() - {v}) < 0.5", lambda x, v: abs(x - v) < 0.5),
    ("abs({v} - f()) <= 1", lambda x, v: abs(v - x) <= 1),
    ("0.5 > abs(f() - {v})", lambda x, v: abs(x - v) < 0.5),
    ("math.isclose(f(), {v}, rel_tol=0.5)", lambda x, v: abs(x - v) <= 0.5 * max(abs(x), abs(v))),
    ("set(f()) == {{{v}}}", lambda x, v: set(x) == {v}),
    ("tuple(f()) == ({v},)", lambda x, v: tuple(x) == (v,)),
    ("len(f()) == 1", lambda x, v: len(x) == 1),
    ("sorted(f()) == [{v}]", lambda x, v: sorted(x) == [v]),
]
RESULTS = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2) | st.text("ab", max_size=2)
    | st.lists(st.integers(-2, 2), max_size=2) | st.tuples(st.integers(-2, 2))
)  # fmt: skip


@given(st.sampled_from(CONDITIONS), RESULTS, st.integers(-2, 2))
def test_a_case_passes_exactly_when_the_assert_would(condition: Any, result: Any, value: int):
    text, meaning = condition
    [case] = cases_of("assert " + text.format(v=value))
    try:
        truth = bool(meaning(result, value))
    except (TypeError, ValueError):
        truth = False
    assert holds(case, result) == truth


def test_a_conjunction_is_several_cases():
    assert [case.expected for case in cases_of("assert f(1) == 1 and f(2) == 4")] == [1, 4]


def test_constants_bound_to_names_are_read():
    assert cases_of("big = 10 ** 3", "assert f(big) == big + 1") == (Case((1000,), {}, 1001),)


def test_statements_without_a_check_are_left_out():
    cases = cases_of(
        "import math", "print('on')", "print", "'doc'", "assert True", "assert f() == 1"
    )
    assert len(cases) == 1


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("for i in range(3): assert f(i) == i", "For"),
        ("try:\n    f(1)\nexcept ValueError:\n    pass", "Try"),
        ("assert f(1) == f(2)", "2 calls"),
        ("assert f(x) == 1", "x is not a constant"),
        ("assert helper(f(1)) == 1", "not the plain result"),
        ("assert f(1)[0] == 1", "not the plain result"),
        ("assert f(1) == 1 or True", "no comparison"),
        ("assert f(f(1)) == 1", "2 calls"),
        ("assert 1 in f(1)", "membership"),
        ("assert f(1) is 5", "`is`"),
        ("assert f(range(3)) == 3", "range is not plain data"),
        ("assert f(**{'a': 1}) == 3", "** in a call"),
        ("assert set(f(1)) != {1}", "between sets"),
        ("assert False", "0 calls"),
        ("assert 1 < f(1) < 3", "no comparison"),
        ("assert abs(f(1) - 'x') < 1", "not a number"),
        ("result = f(1)", "not a constant"),
        ("x = y = 3", "Assign"),
    ],
)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_is_more_than_a_constant_check_needs_a_script(statement: str, why: str):
    found = refusal("assert f(0) == 0", statement)
    assert why in found.reason
    assert found.line == 2


def test_a_value_that_a_call_may_have_changed_is_not_read_again():
    assert (
        "may have been changed" in refusal("v = [1]", "assert f(v) == 1", "assert v == [1]").reason
    )
    assert len(cases_of("v = [1]", "assert f(v) == 1", "v = [2]", "assert f(v) == 2")) == 2
    assert len(cases_of("v = 'x'", "assert f(v) == 1", "assert f(v) == 1")) == 2


def test_a_builtin_that_the_tests_redefine_is_not_taken_for_the_builtin():
    assert "set" in refusal("set = list", "assert set(f(1)) == {1}").reason


def test_tests_that_call_nothing_need_a_script():
    assert "no assert" in refusal("assert True").reason


def test_a_method_of_a_fresh_object_can_be_the_entry_point():
    [case] = cases_of("assert Solution().total([1, 2]) == 3", call="Solution().total")
    assert case.args == ([1, 2],)
    other = refusal("assert Other().total([1]) == 3", call="Solution().total")
    assert "Other().total([1]) == 3 is not a constant" in other.reason


def test_check_is_compiled_for_whatever_its_argument_is_called():
    source = (
        "METADATA = {}\n\ndef check(g):\n    'doc'\n    assert g(2) == 4\n    assert not g(0)\n"
    )
    compiled = compile_check(source)
    assert compiled == (
        Case((2,), {}, 4),
        Case((0,), {}, False, accepts=Compared("==", False, "bool")),
    )


def test_code_without_check_is_refused():
    with pytest.raises(ValueError, match="check"):
        compile_check("assert True")


def test_tolerances_are_kept_per_case():
    first, second = cases_of("assert abs(f(1) - 2) < 1e-6", "assert math.isclose(f(1), 3)")
    assert first.accepts == Near(2, abs_tol=1e-6, inclusive=False)
    assert second.accepts == Near(3, abs_tol=0.0, rel_tol=1e-9)
