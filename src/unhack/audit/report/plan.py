"""The plan of an audit: every part that was planned, and how each ended.

A conclusion is a function of these ends: *no hack found* takes all of them, so a budget that ended,
or a part that failed, is never read as soundness.

Covered: the strategies and the attacks of each tier, the search, mutants, the confirmation of what
was found, the checks of behaviour.
Not covered: attacks that nobody has written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_MORE = 1.25
"""A budget that is advised is larger than what the plan seems to need by this."""


class PartEnd(StrEnum):
    """The end of one part of a plan.

    Example:

        part.end is PartEnd.DONE
    """

    DONE = "done"
    STOPPED = "stopped"
    """A budget ended before it did."""
    NOT_APPLICABLE = "not applicable"
    """Nothing of this target is its matter."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PlanPart:
    """One part of a plan, and its end.

    Example:

        PlanPart(1, "attacks", PartEnd.STOPPED, "the call budget is used up", planned=640, ran=64)
    """

    tier: int
    """0 for what belongs to none: the checks, and the confirmation of what was found."""
    name: str
    end: PartEnd
    why: str = ""
    """The reason, a sentence without an end; empty where it is done."""
    planned: int = 0
    """Completions; 0 where that is not known beforehand."""
    ran: int = 0

    @property
    def is_open(self) -> bool:
        """True where it was to run and did not, or not to its end."""
        return self.end in (PartEnd.STOPPED, PartEnd.FAILED)

    def to_json(self) -> dict[str, Any]:
        """The part as plain JSON values."""
        return {
            "tier": self.tier, "part": self.name, "end": self.end.value, "why": self.why,
            "planned": self.planned, "ran": self.ran,
        }  # fmt: skip


def incomplete_text(plan: Sequence[PlanPart], *, calls: float, seconds: float) -> str:
    """The headline of an audit whose plan did not run to its end: the share that ran, the reason,
    and the budget to go on with. `calls` and `seconds` are what it had; empty where all ran."""
    left = [part for part in plan if part.is_open]
    if not left:
        return ""
    counted = [part for part in plan if part.planned]
    planned, ran = sum(part.planned for part in counted), sum(part.ran for part in counted)
    meant = [part for part in plan if part.end is not PartEnd.NOT_APPLICABLE]
    done = sum(part.end is PartEnd.DONE for part in meant)
    share = f"{ran} of {planned} planned completions were tried, " if planned else ""
    reasons = dict.fromkeys(f"{_named(part)}: {part.why}" for part in left)
    text = (
        f"{share}{done} of {len(meant)} parts of the plan ran to their end ({'; '.join(reasons)})"
    )
    more = budget_to_go_on(plan, calls=calls, seconds=seconds)
    return f"{text}; go on with {' '.join(more)}" if more else text


def budget_to_go_on(plan: Sequence[PlanPart], *, calls: float, seconds: float) -> list[str]:
    """The options, with their values, that a plan which was stopped would have needed; none where
    nothing was stopped, or more would not help."""
    if not any(part.end is PartEnd.STOPPED for part in plan):
        return []
    planned, ran = (sum(of) for of in zip(*((one.planned, one.ran) for one in plan), strict=True))
    factor = _MORE * max(2.0, planned / max(ran, 1))
    options = (("--calls", calls), ("--seconds", seconds))
    finite = [(name, of) for name, of in options if math.isfinite(of)]
    return [word for name, of in finite for word in (name, str(math.ceil(factor * of)))]


def _named(part: PlanPart) -> str:
    return f"tier {part.tier}, {part.name}" if part.tier else part.name
