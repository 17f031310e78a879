"""Drawn inputs look like the known ones."""

from typing import Any

import pytest

from unhack.audit.oracle.domain import draw_calls
from unhack.audit.subject import Call


def drawn(*known: tuple[Any, ...], count: int = 60) -> list[tuple[Any, ...]]:
    return [call.args for call in draw_calls([Call(args) for args in known], count=count)]


def test_types_and_bounds_are_kept() -> None:
    every = [*drawn((3, "abc", True), (9, "b", False), (4, "cab", True))]
    assert every
    for number, text, flag in every:
        assert type(number) is int
        assert 3 <= number <= 12
        assert set(text) <= set("abc")
        assert type(flag) is bool


def test_negative_numbers_come_only_where_they_came() -> None:
    assert all(n >= 0 for (n,) in drawn((0,), (7,), (20,)))
    assert any(n < 0 for (n,) in drawn((-3,), (7,), (20,)))


def test_sorted_lists_stay_sorted_and_sets_stay_sets() -> None:
    every = [*drawn(([1, 4, 9],), ([2, 3, 8, 20],), ([5],))]
    assert every
    for (items,) in every:
        assert items == sorted(items)
        assert len(items) == len(set(items))


def test_lists_of_one_kind_each_are_drawn_without_an_order_between_kinds() -> None:
    assert drawn(([1, 4, 9],), (["a", "b", "c"],))


def test_unsorted_lists_with_duplicates_vary() -> None:
    found = [items for (items,) in drawn(([3, 1, 3],), ([2, 9, 4, 4],), ([],))]
    assert any(items != sorted(items) for items in found)
    assert any(len(items) != len(set(items)) for items in found)


@pytest.mark.slow
def test_a_matrix_stays_a_rectangle() -> None:
    every = [*drawn(([[1, 2], [3, 4]],), ([[5, 6, 7], [1, 1, 1]],))]
    assert every
    for (rows,) in every:
        assert len({len(row) for row in rows}) <= 1


@pytest.mark.slow
def test_relations_between_arguments_are_kept() -> None:
    every = [
        *drawn(([4, 5, 6], 1, [1, 2, 3]), ([7, 8], 0, [9, 9]), ([1, 2, 3, 4], 3, [4, 3, 2, 1]))
    ]
    assert every
    for items, index, other in every:
        assert 0 <= index < len(items)
        assert len(items) == len(other)


def test_a_number_that_is_always_an_item_stays_one() -> None:
    assert all(n in items for items, n in drawn(([4, 5, 6], 5), ([7, 8], 8), ([1], 1)))


def test_the_same_seed_draws_the_same_and_no_known_call_again() -> None:
    known = [Call(([3, 1], 2)), Call(([5, 6, 7], 3))]
    first = draw_calls(known, count=30, seed=5)
    assert first == draw_calls(known, count=30, seed=5)
    assert first != draw_calls(known, count=30, seed=6)
    assert not {repr(call.args) for call in known} & {repr(call.args) for call in first}
    assert len({repr(call.args) for call in first}) == len(first)


@pytest.mark.parametrize("known", [[], [Call()], [Call(kwargs={"n": 1})]])
def test_nothing_is_drawn_from_nothing(known: list[Call]) -> None:
    assert draw_calls(known, count=10) == []


def test_odd_values_are_used_again() -> None:
    found = drawn((None, {"a": 1}, (1, 2)), (None, {"b": 2, "a": 3}, (3, 4)), count=10)
    assert found
    for nothing, table, pair in found:
        assert nothing is None
        assert set(table) <= {"a", "b"}
        assert type(pair) is tuple
        assert len(pair) == 2
