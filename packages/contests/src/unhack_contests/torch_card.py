"""PyTorch and the card that an option `device=cuda[:N]` names, for the judges that compute there.

Covered: what is missing, said before anything is spent: PyTorch, its CUDA, a card that it does not
see or that somebody else uses.
Not covered: a card that somebody takes later; who waits for it (`sandbox.gpu.card_queue`).
"""

from __future__ import annotations

import re
from typing import Any

from unhack.sandbox.gpu.cards import Card, check_free, choose_card, own_processes
from unhack.tournament.kit import SandboxUnavailableError, UsageError, require

CPU = "cpu"
CACHES = {
    "TRITON_CACHE_DIR": "/tmp/triton",
    "CUDA_CACHE_PATH": "/tmp/cuda",
    "TORCH_EXTENSIONS_DIR": "/tmp/extensions",
    "TORCHINDUCTOR_CACHE_DIR": "/tmp/inductor",
    "NUMBA_CACHE_DIR": "/tmp/numba",
    "USER": "agent",
}
"""Environment of a sealed process: everything that is compiled stays in its own file system."""
_DEVICE = re.compile(r"cpu|cuda(:\d+)?")


def check_device(device: str, card: str) -> None:
    """Raise UsageError for no value of the option `device`, and for a card of another machine
    without a device."""
    if not _DEVICE.fullmatch(device):
        raise UsageError(f"device is cpu, cuda or cuda:N, not {device!r}")
    if card and device == CPU:
        raise UsageError("card names a card of another machine: add --option device=cuda")


def named_place(device: str, name: str) -> tuple[Card, str]:
    """See `place_of`. Raises SandboxUnavailableError too where it is no card of that name."""
    card, place = place_of(device)
    if card.name != name:
        raise SandboxUnavailableError(
            f"the card of this machine is {card.name}, and this tournament is measured on {name}: "
            f"add --option card={card.name!r} for another tournament"
        )
    return card, place


def place_of(device: str) -> tuple[Card, str]:
    """The card of `cuda` or `cuda:N`, once nobody else uses it, and PyTorch's name of it. Raises
    SandboxUnavailableError, UsageError."""
    card = choose_card(device)
    place = torch_device(torch_with_cuda(), card)
    check_free(card, ours=own_processes())
    return card, place


def torch_with_cuda() -> Any:
    """PyTorch, where it can use a card. Raises UsageError, SandboxUnavailableError."""
    require("train", "torch", purpose="device=cuda")
    import torch

    if not torch.cuda.is_available():
        kind = "is built without CUDA" if torch.version.cuda is None else "cannot use the GPU"
        raise SandboxUnavailableError(
            f"PyTorch {torch.__version__} {kind}: install a build for CUDA that fits the driver "
            "(pip install torch from the index for your CUDA version), or leave device=cuda away"
        )
    return torch


def torch_device(torch: Any, card: Card) -> str:
    """PyTorch's name of a card (`cuda:0`): it counts by speed, the driver by place.

    Raises SandboxUnavailableError where PyTorch does not see it.
    """
    for number in range(torch.cuda.device_count()):
        own = str(getattr(torch.cuda.get_device_properties(number), "uuid", ""))
        if own and card.uuid.removeprefix("GPU-") == own.removeprefix("GPU-"):
            return f"cuda:{number}"
    if card.index >= torch.cuda.device_count():
        raise SandboxUnavailableError(
            "PyTorch does not see this card: CUDA_VISIBLE_DEVICES hides it, or the driver is older "
            "than PyTorch's CUDA"
        )
    return f"cuda:{card.index}"
