"""The place where the judge trains: the processor, or the card that the option names.

Covered: a card that is not there, cannot be used by PyTorch, or is somebody else's, said before
anything is spent.
Not covered: a card that somebody takes later (each run asks again, in its turn of the queue).
"""

from __future__ import annotations

from unhack.tournament.kit import UsageError
from unhack_contests.scaling.trained.service.trainer import TrainingPlace
from unhack_contests.torch_card import place_of

CPU = "cpu"


def find_place(device: str) -> TrainingPlace:
    """The place of `cpu`, `cuda` or `cuda:N`. Raises UsageError, SandboxUnavailableError."""
    if device == CPU:
        return TrainingPlace()
    if not device.startswith("cuda"):
        raise UsageError(f"device is cpu, cuda or cuda:N, not {device!r}")
    card, place = place_of(device)
    return TrainingPlace(place, card)
