"""The statement of a round, and the client's source for the workspace."""

from __future__ import annotations

from pathlib import Path

from unhack.tournament.kit import DECLINED, Terms
from unhack_contests.pages import page
from unhack_contests.scaling.statement import of_round
from unhack_contests.scaling.trained.service import client
from unhack_contests.scaling.trained.service.dialogue import CPU_S, MAX_REQUESTS
from unhack_contests.scaling.trained.world.world import WorldSize


def statement(size: WorldSize, terms: Terms, *, target: float) -> bytes:
    """`STATEMENT.md` of a round."""
    text = page(__package__).format(
        budget=size.budget, targets=size.targets, seeds=size.seeds, cpu=CPU_S,
        requests=MAX_REQUESTS, declined=DECLINED,
    )  # fmt: skip
    return of_round(text, terms, target=target)


def client_source() -> bytes:
    """The client's source."""
    return Path(client.__file__).read_bytes()
