"""Claims about a sealed process with a card, and their test on a card of this host.

    for result in check_claims(choose_card("cuda")):
        print(result.claim, result.state)

Covered: that it computes; what it finds of devices, processes and networks; what it reads of
memory that another process left on the card; each limit; that the card works on after it.
Not covered: bugs of the driver behind the calls that it needs; what can be told from timing.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.conformance.kernel import FORBIDDEN
from unhack.sandbox.conformance.probe import (
    CheckResult,
    ConformanceError,
    SkipError,
    expect,
    run_test,
)
from unhack.sandbox.gpu.cards import Card, nvml
from unhack.sandbox.gpu.claims import programs
from unhack.sandbox.gpu.process import GpuLimits, GpuProcess, GpuProcessError, GpuRoom
from unhack.sandbox.rootfs import inside, interpreter

LIMITS = GpuLimits(memory_bytes=4 << 30, card_bytes=4 << 30, disk_bytes=16 << 20, processes=64)
_ANSWER_S, _SHORT_S, _FREE_S = 120.0, 3.0, 60.0
_LEFT_BYTES, _SEARCHED_BLOCKS = 1 << 30, 40
_SLACK_BYTES = 64 << 20
_SHARED_NODES = {"nvidiactl", "nvidia-uvm"}
_USUAL_NODES = {"null", "zero", "full", "urandom", "random", "ptmx", "stdin", "stdout", "stderr"}
_DENIED = ("bpf", "io_uring_setup", "keyctl", "userfaultfd", "perf_event_open", "ptrace",
           "process_vm_readv", "process_vm_writev", "pidfd_getfd", "mount", "unshare", "setns",
           "open_by_handle_at", "finit_module")  # fmt: skip


@dataclass(frozen=True, slots=True)
class CardClaim:
    """A sentence about a sealed process with a card, and its test."""

    claim: str
    test: Callable[[Card], None]
    """Returns, or raises ConformanceError, SkipError."""


def start(code: str, card: Card, *, limits: GpuLimits = LIMITS) -> GpuProcess:
    """A sealed process that runs one of `programs`."""
    command = [inside(interpreter()), "-I", "-S", "-c", programs.PREAMBLE + code]
    return GpuProcess(command, card=card, room=GpuRoom(), limits=limits, name="claim")


def ask(code: str, card: Card) -> list[str]:
    """The words of its one answer. Raises ConformanceError where there is none."""
    with start(code, card) as made:
        try:
            return made.receive(timeout_s=_ANSWER_S).decode(errors="replace").split()[1:]
        except GpuProcessError as error:
            raise ConformanceError(f"no answer: {error}") from None


def _end_of(made: GpuProcess, within_s: float, otherwise: str) -> GpuProcessError:
    """The end of a process that answers nothing. Raises ConformanceError for an answer."""
    try:
        said = made.receive(timeout_s=within_s)
    except GpuProcessError as error:
        return error
    raise ConformanceError(f"{otherwise}: {said!r}")


def _computes(card: Card) -> None:
    said = ask(programs.COMPUTE, card)
    expect(said == ["right"], f"a kernel came out {said}")


def _nodes(card: Card) -> None:
    wanted = {os.path.basename(card.node), *_SHARED_NODES}
    more = set(ask(programs.NODES, card)) - wanted - _USUAL_NODES
    expect(not more, f"it has the devices {sorted(more)}")


def _one_card(card: Card) -> None:
    count = ask(programs.COUNT, card)
    expect(count == ["1"], f"the driver counts {count} cards")


def _network(card: Card) -> None:
    name = f"unhack-claim-{secrets.token_hex(8)}"
    with socket.create_server(("0.0.0.0", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        port = server.getsockname()[1]
        reached = ask(programs.NETWORK.format(port=port, name=name), card)
    expect(not reached, f"it reached the host by {reached}")


def _processes(card: Card) -> None:
    seen = ask(programs.PROCESSES.format(pid=os.getpid(), parent=os.getppid()), card)
    expect(not seen, f"it sees {seen} in /proc")


def _calls(card: Card) -> None:
    calls = [(one.name, one.number, one.arguments) for one in FORBIDDEN if one.name in _DENIED]
    allowed = ask(programs.CALLS.format(calls=calls), card)
    expect(not allowed, f"the kernel, and no filter, answered {allowed}")


def _left_behind(card: Card) -> None:
    """One process leaves a pattern in the card's memory and ends; the next looks for it."""
    word = secrets.randbits(32) | 1
    with start(programs.LEAVE.format(size=_LEFT_BYTES, word=word), card) as made:
        expect(made.receive(timeout_s=_ANSWER_S) == b"said left", "the pattern was not left")
        # of a process that lives, too: nothing that is mapped to one is given to another
        found = ask(programs.FIND.format(word=word, blocks=_SEARCHED_BLOCKS), card)
        expect(found == ["0"], f"it read the pattern of a living process {found} times")
    found = ask(programs.FIND.format(word=word, blocks=_SEARCHED_BLOCKS), card)
    expect(found == ["0"], f"it read the pattern of an ended process {found} times")


