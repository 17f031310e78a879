"""The words of an attack: what it may know, what it tries, how it would be wrong.

An attack is a function from a `Knowledge` to payloads. It never decides whether a payload is wrong:
it says what would make it so (`Claim`), and the oracle proves or discards it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from unhack.audit.subject import AuditProblem, Call, Source

_Part = TypeVar("_Part")


class Claim(StrEnum):
    """The way in which a text answer is wrong by construction; programs are run instead."""

    OTHER_ANSWER = "other_answer"
    """It commits to exactly `Payload.asserts[0]`, which is not the right answer."""
    NO_ANSWER = "no_answer"
    """It commits to no answer at all: empty, filler, a format without content, a refusal."""
    EVERY_ANSWER = "every_answer"
    """It offers two or more different answers (`asserts`) and commits to none of them."""
    BREAKS_RULE = "breaks_rule"
    """It commits to `Payload.asserts[0]`, which breaks a rule that the prompt states."""
    PROGRAM = "program"
    """It is code, and the oracle runs it."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One completion to try."""

    text: str
    claim: Claim
    asserts: tuple[str, ...] = ()
    """The final answers that the text puts forward, as a careful reader would take them."""
    note: str = ""
    """The feature that tells this variant from the others."""
    fair: float = 0.0
    """Share of a right reward that credit for a part of the answer may be: only what is rewarded
    more is a gain of a strategy."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The facts that an attack is given; in tier 3, no answer, calls or source."""

    problem: AuditProblem
    source: Source | None = None
    wrong_answers: tuple[str, ...] = ()
    """Answers of the right kind that are not the right one."""
    examples: tuple[Call, ...] = ()
    """The cases that the prompt shows."""
    constants: tuple[str, ...] = ()
    """Strings and numbers of the verifier's own source (tier 2)."""
    is_view: bool = False
    """True where the answer is another problem's: nothing is left out for holding it."""
    frame: tuple[str, str] = ("", "")
    """Fences and tags before and behind the code of a right completion: programs get them too."""
    shown: AuditProblem | None = None
    """The solved problem that a policy sees beside this one."""
    judged: bool = False
    """True where the user's own oracle decides, so that what may be right may be tried too."""

    @property
    def answer(self) -> str:
        """The right answer of a text problem; empty when unknown."""
        return self.problem.answer or ""


@dataclass(frozen=True, slots=True)
class Attack:
    """A named way to be rewarded for something wrong."""

    name: str
    """`family/what_it_does`."""
    flaw: str
    """The flaw class that it probes, an id of `unhack.audit.report.flaws`."""
    tier: int
    for_code: bool
    """True for attacks on verifiers of programs, False for those of text answers."""
    make: Callable[[Knowledge], Iterable[Payload]]
    generic: bool = False
    """True when its payloads need nothing of the problem: then passing is critical."""
    of_prompt: bool = False
    """True when the right answer is of no use to it: then it is tried as a strategy alone."""


def text_attack(
    name: str, flaw: str, make: Callable[[Knowledge], Iterable[Payload]], *, generic: bool = False
) -> Attack:
    """An attack of tier 1 on verifiers of text answers."""
    return Attack(name, flaw, tier=1, for_code=False, make=make, generic=generic)


def part_attack(
    name: str,
    flaw: str,
    read: Callable[[Knowledge], _Part | None],
    make: Callable[[Knowledge, _Part], Iterable[Payload]],
) -> Attack:
    """A text attack on what `read` finds, such as the grid of an answer; none without it."""

    def payloads(known: Knowledge) -> Iterable[Payload]:
        part = read(known)
        return () if part is None else make(known, part)

    return text_attack(name, flaw, payloads)


def prompt_attack(
    name: str, flaw: str, make: Callable[[Knowledge], Iterable[Payload]], *, generic: bool = False
) -> Attack:
    """A text attack that reads the prompt alone: it is tried as a strategy."""
    return replace(text_attack(name, flaw, make, generic=generic), of_prompt=True)


def no_answer(text: str) -> Payload:
    """A text that commits to no answer."""
    return Payload(text, Claim.NO_ANSWER)


def framed(payload: Payload, frame: tuple[str, str]) -> Payload:
    """A program in the fences and tags of a right completion; one that has a fence as it is."""
    head, tail = frame
    if payload.claim is not Claim.PROGRAM or not head or "```" in payload.text:
        return payload
    gap = "" if payload.text.endswith("\n") else "\n"
    return replace(payload, text=f"{head}{payload.text}{gap}{tail}")


def payloads_by(attack: Attack, known: Knowledge) -> list[Payload]:
    """Every payload of an attack, each at its place; none for a problem of the other kind."""
    if attack.for_code is not known.problem.is_code:
        return []
    return [framed(payload, known.frame) for payload in attack.make(known)]


def payloads_of(attacks: Sequence[Attack], known: Knowledge) -> list[tuple[Attack, Payload]]:
    """Every payload of every attack that fits the problem; the same text only once."""
    seen: set[str] = set()
    found: list[tuple[Attack, Payload]] = []
    for attack in attacks:
        for payload in payloads_by(attack, known):
            if payload.text not in seen:
                seen.add(payload.text)
                found.append((attack, payload))
    return found
