"""Values out of a Hypothesis strategy: seeded, without a database, without a file left behind.

Covered: a fixed number of values, fewer where a strategy has fewer or finds none that fit.
Not covered: shrinking; a witness is shortened by `unhack.audit.proving.minimize`.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

from hypothesis import HealthCheck, Phase, Verbosity, configuration, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.internal.conjecture import providers

_NO_CHECKS = cast("list[HealthCheck]", list(HealthCheck))
_HOME_IS_ELSEWHERE = threading.Lock()
_READ, _FOUND = "_get_local_constants", "_local_constants"
"""Names in Hypothesis: the function that reads modules, and what it has found."""


def sample(strategy: st.SearchStrategy[Any], *, count: int, seed: int) -> list[Any]:
    """At most `count` values; the same for the same strategy and seed."""
    found: list[Any] = []
    with (
        _HOME_IS_ELSEWHERE,
        tempfile.TemporaryDirectory(prefix="unhack-") as folder,
        _without_constants(),
    ):
        before = configuration.storage_directory(intent_to_write=False).path
        configuration.set_hypothesis_home_dir(folder)
        try:
            _collect(strategy, found, count=count, number=seed)
        except HypothesisException:
            pass  # what was found until then counts
        finally:
            configuration.set_hypothesis_home_dir(before)
    return found


@contextmanager
def _without_constants() -> Generator[None]:
    """Keep Hypothesis from reading every loaded module for constants to draw: that takes seconds,
    and what is drawn would depend on the modules that a process happens to have loaded."""
    space = cast("dict[str, Any]", vars(providers))
    before, none = space.get(_READ), space.get(_FOUND)
    if before is not None and none is not None:  # other versions may not read at all
        space[_READ] = lambda: none
    try:
        yield
    finally:
        if before is not None:
            space[_READ] = before


def _collect(
    strategy: st.SearchStrategy[Any], found: list[Any], *, count: int, number: int
) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=_NO_CHECKS,
        verbosity=Verbosity.quiet,
        print_blob=False,
        backend="hypothesis",
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
