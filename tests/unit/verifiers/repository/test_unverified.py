"""Two objects of the solution are equal where it computes so, not where it only says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.sampling import quick_ones

from unhack import Pool, Problem, Task, run_batch
from unhack.core.verdict import Status, Verdict
from unhack.verifiers.repository import RepositoryVerifier, pack_files
from unhack.verifiers.repository.unverified import ObjectTrial

pytestmark = pytest.mark.slow

FILE = "tests/test_shop.py"
HEAD = "import pytest\nfrom shop import {names}\n\n\n"
NAMES = ("Money", "added", "Size", "size_of", "sum_of")
PLAIN_CLASS = """
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return isinstance(other, Money) and self.cents == other.cents

    def __hash__(self):
        return hash(self.cents)


def added(a, b):
    return Money(a.cents + b.cents)
"""
DATACLASS = """
from dataclasses import dataclass


@dataclass(frozen=True)
class Money:
    cents: int
    coin: str = "euro"


def added(a, b):
    return Money(a.cents + b.cents, a.coin)
"""
SLOTS = """
class Money:
    __slots__ = ("cents",)

    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return self.cents == other.cents

    __hash__ = None


def added(a, b):
    return Money(a.cents + b.cents)
"""
NAMED = """
from collections import namedtuple

Money = namedtuple("Money", "cents")


def added(a, b):
    return Money(a.cents + b.cents)
"""
TOLERANT = """
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return abs(self.cents - other.cents) < 0.5


def added(a, b):
    return Money(a.cents + b.cents + 0.1)
"""
ENUM = """
import enum


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


def size_of(count):
    return Size.LARGE if count > 5 else Size.SMALL
"""
BUG = ("a.cents + b.cents", "a.cents - b.cents")
SUM = "def test_added():\n    assert added(Money(4), Money(3)) == Money(7)\n"
TESTS = {
    "compare": SUM,
    "names": "def test_added():\n    result = added(Money(4), Money(3))\n    wanted = Money(7)\n"
    "    assert result == wanted\n",
    "list": "def test_added():\n    assert [added(Money(4), Money(3))] == [Money(7)]\n",
    "dict": "def test_added():\n    assert {'a': added(Money(4), Money(3))} == {'a': Money(7)}\n",
    "member": "def test_added():\n    assert added(Money(4), Money(3)) in [Money(5), Money(7)]\n",
    "options": "def test_added():\n    options = [Money(5), Money(7)]\n"
    "    assert added(Money(4), Money(3)) in options\n",
    "unittest": "import unittest\n\nclass TestIt(unittest.TestCase):\n    def test_added(self):\n"
    "        self.assertEqual(added(Money(4), Money(3)), Money(7))\n",
    "rows": "@pytest.mark.parametrize(('a', 'b', 'wanted'), [(4, 3, Money(7)), (1, 1, Money(2))])\n"
    "def test_added(a, b, wanted):\n    assert added(Money(a), Money(b)) == wanted\n",
    "fixture": "@pytest.fixture\ndef four():\n    return Money(4)\n\n\n"
    "def test_added(four):\n    assert added(four, Money(3)) == Money(7)\n",
}
SET = (
    "def test_added():\n    assert {added(Money(4), Money(3)), Money(1)} == {Money(7), Money(1)}\n"
)
ALWAYS = "    def __eq__(self, other):\n        return True\n"
FIRST_ONLY = (
    "    seen = []\n\n    def __eq__(self, other):\n        self.seen.append(1)\n"
    "        return len(self.seen) < 2\n"
)
COIN = "    def __eq__(self, other):\n        import random\n        return random.random() < 0.5\n"
STATELESS = """
class Money:
    def __init__(self, cents):
        pass

    @property
    def cents(self):
        return 1

    def __eq__(self, other):
        return type(other) is Money

    def __hash__(self):
        return 0


def added(a, b):
    return Money(0)
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(slots=1)
    yield made
    made.close()


