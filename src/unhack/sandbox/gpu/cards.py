"""The cards of this host by the names that options give them: `cuda`, `cuda:1`.

Covered: what `CUDA_VISIBLE_DEVICES` leaves; what is missing, said before anything is spent: no
card, no driver library, no toolkit, a card that somebody else uses.
Not covered: what PyTorch can do with a card (whoever needs it asks PyTorch).
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.gpu.driver_files import CONTROL, MEMORY, card_nodes, find_library, find_nvcc
from unhack.sandbox.gpu.nvml import CardFacts, Nvml

_DEVICE = re.compile(r"cuda(:\d+)?")
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_BUSY_BYTES = 1 << 30
"""More than that in use by processes that are not ours: the card is somebody's."""
_IDLE_PERCENT = 2
_PATIENCE_S = 10.0
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Card:
    """One card that a sealed process can be given."""

    index: int
    node: str
    name: str = "a card that the driver does not name"
    uuid: str = ""

    @property
    def key(self) -> str:
        """The same for every process of the host."""
        return self.uuid or os.path.basename(self.node)


@cache
def nvml() -> Nvml:
    """The management library of this process. Raises SandboxUnavailableError."""
    return Nvml()


def find_cards() -> tuple[Card, ...]:
    """The cards whose nodes are here. Raises SandboxUnavailableError where one cannot be used."""
    nodes = card_nodes()
    if not nodes:
        raise SandboxUnavailableError(
            "there is no GPU here: no node /dev/nvidia0. In a container, start it with "
            "--gpus all (docker) or --device nvidia.com/gpu=all (podman)"
        )
    for node in (CONTROL, MEMORY):
        if not os.path.exists(node):
            raise SandboxUnavailableError(
                f"the driver's node {node} is missing: run `nvidia-modprobe -u -c 0` or nvidia-smi "
                "as root"
            )
    if not find_library("libcuda.so.1"):
        raise SandboxUnavailableError(
            "a GPU is here, and the driver's library libcuda.so.1 is not: install the driver's "
            "user part, or name its folder in LD_LIBRARY_PATH"
        )
    try:
        known = nvml().cards()
    except SandboxUnavailableError:
        known: list[CardFacts] = []
    cards = [Card(one.index, one.node, one.name, one.uuid) for one in known if one.node in nodes]
    return tuple(cards) or tuple(Card(index, node) for index, node in enumerate(nodes))


def choose_card(device: str) -> Card:
    """The card of `cuda` (the first) or `cuda:N`, among those that `CUDA_VISIBLE_DEVICES` leaves.
    Raises UsageError, SandboxUnavailableError."""
    if not _DEVICE.fullmatch(device):
        raise UsageError(f"device is cpu, cuda or cuda:N, not {device!r}")
    cards = visible_cards()
    number = int(device.partition(":")[2] or 0)
    if number >= len(cards):
        names = ", ".join(f"cuda:{index} ({card.name})" for index, card in enumerate(cards))
        raise UsageError(f"there is no {device} here; there is {names}")
    return cards[number]


def name_of(device: str) -> str:
    """The name of a card, such as `NVIDIA H100 80GB HBM3`. Raises like `choose_card`."""
    return choose_card(device).name


def visible_cards() -> tuple[Card, ...]:
    """The cards that `CUDA_VISIBLE_DEVICES` leaves this process, in its order: an entry that names
    none ends them. Raises SandboxUnavailableError where none is left or can be used."""
    cards = find_cards()
    text = os.environ.get(_VISIBLE)
    if text is None:
        return cards
    found: list[Card] = []
    for word in map(str.strip, text.split(",")):
        named = [card for card in cards if _is_named(card, word)]
        if len(named) != 1:
            break
        found += named
    if not found:
        raise SandboxUnavailableError(f"{_VISIBLE}={text!r} hides every card of this machine")
    return tuple(found)


def _is_named(card: Card, word: str) -> bool:
    if word.startswith("GPU-"):
        return card.uuid.startswith(word)
    return word.isdigit() and card.index == int(word)


def check_free(card: Card, *, ours: frozenset[int]) -> None:
    """Raise SandboxUnavailableError where processes that are not `ours` use the card."""
    try:
        held = nvml().processes(card.index)
    except SandboxUnavailableError:
        return  # a driver that tells nothing: the control of each measurement shows the noise
    others = {pid: size for pid, size in held.items() if pid not in ours}
    if sum(others.values()) < _BUSY_BYTES:
        return
    pid, size = max(others.items(), key=lambda item: item[1])
    raise SandboxUnavailableError(
        f"{card.name} is busy: process {pid} ({_command(pid)}) holds {size / (1 << 30):.1f} GiB of "
        "it. Times measured beside it mean nothing: end it, or choose another card (device=cuda:N)"
    )


def wait_until_idle(card: Card, *, others: Callable[[], frozenset[int]]) -> tuple[int, ...]:
    """Wait until no kernel is at work, so that a measurement may begin; the pids that were ended.

    `others` are processes of agents, which stand still: a kernel that one of them left running for
    longer than a few seconds is ended with its process. Raises SandboxUnavailableError when the
    card is busy all the same.
    """
    try:
        if _idles(card):
            return ()
        held = nvml().processes(card.index)
    except SandboxUnavailableError:
        return ()  # a driver that tells nothing: the control of each measurement shows the noise
    ended = tuple(sorted(others() & frozenset(held)))
    for pid in ended:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if not _idles(card):
        raise SandboxUnavailableError(
            f"{card.name} has been at work for {2 * _PATIENCE_S:.0f} s although nothing is asked "
            "of it: nvidia-smi shows by whom; end that, or choose another card (device=cuda:N)"
        )
    return ended


def _idles(card: Card) -> bool:
    """True when the card stands still within some seconds. Raises SandboxUnavailableError."""
    deadline = time.monotonic() + _PATIENCE_S
    while nvml().load(card.index) > _IDLE_PERCENT:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_S)
    return True


def require_nvcc() -> str:
    """Path of the compiler. Raises SandboxUnavailableError."""
    found = find_nvcc()
    if not found:
        raise SandboxUnavailableError(
            "nvcc is not here, and CUDA C++ submissions need it: install the CUDA toolkit (its "
            "folder is looked for at /usr/local/cuda) or put nvcc on the PATH"
        )
    return found


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(200).replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "which this process cannot see"
    return words or "a kernel thread"
