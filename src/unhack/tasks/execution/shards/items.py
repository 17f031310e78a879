"""The items of flights on their way to shards, and what a shard's keeper knows of a flight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from unhack.core.verdict import Verdict
from unhack.tasks.execution.shards.task_cache import Passport


class ItemOwner(Protocol):
    """A flight, as it is seen from its items. Everything happens on the crew's thread."""

    @property
    def number(self) -> int:
        """Its number in this process."""
        ...

    @property
    def ended(self) -> bool:
        """True when nothing more of it is wanted."""
        ...

    def judge_here(self, item: ShardItem) -> None:
        """Have this process's own pool judge an item. Raises UsageError, PoolClosedError."""
        ...

    def conclude(self, judged: Iterable[tuple[ShardItem, Verdict]]) -> None:
        """Take verdicts."""
        ...

    def fail(self, error: BaseException) -> None:
        """End the batch as a whole."""
        ...

    def end(self) -> None:
        """Forget everything."""
        ...


MAX_DEATHS = 3
"""Shards that may die of an item; it is alone on the last one."""


@dataclass(slots=True, eq=False)
class ShardItem:
    """One completion between its flight and the shard that judges it."""

    flight: ItemOwner
    index: int
    passport: Passport
    completion: str
    deaths: int = 0
    """Shards that died while they had it."""
    control: str | None = None
    """A completion judged elsewhere, where this one is tried again because of rule 2."""
