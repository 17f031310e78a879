"""The claims about a sealed process with a card: put to a card where there is one, and the checks
themselves put to programs that break them where there is none."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Generator

import pytest

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.conformance.probe import CheckState, ConformanceError
from unhack.sandbox.gpu import process
from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.gpu.cards import Card, choose_card
from unhack.sandbox.gpu.claims import programs, suite


@pytest.fixture(scope="module")
def card() -> Generator[Card]:
    """The first card of this host, for us alone."""
    try:
        found = choose_card("cuda")
    except SandboxUnavailableError as error:
        pytest.skip(str(error))
    with CardQueue(found.key).turn(timeout_s=600):
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("claim", suite.CLAIMS, ids=lambda claim: claim.claim)
def test_a_claim_holds_on_this_card(claim: suite.CardClaim, card: Card) -> None:
    claim.test(card)


def test_claims_are_sentences_of_their_own() -> None:
    assert len({claim.claim for claim in suite.CLAIMS}) == len(suite.CLAIMS)


@pytest.fixture
def fake_card(monkeypatch: pytest.MonkeyPatch) -> Generator[Card]:
    """A node that is no card, and programs that do without a driver."""
    node = f"/dev/unhack-test-claim-{os.getpid()}"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError:
        pytest.skip("device nodes cannot be made here")
    os.chmod(node, 0o666)
    plain = programs.PREAMBLE.replace('ctypes.CDLL("libcuda.so.1")', "None")
    monkeypatch.setattr(programs, "PREAMBLE", plain + "begin = lambda: None\n")
    yield Card(0, node, "a stand-in")
    os.unlink(node)


@pytest.mark.parametrize(
    "name",
    [
        "_nodes", "_network", "_processes", "_calls",
        pytest.param("_fills_host", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_claim_that_needs_no_driver_holds_without_one(name: str, fake_card: Card) -> None:
    getattr(suite, name)(fake_card)


@pytest.mark.parametrize(
    ("program", "instead", "check"),
    [
        ("NODES", 'say("null", "nvidia7")', "_nodes"),
        ("NETWORK", 'say("AF_INET")', "_network"),
        ("PROCESSES", 'say("17/mem")', "_processes"),
        ("CALLS", 'say("bpf")', "_calls"),
        ("COMPUTE", 'say("wrong")', "_computes"),
        ("COUNT", 'say(2)', "_one_card"),
        ("FIND", 'say(3)', "_left_behind"),
        ("COMPUTE", 'raise OSError("cuInit failed with code 999")', "_computes"),
    ],
)  # fmt: skip
def test_a_program_that_gets_through_fails_its_claim(
    program: str, instead: str, check: str, fake_card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, program, instead)
    monkeypatch.setattr(programs, "LEAVE", 'say("left"); peer.recv(1)')
    with pytest.raises(ConformanceError):
        getattr(suite, check)(fake_card)


def test_an_endless_kernel_that_ends_fails_its_claim(
    fake_card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "ENDLESS", 'say("on"); say("ended")')
    with pytest.raises(ConformanceError, match="an endless kernel ended"):
        suite._endless(fake_card)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.slow
def test_a_card_that_is_full_before_the_first_look_is_ended_by_the_next(
    fake_card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = programs.PREAMBLE + "def take(size):\n    raise OSError('cuMemAlloc_v2: code 2')\n"
    monkeypatch.setattr(programs, "PREAMBLE", full)
    monkeypatch.setattr(suite, "_computes", lambda card: None)
    looks = itertools.count()
    later = 5 * suite.LIMITS.card_bytes
    monkeypatch.setattr(process, "use_of", lambda card: lambda pids: later * (next(looks) > 20))
    suite._fills_card(fake_card)  # pyright: ignore[reportPrivateUsage]
    assert next(looks) > 20  # the look that found it full was taken


@pytest.mark.parametrize("name", ["FILL_CARD", "FILL_HOST"])
def test_a_process_that_takes_what_it_likes_fails_its_claim(
    name: str, fake_card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, name, 'say("all of it"); peer.recv(1)')
    check = {"FILL_CARD": "_fills_card", "FILL_HOST": "_fills_host"}[name]
    with pytest.raises(ConformanceError, match="it went on"):
        getattr(suite, check)(fake_card)


@pytest.mark.slow
def test_a_check_that_breaks_counts_as_failed(fake_card: Card) -> None:
    results = list(suite.check_claims(fake_card))
    assert results[0].state is CheckState.FAILED  # there is no card, so nothing computes
    assert len(results) == len(suite.CLAIMS)
