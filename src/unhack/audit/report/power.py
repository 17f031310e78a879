"""The power of an audit on one verifier: how many weakened copies of it the same audit breaks.

Covered: the counts, the copies that were not broken, and the sentence that every report shows.
Not covered: how the copies are made and proven to be weaker; see `unhack.audit.hardening.power`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

FEWEST = 8
"""Under so many weakened copies no share is given: with fewer, the 95 % interval of a
half is wider than 0.2 to 0.8."""
_SIGMAS = 1.96
"""Standard errors on each side of a 95 % interval."""
_CHANCE = 0.05
"""Of a fall by chance alone, under which a power counts as lower."""


class Broken(StrEnum):
    """The worst that the audit proves on a copy and that the original does not have."""

    HACK = "hack"
    FALSE_ACCEPT = "false_accept"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class WeakenedCopy:
    """A copy of the verifier that is proven to be weaker, and was audited."""

    operator: str
    """Name of the edit."""
    family: str
    """The flaw class that it makes, an id of `unhack.audit.report.flaws`."""
    line: int
    """Of the verifier's file, counted from 1."""
    broken: Broken
    of_attack: bool
    """True where nothing but a completion of the audit's own attacks showed it to be weaker."""

    def to_json(self) -> dict[str, Any]:
        """The copy as plain JSON values."""
        return {**asdict(self), "broken": self.broken.value}


@dataclass(frozen=True, slots=True)
class Power:
    """The audit's record on weakened copies of one verifier.

    Example:

        report = audit(subject, options=AuditOptions(power_s=60.0))
        report.power.share, report.power.missed
    """

    copies: tuple[WeakenedCopy, ...]
    edits: int
    """Edits that the source offers."""
    tried: int
    """Edits that were tried; the others came after the end."""
    why: str
    """The reason for ending."""
    calls: int
    """Runs of the copies and of the original."""
    seconds: float

    @property
    def hacked(self) -> int:
        """Copies that the audit broke with a hack."""
        return sum(one.broken is Broken.HACK for one in self.copies)

    @property
    def falsely_accepting(self) -> int:
        """Copies that it broke with a false accept alone."""
        return sum(one.broken is Broken.FALSE_ACCEPT for one in self.copies)

    @property
    def share(self) -> float | None:
        """Copies that pay a strategy which the audit proves, of all; None where there are fewer
        than `FEWEST`."""
        return self.hacked / len(self.copies) if len(self.copies) >= FEWEST else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the share, by Wilson's score; None where there is no share."""
        if self.share is None:
            return None
        spread, count = _SIGMAS**2 / len(self.copies), len(self.copies)
        middle = self.share + spread / 2
        half = _SIGMAS * math.sqrt(self.share * (1 - self.share) / count + spread / count / 4)
        return (middle - half) / (1 + spread), (middle + half) / (1 + spread)

    def is_below(self, other: Power) -> bool | None:
        """Tell whether the audit breaks fewer than on another verifier, by an exact test.

        None where either has no share.
        """
        if self.share is None or other.share is None:
            return None
        number, broken, rate = len(self.copies), self.hacked, other.share
        chance = sum(
            math.comb(number, count) * rate**count * (1 - rate) ** (number - count)
            for count in range(broken + 1)
        )
        return self.share < other.share and chance < _CHANCE

    @property
    def missed(self) -> tuple[str, ...]:
        """The attack families of the copies that were not broken, the most frequent first."""
        return tuple(self._count(one for one in self.copies if one.broken is Broken.NOT))

    @property
    def blind(self) -> dict[str, int]:
        """The families in which no strategy broke any copy, with their copies, the most first."""
        seen = {one.family for one in self.copies if one.broken is Broken.HACK}
        return self._count(one for one in self.copies if one.family not in seen)

    @staticmethod
    def _count(copies: Iterable[WeakenedCopy]) -> dict[str, int]:
        families = [one.family for one in copies]
        ranked = sorted(set(families), key=lambda one: (-families.count(one), one))
        return {one: families.count(one) for one in ranked}

    @property
    def unbroken(self) -> tuple[WeakenedCopy, ...]:
        """The copies on which the audit proved nothing new."""
        return tuple(one for one in self.copies if one.broken is Broken.NOT)

    @property
    def text(self) -> str:
        """The figure in one sentence without an end."""
        count = len(self.copies)
        if not count:
            return f"no weakened copy was audited: {self.why}"
        noun = "copy" if count == 1 else "copies"
        share = f" ({self.share:.0%})" if self.share is not None else " (too few for a rate)"
        text = f"the audit broke {self.hacked} of {count} weakened {noun} of this verifier{share}"
        if self.falsely_accepting:
            text += f", and {self.falsely_accepting} more by a false accept alone"
        if self.blind:
            families = (f"{name} (0 of {number})" for name, number in self.blind.items())
            text += f"; it is blind to {', '.join(families)}"
        return text

    @property
    def note(self) -> str:
        """How the figure came about, in one sentence without an end."""
        own = sum(one.of_attack for one in self.copies)
        text = (
            f"{self.tried} of {self.edits} edits tried, {len(self.copies)} proven weaker "
            f"({own} only by the audit's own attacks), {self.seconds:.1f} s"
        )
        missed = f"; missed: {', '.join(self.missed)}" if self.missed else ""
        return f"{text}; {self.why}{missed}"

    def to_json(self) -> dict[str, Any]:
        """The power as plain JSON values."""
        return {
            "weakened": len(self.copies),
            "broken": self.hacked + self.falsely_accepting,
            "hacked": self.hacked,
            "false_accepts": self.falsely_accepting,
            "share": self.share,
            "interval": self.interval and list(self.interval),
            "missed": list(self.missed),
            "blind": self.blind,
            "copies": [one.to_json() for one in self.copies],
            "edits": self.edits,
            "tried": self.tried,
            "why": self.why,
            "calls": self.calls,
            "seconds": round(self.seconds, 3),
            "text": self.text,
        }
