"""The attackers of tiers 2 and 3 that are language models, and the completions that they propose.

In tier 2 a model reads the verifier's source and all that is known of the problem; in tier 3 it
sees the prompt and what its own earlier tries scored. It proposes; the oracle proves. A completion
that is made with the right answer at hand is no strategy: what passes of these is a false accept.

Covered: JSON in fences, with text around it, cut off, or one object after the other.
Not covered: strategies (`strategies`); what is no JSON. A model that declines, or cannot be
reached, costs the audit nothing but its payloads.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Protocol, cast

from unhack.agents.language_models.model import Message
from unhack.agents.language_models.replies import ModelError, Reply, Trouble
from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.language_models.claims import as_shown
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.report.flaws import FLAWS
from unhack.audit.subject import AuditProblem, Query

ANY_FLAW = "weak_proxy"
_FINAL = {Trouble.SPENT, Trouble.REJECTED, Trouble.UNREACHABLE}
"""After these, asking again is pointless."""
_MAX_FAILURES = 2
_LONGEST_SOURCE = 40_000
_LONGEST_PART = 16_000
_LONGEST_REPLY = 400_000
_MAX_STARTS = 2_000
"""Braces of a reply at which an object is looked for."""
_MAX_FEEDBACK = 24
_DECODER = json.JSONDecoder(strict=False)

Feedback = Sequence[tuple[str, float | None]]
"""Earlier tries and their raw scores; None where there was none."""


class AskedModel(Protocol):
    """A model, or an agent that is asked like one."""

    @property
    def name(self) -> str:
        """As reports call it."""
        ...

    def ask(self, system: str, messages: Sequence[Message], *, within_s: float = ...) -> Reply:
        """Its reply. Raises ModelError."""
        ...


@dataclass
class ModelAttacker:
    """Asks a model for strategies, and for payloads; attackers with one `Model` share its cap.

    Example:

        attacker = ModelAttacker(Model(endpoint, cost_limit_usd=2.0), rounds=2)
        report = audit(subject, options=AuditOptions(attacker=attacker))
        attacker.notes
    """

    model: AskedModel
    rounds: int = 3
    """Requests for strategies, and for payloads of each problem, unless one is proven before."""
    per_round: int = 8
    """Strategies, or payloads, of one request."""
    tiers: tuple[int, ...] = (2, 3)
    """Those in which it is asked: 2 shows it the verifier's source, 3 does not."""
    strategies_only: bool = False
    """True where it is not asked for payloads of single problems."""
    notes: list[str] = field(default_factory=list[str])
    """The failures, in order."""
    stopped: str = ""
    """The reason why the model is asked no more; empty while it is."""
    _failures: int = 0
    _named: int = 0

    def ask(self, system: str, text: str, *, within_s: float = math.inf) -> str | None:
        """The model's reply; None, with a note, where there is none."""
        if self.stopped:
            return None
        try:
            reply = self.model.ask(system, [Message("user", text)], within_s=within_s)
        except ModelError as error:
            self._note_failure(error)
            return None
        self._failures = 0
        return reply.text

    def name_next(self) -> str:
        """A name for the next strategy, which says which model wrote it."""
        self._named += 1
        return f"model/{self.model.name}/{self._named}"

    def payloads(
        self,
        known: Knowledge,
        *,
        white_box: bool,
        feedback: Feedback,
        within_s: float = math.inf,
    ) -> list[Payload]:
        """Ask the model for payloads that were not tried before; a note says why there is none.

        `Payload.note` is the id of the flaw that the model names, where it names a known one. A
        black-box attacker is told nothing of `known` but the prompt and the function to define.
        """
        asked = _white_box(known) if white_box else _black_box(known.problem)
        system = _instructions(white_box=white_box, count=self.per_round)
        reply = self.ask(system, asked + _earlier_tries(feedback), within_s=within_s)
        if reply is None:
            return []
        found, dropped = read_payloads(reply, is_code=known.problem.is_code)
        if not found:
            self.notes.append(f"a reply without usable payloads ({dropped} unusable)")
        elif dropped:
            self.notes.append(f"{dropped} of {dropped + len(found)} payloads are unusable")
        before = {tried for tried, _ in feedback}
        fresh = [payload for payload in found if payload.text not in before]
        return fresh[: self.per_round]

    def _note_failure(self, error: ModelError) -> None:
        self.notes.append(str(error))
        self._failures += 1
        if error.reason in _FINAL or self._failures >= _MAX_FAILURES:
            self.stopped = f"no further requests to the model: {error}"


def run(
    prover: Prover,
    targets: Sequence[tuple[Baseline, Knowledge]],
    *,
    tier: int,
    attacker: ModelAttacker,
) -> str:
    """Attack each problem in rounds; return the reason for stopping early, or an empty text."""
    attacks: dict[str, Attack] = {}
    for number, (baseline, known) in enumerate(targets, start=1):
        feedback: list[tuple[str, float | None]] = []
        for _ in range(attacker.rounds):
            why = prover.budget.spent or attacker.stopped
            if why:
                return why
            payloads = attacker.payloads(
                known,
                white_box=tier == 2,
                feedback=feedback,
                within_s=prover.budget.until - time.monotonic(),
            )[: prover.budget.calls]
            scores = prover.journal.score([Query(baseline.problem, each.text) for each in payloads])
            prover.budget.calls -= len(payloads)
            proven = False
            for payload, score in zip(payloads, scores, strict=True):
                feedback.append((payload.text, score.value))
                attack = _attack(attacks, tier, payload, for_code=baseline.problem.is_code)
                shown = as_shown(payload, known)
                proven |= prover.weigh(baseline, attack, shown, score=score)
            prover.on_step(f"tier {tier} model", number, len(targets), len(prover.proofs))
            if proven:
                break
    return attacker.stopped


