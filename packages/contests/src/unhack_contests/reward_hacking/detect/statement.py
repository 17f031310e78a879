"""The statement of the contest."""

from __future__ import annotations

from dataclasses import asdict

from unhack.tournament.kit import Terms
from unhack_contests.pages import page
from unhack_contests.reward_hacking.detect.settings import BOUND, COST, TARGET, DetectSettings
from unhack_contests.reward_hacking.statement import statement


def write(options: DetectSettings, *, terms: Terms) -> bytes:
    """`STATEMENT.md` of a round."""
    return statement(text(options), terms=terms, target=TARGET)


def text(track: DetectSettings) -> str:
    """The rules of the contest, the same in every round."""
    return page(__package__).format(
        **asdict(track), cost=COST, constant=1 / (1 + COST), constant_error=COST / (1 + COST) ** 2,
        bound=BOUND,
    )  # fmt: skip
