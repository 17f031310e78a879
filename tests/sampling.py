"""Parameters of which the default tests try some: the rest is slow."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def quick_ones(values: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """The values as parameters, in their order; those that are not in `quick` are slow. What is
    marked already (`pytest.param`) stays as it is."""
    return [
        one
        if one in quick or type(one) is type(_MARKED)
        else pytest.param(one, marks=pytest.mark.slow)
        for one in values
    ]


_MARKED = pytest.param()
