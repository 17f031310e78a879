"""Make what a fork server has loaded immortal, so that jobs do not write its reference counts.

A reference count is a write, and the first write to a page that a fork shares copies the page. From
Python 3.12 on, an object whose count has a certain value is never counted (PEP 683), as None is
not. Everything that is alive before the first job gets that value: a job then writes a third fewer
pages. Nothing that is to know a job may be made before: a job leaves the objects of its server by
letting them go, and an immortal one stays.

Covered: CPython from 3.12 with a global interpreter lock; elsewhere nothing happens.
Not covered: objects that neither the garbage collector nor a code object leads to.
Visible to a job: `sys.getrefcount` of what was loaded before it, the same in every job.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import types
from typing import Any

_LEAST_FIXED = 1 << 30
"""The counts of immortal objects begin here, in every version that has them."""


def _count_of(value: object) -> int:
    """The lower half of an object's count, which alone says whether it is immortal."""
    return ctypes.c_uint32.from_address(id(value)).value


def fixed_count() -> int:
    """The count of an immortal object; 0 where this interpreter has none, or keeps it elsewhere."""
    if (
        sys.implementation.name != "cpython"
        or sys.version_info < (3, 12)
        or sys.byteorder != "little"
        or "t" in sys.abiflags
        or not 0 < _count_of(object()) < 10
    ):
        return 0
    fixed = _count_of(None)
    return fixed if fixed >= _LEAST_FIXED else 0


def make_all_immortal() -> int:
    """Make everything immortal that is alive and can be found; how many objects that were."""
    fixed = fixed_count()
    if not fixed:
        return 0
    fresh: list[Any] = [item for item in gc.get_objects() if type(item) is not types.FrameType]
    counts: Any = (ctypes.c_uint32 * (1 << 45)).from_address(0)  # of any object, at a quarter of it
    total = 0
    while fresh:
        found: list[Any] = []
        for item in fresh:
            place = id(item) >> 2
            if counts[place] != fixed:
                counts[place] = fixed
                found.append(item)
        total += len(found)
        fresh = gc.get_referents(*found)
        for item in found:
            if type(item) is types.CodeType:
                fresh += _parts(item)
    return total


def _parts(code: types.CodeType) -> list[Any]:
    """The objects that a code object holds, which it does not tell the garbage collector."""
    return [
        code.co_consts, code.co_names, code.co_linetable, code.co_exceptiontable,
        code.co_name, code.co_qualname, code.co_filename,
    ]  # fmt: skip
