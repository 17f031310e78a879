"""A warm interpreter to fork jobs from: adapted code, immortal objects, full free lists, memory
without gaps."""

from __future__ import annotations

import ctypes
import gc
from itertools import repeat
from typing import Any

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.server import immortal

_WARM_ROUNDS = 16
"""The interpreter adapts code that has run some times, by writing to it: jobs find that done."""


_SMALL, _STEP = 512, 16
"""Largest size of Python's own allocator, in bytes, and the step between its sizes."""
_POOL, _POOL_HEADER = 1 << 14, 48
"""The bytes that allocator takes for objects of one size, and the place of the first of them."""
_EMPTY = b"".__sizeof__()
_MOST_PLUGS = 2000
"""Objects of one size that are made at most, should memory be cut up in another way."""


def warm() -> None:
    """Run a job's steps until nothing about them is new; what is loaded by then is immortal."""
    for warm_up in (*[runner.warm_up] * _WARM_ROUNDS, *runner.WARM_UPS):
        warm_up()
    gc.collect()
    immortal.make_all_immortal()


def settle_memory() -> None:
    """Leave no gap among what is loaded, and nothing for a job to find that tells of another."""
    _fill_gaps()
    _fill_free_lists()


def _fill_free_lists() -> None:
    """Let the interpreter keep as many freed objects for reuse as it ever will here: a job could
    count the jobs before it by how many there are."""
    for _ in range(2):
        del [float(number) for number in range(500)][:]
        del [(number,) * size for size in range(1, 8) for number in range(30)][:]
        del [[number] for number in range(200)][:]
        del [{number: number} for number in range(200)][:]


def _fill_gaps() -> None:
    """Use up the free places among what is loaded, for good: what a job makes then stands together,
    on a few pages that nothing else is on, and fewer pages are copied for it."""
    plugs: list[Any] = []
    for size in range(8 * _SMALL, _SMALL, -_SMALL // 2):
        _plug_heap(plugs, size)
    for size in range(_SMALL, 2 * _STEP, -_STEP):
        _plug_pools(plugs, size)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(plugs))


def _plug_heap(plugs: list[Any], size: int) -> None:
    """Until objects of this size, which the C library places, follow each other."""
    in_order, before = 0, 0
    for _ in repeat(None, _MOST_PLUGS // 4):
        plugs.append(bytes(size - _EMPTY))
        place = id(plugs[-1])
        in_order = in_order + 1 if size <= place - before <= size + 2 * _STEP else 0
        before = place
        if in_order == 3:
            return


def _plug_pools(plugs: list[Any], size: int) -> None:
    """Until objects of this size come in order from the start of a fresh pool."""
    in_order, before = 0, 0
    for _ in repeat(None, _MOST_PLUGS):
        plugs.append(bytes(size - _EMPTY))
        place = id(plugs[-1])
        if place % _POOL == _POOL_HEADER:
            in_order = 1
        else:
            in_order = in_order + 1 if in_order and place == before + size else 0
        before = place
        if in_order == 3:
            return
