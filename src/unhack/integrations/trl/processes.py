"""Values of all processes of a run, the same on each of them.

Covered: every backend that accelerate gathers objects over; a part that failed raises on every
process, so that none waits for the others until a time-out.
Not covered: a process that dies, or that calls where the others do not; the run ends as it does
without unhack.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, TypeVar, cast

from unhack.core.errors import UnhackError

T = TypeVar("T")


def gathered(part: T) -> list[T]:
    """The parts of all processes in the order of their ranks; every process has to call."""
    # Looked up, not imported: without torch there is one process, and torch takes seconds to load.
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return [part]
    if distributed.get_world_size() == 1:
        return [part]
    accelerate: Any = importlib.import_module("accelerate.utils")
    return cast("list[T]", accelerate.gather_object([part]))


def all_rows(rows: list[T], failure: Exception | None) -> list[T]:
    """The rows of all processes. Raises `failure`, or UnhackError for that of another process."""
    parts = gathered((rows, "" if failure is None else f"{type(failure).__name__}: {failure}"))
    if failure is not None:
        raise failure
    for rank, (_, words) in enumerate(parts):
        if words:
            raise UnhackError(f"process {rank} could not judge its part: {words}")
    return [row for part, _ in parts for row in part]