def _endless(card: Card) -> None:
    with start(programs.ENDLESS, card) as made:
        expect(made.receive(timeout_s=_ANSWER_S) == b"said on", "the kernel did not begin")
        error = _end_of(made, _SHORT_S, "an endless kernel ended")
        expect(error.late, f"it ended otherwise: {error}")
        pid = made.watch.pid
    expect(not os.path.exists(f"/proc/{pid}"), "its process outlived its deadline")
    began = time.monotonic()
    _computes(card)
    spent = time.monotonic() - began
    expect(spent < _FREE_S, f"the card answered the next one after {spent:.0f} s only")


def _fills_card(card: Card) -> None:
    with start(programs.FILL_CARD, card) as made:
        error = _end_of(made, _ANSWER_S, "it went on")
        taken = f"{made.watch.peak_card_bytes >> 20} MiB of the card were seen to be taken"
        expect(error.limit == "memory", f"{taken}, 4096 are allowed: {error}")
    _computes(card)


def _fills_host(card: Card) -> None:
    with start(programs.FILL_HOST, card) as made:
        error = _end_of(made, _ANSWER_S, "it went on")
        killed = error.limit == "memory" or "killed" in str(error) or "Memory" in str(error)
        expect(killed, f"it ended otherwise: {error}")


def _gives_back(card: Card) -> None:
    try:
        before = nvml().memory(card.index)[0]
    except SandboxUnavailableError as error:
        raise SkipError(str(error)) from None
    with start(programs.LEAVE.format(size=_LEFT_BYTES, word=1), card) as made:
        expect(made.receive(timeout_s=_ANSWER_S) == b"said left", "the memory was not taken")
        taken = nvml().memory(card.index)[0] - before
        expect(taken >= _LEFT_BYTES, f"the driver counts {taken} bytes only")
    deadline = time.monotonic() + _FREE_S
    while (left := nvml().memory(card.index)[0] - before) > _SLACK_BYTES:
        expect(time.monotonic() < deadline, f"{left >> 20} MiB are still taken")
        time.sleep(0.1)


CLAIMS = (
    CardClaim("a sealed process computes on its card", _computes),
    CardClaim("no device is there but one card's and the driver's", _nodes),
    CardClaim("the driver shows one card", _one_card),
    CardClaim("no network and no socket of the host is reached from beside a card", _network),
    CardClaim("no process of the host is seen from beside a card", _processes),
    CardClaim("system calls that a card does not need are denied", _calls),
    CardClaim("memory that another process had on the card is not read", _left_behind),
    CardClaim("an endless kernel ends at the deadline, and the card works on", _endless),
    CardClaim("a process that fills the card is ended at its limit", _fills_card),
    CardClaim("a process that fills the host's memory is ended at its limit", _fills_host),
    CardClaim("memory on the card is free again when its process has ended", _gives_back),
)
"""In order: the first says whether the others mean anything."""


def check_claims(
    card: Card, *, on_result: Callable[[CheckResult], None] = lambda result: None
) -> Iterator[CheckResult]:
    """Put each claim to a card. One that breaks counts as failed."""
    for claim in CLAIMS:
        result = run_test(claim.claim, partial(claim.test, card))
        on_result(result)
        yield result
