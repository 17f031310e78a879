"""The statement of the contest; `statement.md` is its page."""

from __future__ import annotations

from dataclasses import asdict
from importlib import resources

from unhack.tournament.kit import Terms
from unhack_contests.quantization.checks.behaviour import EXACT
from unhack_contests.quantization.model.reference import Reference
from unhack_contests.quantization.sealed import library
from unhack_contests.quantization.settings import BOUND_SIGMAS, ROOM, TARGET, QuantizationSettings


def write(reference: Reference, options: QuantizationSettings, *, terms: Terms) -> bytes:
    """`STATEMENT.md` of a round."""
    page = resources.files(__package__ or "").joinpath("statement.md").read_text()
    target = ""
    if terms.impossible:
        target = (
            f"This round asks for a fitness of {TARGET:g}: half a bit a weight at the "
            "reference's perplexity. `NO_IMPROVEMENT.md` is a full answer."
        )
    elif terms.champion_fitness is not None:
        target = f"The champion's fitness is {terms.champion_fitness:.3f}."
    values = asdict(options)
    values["windows"] = options.windows
    whole = page.format(
        **values,
        vocab=reference.vocab,
        token_type=reference.token_type,
        reference_bytes=reference.nbytes,
        exact=EXACT,
        modules=" ".join(sorted(name for name in library.modules() if name[0] != "_")),
        bound_sigmas=BOUND_SIGMAS,
        room=ROOM,
        target=target,
    )
    return whole.encode()
