"""Interpretability with planted circuits; `docs/reference/protocols/interp.md` is its page."""

from __future__ import annotations

from unhack.tournament.protocols.interp.contest import Interp
from unhack.tournament.protocols.interp.settings import settings


def load(options: dict[str, str]) -> Interp:
    """The contest with its options. Raises UsageError."""
    return Interp(settings(options))
