"""The tiers of an audit and their limits, as options name them."""

from __future__ import annotations

import math

from unhack.audit.options import TierLimit
from unhack.audit.report.wording import TIERS
from unhack.core.errors import UsageError


def tiers_of(text: str, option: str = "--tiers") -> tuple[int, ...]:
    """The tiers that `text` names, in order. Raises UsageError."""
    words = [word.strip() for word in text.split(",")]
    named = ", ".join(f"{tier} {name}" for tier, name in TIERS.items())
    for word in words:
        if word not in {str(tier) for tier in TIERS}:
            raise UsageError(f"{option}: {word!r} is no tier; there are {named}")
    return tuple(sorted({int(word) for word in words}))


def tier_limits_of(text: str | None) -> dict[int, TierLimit]:
    """The limits of single tiers: `3=500/20` is 500 runs and 20 seconds. Raises UsageError."""
    found: dict[int, TierLimit] = {}
    for part in text.split(",") if text is not None else ():
        tier, _, rest = part.strip().partition("=")
        calls, _, seconds = rest.partition("/")
        try:
            amounts = [float(word or "inf") for word in (calls, seconds)]
        except ValueError:
            amounts = []
        if not any(0 < one < math.inf for one in amounts) or any(not one > 0 for one in amounts):
            raise UsageError(
                f"--tier-limits: {part.strip()!r} is not TIER=CALLS/SECONDS, such as 3=500/20; one "
                "of both numbers may be left out"
            )
        [number] = tiers_of(tier, "--tier-limits")
        found[number] = TierLimit(*amounts)
    return found
