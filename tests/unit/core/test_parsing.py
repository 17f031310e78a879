"""Parsing in many threads."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from unhack.core.parsing import parse_python

pytestmark = pytest.mark.slow

_SOURCE = "\n".join(
    f"def f{n}(a, b):\n    return [a + (b * ({n} - a)), {{b: a}}]" for n in range(60)
)


def test_threads_that_parse_at_once_get_their_trees() -> None:
    failures: list[BaseException] = []

    def handed_on(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)  # the interpreter goes to another thread in the middle of a tree

    def work() -> None:
        try:
            for _ in range(15):
                assert len(parse_python(_SOURCE).body) == 60
        except BaseException as error:
            failures.append(error)

    before = gc.get_threshold()
    gc.set_threshold(50)
    gc.callbacks.append(handed_on)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.callbacks.remove(handed_on)
        gc.set_threshold(*before)
    assert failures == []


def test_what_is_no_python_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        parse_python(b"def (")