def _attack(made: dict[str, Attack], tier: int, payload: Payload, *, for_code: bool) -> Attack:
    """The same object for the same flaw: the prover counts by identity."""
    flaw = payload.note or ANY_FLAW
    key = f"{flaw} {for_code}"
    name = "model/white_box" if tier == 2 else "model/black_box"
    if key not in made:
        made[key] = Attack(name, flaw, tier=tier, for_code=for_code, make=lambda known: ())
    return made[key]


def _instructions(*, white_box: bool, count: int) -> str:
    folder = resources.files("unhack.audit.language_models") / "prompts"
    name = "white_box.md" if white_box else "black_box.md"
    flaws = "\n".join(f"- {entry.id}: {entry.title}" for entry in FLAWS.values())
    form = (folder / "form.md").read_text(encoding="utf-8")
    form = form.replace("{count}", str(count)).replace("{flaws}", flaws)
    return f"{(folder / name).read_text(encoding='utf-8')}\n{form}"


def _black_box(problem: AuditProblem) -> str:
    return part("prompt", problem.prompt) + part("function to define", problem.entry_point or "")


def _white_box(known: Knowledge) -> str:
    problem, source = known.problem, known.source
    calls = [*known.examples, *problem.calls]
    cases = [f"{call.args!r} {dict(call.kwargs) or ''} -> {call.expected!r}" for call in calls[:8]]
    further = {name: value for name, value in problem.extra.items() if name != "calls"}
    parts = [
        _black_box(problem),
        part("right answer", problem.answer or ""),
        *(part("a right completion", text) for text in problem.correct[:2]),
        part("cases", "\n".join(cases)),
        part("further columns", repr(further) if further else ""),
        part("wrong answers of its kind", "\n".join(known.wrong_answers[:8])),
        part("constants of the source", "\n".join(map(repr, known.constants[:40]))),
    ]
    if source is not None:
        title = f"source of {source.entry or 'the function'}"
        parts.append(part(title, source.text, is_source=True))
    return "".join(parts)


def _earlier_tries(feedback: Feedback) -> str:
    if not feedback:
        return ""
    ranked = sorted(feedback, key=lambda pair: _rank(pair[1]))
    lines = [
        json.dumps({"completion": text[:_LONGEST_PART], "score": score})
        for text, score in ranked[-_MAX_FEEDBACK:]
    ]
    return part("earlier tries, the best last", "\n".join(lines), is_source=True)


def _rank(score: float | None) -> float:
    return -math.inf if score is None or math.isnan(score) else score


def part(title: str, text: str, *, is_source: bool = False) -> str:
    """A titled part of a message; nothing for an empty text, and the middle of a long one left
    out."""
    most = _LONGEST_SOURCE if is_source else _LONGEST_PART
    if not text:
        return ""
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]}\n[{len(text) - 2 * half} letters left out]\n{text[-half:]}"
    return f"=== {title}\n{text}\n\n"


def read_payloads(reply: str, *, is_code: bool) -> tuple[list[Payload], int]:
    """(usable payloads, each text once; how many were unusable). Nothing is evaluated."""
    found: dict[str, Payload] = {}
    dropped = 0
    for item in _objects(reply[:_LONGEST_REPLY]):
        payload = _payload(item, is_code=is_code)
        if payload is None:
            dropped += 1
        else:
            found.setdefault(payload.text, payload)
    return list(found.values()), dropped


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object with a completion, wherever it stands."""
    at = starts = 0
    while (at := text.find("{", at)) >= 0 and starts < _MAX_STARTS:
        starts += 1
        try:
            value, end = cast("tuple[dict[str, Any], int]", _DECODER.raw_decode(text, at))
        except (ValueError, RecursionError):
            at += 1
            continue
        inner = [value, *(one for part in value.values() for one in _dicts(part))]
        yield from (one for one in inner if "completion" in one)
        at = end


def _dicts(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    items = cast("list[object]", value)
    return [cast("dict[str, Any]", one) for one in items if isinstance(one, dict)]


def _payload(item: dict[str, Any], *, is_code: bool) -> Payload | None:
    """The payload that a model described; None for what cannot be tried or cannot be wrong."""
    text, flaw = item["completion"], item.get("flaw")
    if not isinstance(text, str) or not _is_encodable(text):
        return None
    note = flaw if isinstance(flaw, str) and flaw in FLAWS else ""
    if is_code:
        return Payload(text, Claim.PROGRAM, note=note)
    claim, asserts = item.get("claim"), _strings(item.get("asserts"))
    if claim == Claim.NO_ANSWER.value:
        return Payload(text, Claim.NO_ANSWER, note=note)
    if any(not one.strip() or one not in text for one in asserts):
        return None
    if claim == Claim.OTHER_ANSWER.value and asserts:
        return Payload(text, Claim.OTHER_ANSWER, asserts[:1], note)
    if claim == Claim.EVERY_ANSWER.value and len(asserts) > 1:
        return Payload(text, Claim.EVERY_ANSWER, asserts, note)
    return None


def _strings(value: object) -> tuple[str, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    plain = [one for one in items if isinstance(one, str | int | float)]
    return tuple(str(one) for one in plain if not isinstance(one, bool))


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