def judge(pool: Pool, right: str, test: str, handed_in: str) -> Verdict:
    base = {"shop/__init__.py": right.replace(*BUG).encode(), FILE: b""}
    name = "TestIt::test_added" if "unittest" in test else "test_added"
    rows = ("[4-3-wanted0]", "[1-1-wanted1]") if "parametrize" in test else ("",)
    expected = tuple(f"{FILE}::{name}{row}" for row in rows)
    head = HEAD.format(names=", ".join(one for one in NAMES if one in right))
    made = RepositoryVerifier({FILE: head + test}, base, ("shop/",), expected)
    reference = pack_files({"shop/__init__.py": right})
    task = Task(Problem("shop", "", reference=reference), made)
    return run_batch(task, [pack_files({"shop/__init__.py": handed_in})], backend=pool).verdicts[0]


def changed(method: str, source: str = PLAIN_CLASS) -> str:
    """The wrong package, with another `__eq__`."""
    start, end = source.index("    def __eq__"), source.index("    def __hash__")
    return (source[:start] + method + "\n" + source[end:]).replace(*BUG)


@pytest.mark.parametrize("name", quick_ones(TESTS, ("compare", "rows", "member", "dict")))
def test_an_honest_class_passes_in_every_form_of_comparison(pool: Pool, name: str) -> None:
    verdict = judge(pool, PLAIN_CLASS, TESTS[name], PLAIN_CLASS)
    assert verdict.status is Status.PASSED, verdict.reason
    assert "unverified" not in verdict.details


@pytest.mark.parametrize("name", quick_ones(TESTS, ("compare", "rows", "member", "dict")))
def test_a_class_that_equals_everything_fails_in_every_form(pool: Pool, name: str) -> None:
    verdict = judge(pool, PLAIN_CLASS, TESTS[name], changed(ALWAYS))
    assert verdict.status is Status.FAILED
    assert "equal to those of a changed expectation" in verdict.reason


@pytest.mark.parametrize("source", [DATACLASS, SLOTS, NAMED, TOLERANT])
def test_honest_kinds_of_classes_pass_and_their_fault_fails(pool: Pool, source: str) -> None:
    right = judge(pool, source, SUM, source)
    assert right.status is Status.PASSED, right.reason
    assert judge(pool, source, SUM, source.replace(*BUG)).status is Status.FAILED


def test_objects_in_a_set_and_members_of_an_enum_pass(pool: Pool) -> None:
    right = judge(pool, PLAIN_CLASS, SET, PLAIN_CLASS)
    assert right.status is Status.PASSED, right.reason
    sizes = "def test_added():\n    assert size_of(9) == Size.LARGE\n"
    verdict = judge(pool, ENUM, sizes, ENUM)
    assert verdict.status is Status.PASSED, verdict.reason
    assert verdict.details.get("unverified") is None


def test_a_class_without_a_state_fails(pool: Pool) -> None:
    assert judge(pool, PLAIN_CLASS, SUM, STATELESS).status is Status.FAILED


@pytest.mark.slow
def test_a_class_that_is_equal_once_seldom_passes(pool: Pool) -> None:
    verdicts = [judge(pool, PLAIN_CLASS, SUM, changed(FIRST_ONLY)) for _ in range(3)]
    assert sum(one.status is Status.PASSED for one in verdicts) <= 1


def test_a_class_that_tosses_a_coin_seldom_passes(pool: Pool) -> None:
    verdicts = [judge(pool, PLAIN_CLASS, SUM, changed(COIN)) for _ in range(4)]
    assert sum(one.status is Status.PASSED for one in verdicts) <= 1


def test_a_comparison_that_no_twin_can_be_made_of_is_named(pool: Pool) -> None:
    test = "LEFT, RIGHT = Money(4), Money(3)\nSEVEN = Money(7)\n\n\n"
    test += "def test_added():\n    assert SEVEN == sum_of()\n"
    source = PLAIN_CLASS + "\n\ndef sum_of():\n    return added(Money(4), Money(3))\n"
    verdict = judge(pool, source, test, source)
    assert verdict.status is Status.PASSED
    assert verdict.details["unverified"] == [f"{FILE}::test_added"]


def test_plain_values_are_not_tried_again(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("tried again")

    monkeypatch.setattr(ObjectTrial, "doubts", never)
    test = "def test_added():\n    assert added(Money(4), Money(3)).cents == 7\n"
    verdict = judge(pool, PLAIN_CLASS, test, PLAIN_CLASS)
    assert verdict.status is Status.PASSED, verdict.reason
