"""The runs of a verifier by which its inputs are found: each made once, and counted.

    runs = TrialRuns(most=3000)
    runs.scores(queries, score, about=subject.signature)

Covered: a completion that several questions ask about; a bound on all of them together.
Not covered: the runs of the audit itself, which its journal counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unhack.audit.subject import STOPPED, Query, Score

_NO_ROOM = Score(None, STOPPED, "the calls for finding the inputs are used up")


@dataclass
class TrialRuns:
    """Scores that are known, and the number of runs that they took.

    Example:

        TrialRuns(most=3000).scores(queries, score, about=signature)
    """

    most: float = math.inf
    """Runs that may be made; what would be one more is `stopped`."""
    calls: int = 0
    cut: bool = False
    """True where something was not tried."""
    _known: dict[tuple[int, int, str], Score] = field(
        default_factory=dict[tuple[int, int, str], Score]
    )
    _held: list[Any] = field(default_factory=list[Any])
    """What the numbers in the keys stand for: kept, so that no number is given twice."""

    def scores(
        self,
        queries: Sequence[Query],
        score: Callable[[Sequence[Query]], list[Score]],
        *,
        about: object,
    ) -> list[Score]:
        """The scores, in order; `about` is what else they depend on, the same object for the
        same."""
        self._held += [about, *(query.problem for query in queries)]
        keys = [(id(about), id(query.problem), query.completion) for query in queries]
        fresh = {
            key: query for key, query in zip(keys, queries, strict=True) if key not in self._known
        }
        asked = dict(list(fresh.items())[: int(min(len(fresh), max(0.0, self.most - self.calls)))])
        self.cut = self.cut or len(asked) < len(fresh)
        self.calls += len(asked)
        found = score(list(asked.values())) if asked else []
        self._known |= dict(zip(asked, found, strict=True))
        return [self._known.get(key, _NO_ROOM) for key in keys]
