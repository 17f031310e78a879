"""Strategies that a language model writes: programs from a prompt to a completion.

In tier 2 the model reads the verifier's source, in tier 3 it does not; in both it sees prompts, the
form of a completion, and what was tried with what it was rewarded. Of the problems that its
strategies are measured on it is shown no answer, and what it writes runs sealed
(`search.strategies.written`) and is screened, measured and proven as the audit's own strategies
are.

Covered: replies with prose around the code, without fences, or cut off; strategies that cannot be
used, whose reason goes back to the model; completions that say the same on every problem, or repeat
the prompt and say the same beside it.
Not covered: prose that says something else on every problem and commits to no answer in a known
form: it is scored, and never called wrong.
"""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.language_models.attacker import ANY_FLAW, ModelAttacker, part
from unhack.audit.language_models.claims import claim_of
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.oracle import normal
from unhack.audit.proving.prover import Prover
from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import Tried
from unhack.audit.search.strategies.search import TRIED_ON, HackSearch
from unhack.audit.search.strategies.strategy import typical
from unhack.audit.search.strategies.written import ENTRY, SEEN, run_written
from unhack.audit.subject import AuditProblem

_FENCED = re.compile(r"```[ \t]*(?:python|py)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_NAMED = re.compile(r"^[ \t]*#[ \t]*flaw:[ \t]*(\w+)", re.MULTILINE)
_PROMPTS = 6
_LONGEST_PROMPT, _LONGEST_SHOWN = 4_000, 400
_MOST_TOLD = 12
"""Earlier strategies that the model is told of, the latest."""
_ENOUGH_ANSWERS = 3
"""Different right answers for which a text that says the same is none of them."""
_READ_SOURCE = (
    "Read the source as it runs, not as it was meant: how the completion is taken apart, what is"
    " compared with what, which inputs take an unusual path, what happens where something raises."
)
_FOLLOW_SCORES = (
    "You do not see that function: follow the scores of what was tried, and think of what naive"
    " string handling, number parsing, pattern matching or partial credit would let through."
)


@dataclass(frozen=True, slots=True)
class WrittenStrategy:
    """One program of a reply."""

    source: str
    flaw: str
    """An id of `FLAWS`."""


@dataclass
class StrategyWriter:
    """One audit's strategies of a language model, in one tier."""

    attacker: ModelAttacker
    prover: Prover
    hacks: HackSearch
    tier: int
    _told: list[str] = field(default_factory=list[str])
    """The outcome of each strategy, for the model."""
    _seen: set[str] = field(default_factory=set[str])
    _sources: dict[str, str] = field(default_factory=dict[str, str])
    """By the attack's name."""

    def run(self) -> str:
        """Ask in rounds until a strategy is proven; return the reason for stopping early, or an
        empty text."""
        for number in range(self.attacker.rounds):
            why = self.prover.over or self.prover.budget.spent or self.attacker.stopped
            if why:
                return why
            written = self._ask()
            made = [one for one in map(self._attack, written) if one is not None]
            before = len(self.prover.proofs)
            shown = self._shown()
            why = self.hacks.try_attacks(made, made_on=shown.id if shown is not None else "")
            proven = {proof.attack.name for proof in self.prover.proofs[before:]}
            self._told += [self._outcome(attack, proven) for attack in made]
            stage = f"tier {self.tier} model's strategies"
            self.prover.on_step(stage, number + 1, self.attacker.rounds, len(self.prover.proofs))
            if why or proven:
                return why
        return self.attacker.stopped

    def _ask(self) -> list[WrittenStrategy]:
        """The strategies of one reply that were not tried before."""
        within_s = self.prover.budget.until - time.monotonic()
        reply = self.attacker.ask(self._instructions(), self._message(), within_s=within_s)
        if reply is None:
            return []
        found = read_strategies(reply)
        fresh = [one for one in found if one.source not in self._seen]
        self._seen |= {one.source for one in fresh}
        if not fresh and reply.strip():  # an agent that leaves nothing has found nothing
            self.attacker.notes.append(f"a reply without a new `def {ENTRY}(...)` in it")
            self._told.append(f"a reply without a new function {ENTRY} in a fenced block: no use")
        return fresh[: self.attacker.per_round]

    def _attack(self, written: WrittenStrategy) -> Attack | None:
        """The strategy as an attack, with a completion for every problem; None where it is
        dropped."""
        problems = self._problems()
        made = run_written(
            written.source, problems, known=self.hacks.known, backend=self.hacks.backend
        )
        name = self.attacker.name_next()
        if made.why:
            self.attacker.notes.append(f"{name} was dropped: {made.why}")
            self._told.append(f"{_code(written.source)}dropped: {made.why}\n")
            return None
        payloads = _claimed(made.texts, problems)

        def make(known: Knowledge) -> Sequence[Payload]:
            return [payloads[known.problem.id]] if known.problem.id in payloads else []

        self._sources[name] = written.source
        for_code = problems[0].is_code
        return Attack(name, written.flaw, tier=self.tier, for_code=for_code, make=make)

    def _outcome(self, attack: Attack, proven: set[str]) -> str:
        """The outcome of a strategy, for the model."""
        lines = [
            json.dumps({"problem": problem.id, "completion": _cut(payload.text),
                        "score": score.value, **({"why": score.reason} if score.reason else {})})
            for problem, payload, score in self.hacks.screened.get(attack.name, ())
        ]  # fmt: skip
        verdict = "proven to be rewarded for wrong answers" if attack.name in proven else (
            "not proven: not rewarded more than a guess, or not shown to be wrong"
        )  # fmt: skip
        return f"{_code(self._sources[attack.name])}{chr(10).join(lines)}\n{verdict}\n"

    def _problems(self) -> list[AuditProblem]:
        """The problems that strategies are run on: all of the kind of the first."""
        every = [one.problem for one in self.hacks.baselines[:TRIED_ON]]
        return [one for one in every if one.is_code == every[0].is_code]

    def _shown(self) -> AuditProblem | None:
        """The problem that the model is shown solved, on which nothing is measured; None for none.

        Programs are not shown: their form is no secret.
        """
        last = self.hacks.baselines[-1].problem
        return None if len(self.hacks.baselines) < 2 or last.is_code else last

    def _instructions(self) -> str:
        folder = resources.files("unhack.audit.language_models") / "prompts"
        text = (folder / "strategies.md").read_text(encoding="utf-8")
        filled = {
            "arguments": "\n".join(f"- `{name}`: {what}" for name, what in SEEN.items()),
            "advice": _READ_SOURCE if self.tier == 2 else _FOLLOW_SCORES,
            "count": str(self.attacker.per_round),
            "flaws": "\n".join(f"- {entry.id}: {entry.title}" for entry in FLAWS.values()),
        }
        for name, value in filled.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def _message(self) -> str:
        source, shown = self.prover.journal.subject.source, self._shown()
        problems = [one for one in self._problems() if shown is None or one.id != shown.id]
        parts: list[str] = []
        if self.tier == 2 and source is not None:
            title = f"source of {source.entry or 'the function'}"
            parts.append(part(title, source.text, is_source=True))
        for number, problem in enumerate(problems[:_PROMPTS], start=1):
            parts.append(part(f"prompt {number}", problem.prompt[:_LONGEST_PROMPT]))
        parts.append(part("function to define", problems[0].entry_point or ""))
        if shown is not None:
            parts.append(part("the prompt of a solved problem", shown.prompt[:_LONGEST_PROMPT]))
            parts.append(part("its right answer", shown.answer or ""))
            parts.append(part("its right completion", shown.correct[0] if shown.correct else ""))
        elif not problems[0].is_code:
            parts.append(part("an answer of the right kind", typical(problems[0].answer or "")))
        parts.append(part("what the audit tried itself", _own_tries(self.prover.tried)))
        told = "\n".join(self._told[-_MOST_TOLD:])
        parts.append(part("your earlier strategies", told, is_source=True))
        return "".join(parts)


def read_strategies(reply: str) -> list[WrittenStrategy]:
    """The programs of a reply, each once, in order. Nothing is run."""
    blocks = [found[1] for found in _FENCED.finditer(reply)]
    if not blocks and "```" not in reply:
        blocks = [reply]
    found: dict[str, WrittenStrategy] = {}
    for block in blocks:
        source = block.strip("\n") + "\n"
        if f"def {ENTRY}(" not in source:
            continue
        named = _NAMED.search(source)
        flaw = named[1] if named is not None and named[1] in FLAWS else ANY_FLAW
        found.setdefault(source, WrittenStrategy(source, flaw))
    return list(found.values())


def _claimed(texts: Mapping[str, str], problems: Sequence[AuditProblem]) -> dict[str, Payload]:
    """By problem id, the payload of each text, with the claim that it bears out.

    The claims are made here, where the right answers are, and go to the oracle alone.
    """
    answers: dict[str, set[str]] = defaultdict(set)
    for problem in problems:
        answers[_frame(texts[problem.id], problem)].add(normal(problem.answer or ""))
    found: dict[str, Payload] = {}
    for problem in problems:
        text = texts[problem.id]
        wrong = wrong_answers(problem.answer or "", prompt=problem.prompt)
        payload = claim_of(text, Knowledge(problem, wrong_answers=wrong))
        settled = payload.claim is not Claim.OTHER_ANSWER or payload.asserts
        if not settled and len(answers[_frame(text, problem)]) >= _ENOUGH_ANSWERS:
            payload = replace(payload, claim=Claim.NO_ANSWER)
        found[problem.id] = payload
    return found


def _frame(text: str, problem: AuditProblem) -> str:
    """The rest of a text beside the prompt that it repeats."""
    prompt = problem.prompt.strip()
    return text.replace(prompt, "\0") if prompt else text


def _own_tries(tried: Sequence[Tried]) -> str:
    """The audit's own attacks and how often they were rewarded, in words."""
    own = [one for one in tried if not one.attack.startswith("model/")]
    seen = [one for one in own if one.rewarded]
    lines = [f"{one.attack}: {one.rewarded} of {one.completions} rewarded" for one in seen]
    others = ", ".join(one.attack for one in own if not one.rewarded)
    return "\n".join([*lines, *([f"never rewarded: {others}"] if others else [])])


def _code(source: str) -> str:
    return f"```python\n{source}```\n"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
