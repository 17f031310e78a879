"""The statement of the contest; `statement.md` is its page."""

from __future__ import annotations

from dataclasses import asdict
from importlib import resources

from unhack.tournament.kit import Terms
from unhack_contests.quantization.checks.behaviour import EXACT
from unhack_contests.quantization.comparison import target_of
from unhack_contests.quantization.model.reference import Nano
from unhack_contests.quantization.sealed import library
from unhack_contests.quantization.settings import BOUND_SIGMAS, ROOM, QuantizationSettings


def write(reference: Nano, options: QuantizationSettings, *, terms: Terms) -> bytes:
    """`STATEMENT.md` of a round."""
    page = resources.files(__package__ or "").joinpath("statement.md").read_text()
    whole = page.format(
        **asdict(options),
        vocab=reference.vocab,
        token_type=reference.token_type,
        reference_bytes=reference.nbytes,
        exact=EXACT,
        modules=" ".join(sorted(name for name in library.modules() if name[0] != "_")),
        bound_sigmas=BOUND_SIGMAS,
        room=ROOM,
        target=target_of(terms),
    )
    return whole.encode()
