"""The outcome of reading a derivation: each line with its status, the first wrong one, a score."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LineStatus(StrEnum):
    """The standing of one line."""

    VERIFIED = "verified"
    """It holds, and something is derived in it."""
    ASSUMED = "assumed"
    """A name, a formula or an equation is introduced; nothing known speaks against it."""
    PADDING = "padding"
    """True and empty: the question again, an earlier line again, the same on both sides."""
    WORDS = "words"
    """It claims nothing that is read here."""
    UNREAD = "unread"
    """It holds a relation in a notation that is not read here; it earns nothing."""
    UNJUSTIFIED = "unjustified"
    """It claims what nothing before leads to."""
    WRONG = "wrong"
    """It is false, or contradicts what is known."""


BAD = frozenset({LineStatus.WRONG, LineStatus.UNJUSTIFIED})


@dataclass(frozen=True, slots=True)
class LineReport:
    """One line."""

    number: int
    """From 1, as it stands in the text."""
    text: str
    status: LineStatus
    reason: str = ""
    counts: bool = False
    """True for a verified line on whose result something later, or the answer, rests."""


@dataclass(frozen=True, slots=True)
class DerivationReport:
    r"""A derivation line by line; whether the answer is right is told apart.

    Example:

        report = check_derivation("Solve 2x = 6.", "2x = 6\nx = 3", answer="3")
        report.score, report.reaches_answer, report.first_wrong
    """

    lines: tuple[LineReport, ...]
    score: float
    """In [0, 1]: the share of counting lines before the first wrong one; 0 where nothing is
    derived. It knows nothing of the outcome, so it tells how far a derivation goes, and is no
    reward: `payable` is."""
    reaches_answer: bool
    """True where the expected answer was derived and concluded."""
    unused: tuple[str, ...] = ()
    """Given numbers that the answer has to rest on, and does not; with one of them the answer is
    not reached."""

    @property
    def payable(self) -> float:
        """The amount, in [0, 1], that may be paid as a reward: 0 without the answer; with it
        1 / (1 + bad lines). Further true lines change nothing, so nothing is gained by them."""
        if not self.reaches_answer:
            return 0.0
        return 1.0 / (1 + sum(line.status in BAD for line in self.lines))

    @property
    def first_wrong(self) -> LineReport | None:
        """The first line that is wrong or unjustified; None for none."""
        return next((line for line in self.lines if line.status in BAD), None)
