"""The GPU of this host in the doctor's words: what is here, what is missing, what holds.

Covered: the card, the driver's nodes and libraries, the compiler; the claims about a sealed process
with a card, on the first one.
Not covered: PyTorch, which the contests that need it ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.conformance.probe import CheckResult
from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.gpu.cards import Card, check_free, visible_cards
from unhack.sandbox.gpu.claims.suite import check_claims
from unhack.sandbox.gpu.driver_files import find_nvcc

STOPS = "nothing: it lets contests measure submissions on a card (device=cuda)"
WITHOUT = "contests run on the processors only; device=cuda is refused"
_NO_NVCC = "nvcc is missing, and submissions in CUDA C++ need it: install the CUDA toolkit"


@dataclass(frozen=True, slots=True)
class CardsHere:
    """The cards, or what keeps them from being used."""

    cards: tuple[Card, ...]
    detail: str
    """Names of the cards, or what is missing."""
    remedy: str
    """Empty where nothing is missing."""


def find_gpu() -> CardsHere:
    """Look for cards, those that `CUDA_VISIBLE_DEVICES` leaves, their driver and the toolkit."""
    try:
        cards = visible_cards()
    except SandboxUnavailableError as error:
        what, _, remedy = str(error).partition(": ")
        return CardsHere((), what, remedy or what)
    names = ", ".join(card.name for card in cards)
    if not find_nvcc():
        return CardsHere(cards, f"{names}; no nvcc", _NO_NVCC)
    return CardsHere(cards, names, "")


def check_card(
    card: Card, *, on_result: Callable[[CheckResult], None]
) -> tuple[tuple[CheckResult, ...], str]:
    """The claims on a card, or why they were not put to it: somebody uses it."""
    try:
        with CardQueue(card.key).turn(timeout_s=0):
            check_free(card, ours=frozenset())
            return tuple(check_claims(card, on_result=on_result)), ""
    except SandboxUnavailableError as error:
        return (), str(error)
