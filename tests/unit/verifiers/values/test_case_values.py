from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
from collections import Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from unhack import Case, FunctionVerifier
from unhack.core.errors import TaskError
from unhack.core.verdict import Verdict
from unhack.verifiers.values.compare import Compare

Score = Callable[..., Verdict]
Point = namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = 1


class Whole(enum.IntEnum):
    ONE = 1


@dataclasses.dataclass
class Pair:
    left: int


def task(case: Case, **options: Any) -> FunctionVerifier:
    return FunctionVerifier("f", (Case((1,), expected=1), case), **options)


CARRIED: list[Any] = [
    Counter("aab"),
    OrderedDict(b=1, a=2),
    defaultdict(int, a=1),
    deque([1, 2], maxlen=3),
    UserDict(a=1),
    Decimal("1.5"),
    Fraction(1, 3),
    dt.date(2020, 1, 2),
    dt.datetime(2020, 1, 2, tzinfo=dt.UTC),
    dt.time(1, 2),
    dt.timedelta(1),
    range(3),
    1 + 2j,
    b"x",
    bytearray(b"x"),
    frozenset({1}),
    {"a": 1}.keys(),
    {"a": 1}.items(),
]


class TestCarried:
    @pytest.mark.parametrize("value", CARRIED, ids=lambda value: type(value).__name__)
    @pytest.mark.parametrize("compare", [Compare.EXACT, Compare.EQUAL])
    def test_the_code_gets_the_type_and_may_give_it_back(
        self, score: Score, value: Any, compare: Compare
    ) -> None:
        case = Case((value, type(value).__name__), expected=value)
        source = "def f(x, name):\n    assert type(x).__name__ == name\n    return x"
        assert score(FunctionVerifier("f", (case,), compare=compare), source).passed

    @pytest.mark.parametrize(
        ("value", "body"),
        [
            (Counter("ab"), "dict(x)"),
            (OrderedDict(a=1), "dict(x)"),
            (deque([1]), "list(x)"),
            (Decimal("1.5"), "float(x)"),
            (Fraction(1, 2), "0.5"),
            (dt.date(2020, 1, 2), "x.isoformat()"),
            (range(3), "list(x)"),
            (bytearray(b"x"), "bytes(x)"),
            (frozenset({1}), "set(x)"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_another_type_with_the_same_content_is_not_exact(
        self, score: Score, value: Any, body: str
    ) -> None:
        verifier = FunctionVerifier("f", (Case((value,), expected=value),))
        assert not score(verifier, f"def f(x): return {body}").passed

    def test_it_arrives_as_a_keyword_too(self, score: Score) -> None:
        case = Case((), {"when": dt.date(2020, 1, 2)}, expected=dt.date(2020, 1, 3))
        source = "import datetime\ndef f(when): return when + datetime.timedelta(1)"
        assert score(FunctionVerifier("f", (case,)), source).passed


class TestEqualSaysWhatPythonSays:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ("__import__('collections').deque([1])", [1]),
            ("__import__('collections').Counter('a')", {"a": 1}),
            ("__import__('decimal').Decimal('0.5')", 0.5),
            ("__import__('fractions').Fraction(1, 2)", 0.5),
            ("{1: 2}.keys()", {1}),
            ("{1: 2}.items()", {(1, 2)}),
            ("memoryview(b'x')", b"x"),
            ("__import__('collections').UserDict(a=1)", {"a": 1}),
            ("__import__('collections').UserList([1])", [1]),
            ("range(3)", [0, 1, 2]),
            ("bytearray(b'x')", b"x"),
            ("__import__('datetime').datetime(2020, 1, 1)", dt.date(2020, 1, 1)),
        ],
    )
    def test_as_the_operator_does(self, score: Score, body: str, expected: Any) -> None:
        verifier = FunctionVerifier("f", (Case((), expected=expected),), compare=Compare.EQUAL)
        wanted = bool(eval(body) == expected)
        assert score(verifier, f"def f(): return {body}").passed is wanted


class TestRefused:
    @pytest.mark.parametrize(
        ("value", "way"),
        [
            (Point(1, 2), "plain tuple"),
            ([{"a": Point(1, 2)}], r"args\[0\]\[0\]\['a'\]"),
            (Colour.RED, "its value"),
            (Whole.ONE, "its value"),
            (Pair(1), "fields"),
            (iter([1]), "give a list"),
            (object(), "plain data"),
            (len, "plain data"),
            (defaultdict(lambda: 1), "factory"),
            ({Colour.RED: 1}, "a key of"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_an_argument_that_no_completion_would_get(self, value: Any, way: str) -> None:
        with pytest.raises(TaskError, match="case 2: ") as refused:
            task(Case((value,), expected=1))
        assert refused.match(way)

    @pytest.mark.parametrize(
        "value", [Point(1, 2), [Colour.RED], Pair(1), {1: 2}.values(), object(), Whole.ONE]
    )
    def test_an_expected_value_that_no_answer_equals(self, value: Any) -> None:
        with pytest.raises(TaskError, match="case 2: expected"):
            task(Case((1,), expected=value))

    def test_values_of_numpy(self) -> None:
        numpy = pytest.importorskip("numpy")
        for value in (numpy.arange(3), numpy.int64(3), {"a": numpy.float64(1)}):
            with pytest.raises(TaskError, match="tolist"):
                task(Case((value,), expected=1))
            with pytest.raises(TaskError, match="tolist"):
                task(Case((1,), expected=value))

    def test_a_number_of_numpy_may_be_expected_where_the_comparison_takes_it(self) -> None:
        numpy = pytest.importorskip("numpy")
        assert task(Case((1,), expected=numpy.float64(1)), compare=Compare.FLOAT)

    def test_one_list_in_two_places(self) -> None:
        row = [0]
        for case in (Case(([row, row],)), Case((row,), {"other": row}), Case(((row,), {"a": row}))):
            with pytest.raises(TaskError, match="the same list"):
                task(case)

    def test_an_object_that_says_what_it_equals_may_be_expected(self) -> None:
        assert task(Case((1,), expected=pytest.approx(1.0)), compare=Compare.EQUAL)

    def test_nothing_is_asked_of_an_expected_value_that_is_not_compared(self) -> None:
        assert task(Case((1,), expected=object(), accepts=lambda value: value == 1))
        assert task(Case((1,), expected=object(), raises="ValueError"))

    def test_nan_may_be_expected(self) -> None:
        assert task(Case((1,), expected=math.nan), compare=Compare.FLOAT)


@pytest.mark.slow
class TestRoom:
    def test_an_answer_larger_than_the_limit_passes_where_it_is_expected(
        self, score: Score
    ) -> None:
        verifier = FunctionVerifier("f", (Case((300_000,), expected=list(range(300_000))),))
        assert verifier.limits.output_bytes < 1_900_000
        assert score(verifier, "def f(n): return list(range(n))").passed

    def test_the_limit_still_ends_what_is_larger(self, score: Score) -> None:
        verifier = FunctionVerifier("f", (Case((3,), expected=[0, 1, 2]),))
        verdict = score(verifier, "def f(n): return list(range(10**6))")
        assert verdict.reason == "case 1 of 1: output limit reached"
