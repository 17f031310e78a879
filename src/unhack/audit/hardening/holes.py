"""The holes that a fix has to close: witnesses, strategies on other prompts, varied forms of both.

Covered: what is proven wrong by the oracle for text answers; a strategy is closed where it earns no
more than a guess does, since one that names a single answer is right by luck somewhere.
Not covered: strategies of programs on other problems, which the audit of the copy plays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from unhack.audit.attack import Payload
from unhack.audit.attacks.registry import all_attacks
from unhack.audit.hardening.allowance import Allowance
from unhack.audit.hardening.variations import payload_of, varied
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.search.strategies.strategy import PolicyKnowledge
from unhack.audit.subject import AuditProblem, Query, Score
from unhack.core.finding import Finding, FindingKind

_STRATEGIES, _PAYLOADS = 8, 4
"""Problems on which a hack's attacks are tried again, and payloads of one attack on each."""
_LUCK = 0.2
"""Share of problems on which a closed strategy may be rewarded beyond what a guess is."""
_VARIED_FORMS = 40
"""Most varied forms of one completion."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A completion that must lose its reward."""

    problem: int
    text: str
    flaw: str
    score: float
    """The score from which it is still rewarded."""
    line: int = 0
    """The line of the finding; 0 where none is known."""
    attack: str = ""
    kind: FindingKind = FindingKind.HACK
    strategy: str = ""
    """Its strategy, which is tried on several problems; empty for a completion by itself."""
    most: float = 0.0
    """Share of its strategy's problems that may be rewarded by luck."""


@dataclass(frozen=True, slots=True)
class PlayedHacks:
    """The hacks of findings, played on the problems of the original."""

    problems: Sequence[AuditProblem]
    original: ScoreJournal
    oracle: TextOracle
    allowance: Allowance

    def holes(self, findings: Sequence[Finding]) -> list[Hole]:
        """The witnesses of findings, and what the attacks of hacks make of other prompts."""
        found: list[Hole] = []
        for one in findings:
            hole = self._witness(one)
            found += [hole] if hole is not None else []
            if hole is not None and one.kind is FindingKind.HACK:
                found += self._played(one, hole, self._strategies(one), as_before=True)
        return found

    def _witness(self, finding: Finding) -> Hole | None:
        ids = [problem.id for problem in self.problems]
        if finding.problem not in ids:
            return None
        line = finding.place.line if finding.place is not None else 0
        least = min(finding.score, finding.threshold)
        if finding.expected_reward is not None:
            least = finding.expected_reward.closed_below(least)
        at = ids.index(finding.problem)
        return Hole(at, finding.witness, finding.flaw, least, line, finding.attack, finding.kind)

    def variants(self, findings: Sequence[Finding]) -> list[Hole]:
        """Varied forms of the hacks of findings, on several problems each, rewarded or not."""
        found: list[Hole] = []
        for one in findings:
            hole = self._witness(one)
            if hole is None or one.kind is not FindingKind.HACK:
                continue
            if self.problems[hole.problem].is_code:
                forms = varied(one.witness, frames=(), is_code=True)
                found += [replace(hole, text=text) for _, text in forms]
                continue
            frames = self._frames()
            made: list[tuple[str, int, Payload]] = []
            for key, at, payload in self._bases(one):
                forms = islice(varied(payload.text, frames=frames, is_code=False), _VARIED_FORMS)
                made.append((key, at, payload))
                for number, (_, text) in enumerate(forms):
                    made.append((f"{key}~{number}", at, replace(payload, text=text)))
            found += self._played(one, hole, made, as_before=False)
        return list(dict.fromkeys(found))

    def _frames(self) -> list[tuple[str, str]]:
        """The text around the answers of right replies."""
        found: dict[tuple[str, str], None] = {}
        for problem in self.problems[:_STRATEGIES]:
            answer = (problem.answer or "").strip()
            for text in problem.correct[:2]:
                before, said, after = text.rpartition(answer) if answer else ("", "", "")
                if said and before + after and len(before + after) < len(text):
                    found.setdefault((before, after))
        return list(found)[:2]

    def _strategies(self, finding: Finding) -> list[tuple[str, int, Payload]]:
        """(strategy, problem, payload) that a hack's attacks make without the answer."""
        known = PolicyKnowledge(self.problems, self.original.subject.source)
        attacks = [one for one in all_attacks() if one.name in (finding.attack, *finding.also[:3])]
        return [
            (f"{strategy.attack.name}/{strategy.place}", at, payload)
            for at, problem in enumerate(self.problems[:_STRATEGIES])
            if not problem.is_code
            for attack in attacks
            for strategy, payload in islice(known.every([attack], problem), _PAYLOADS)
        ]

    def _bases(self, finding: Finding) -> Iterator[tuple[str, int, Payload]]:
        """The witness on every problem, and the first strategy of its attack that is rewarded."""
        payload = payload_of(finding)
        for at in range(len(self.problems[:_STRATEGIES]) if payload is not None else 0):
            assert payload is not None
            yield "witness", at, payload
        played = self._strategies(finding)
        scores = self._screened([(at, one) for _, at, one in played])
        paid = [
            key
            for (key, _, _), score in zip(played, scores, strict=True)
            if score.at_least(min(finding.score, finding.threshold))
        ]
        best = max(dict.fromkeys(paid), key=paid.count, default="")
        yield from (one for one in played if one[0] == best)

    def _played(
        self,
        finding: Finding,
        hole: Hole,
        made: Sequence[tuple[str, int, Payload]],
        *,
        as_before: bool,
    ) -> list[Hole]:
        """Completions of strategies that are proven wrong, as holes; where `as_before`, those that
        the original rewards, else those on which it does not break."""
        made = [
            one for one in made if self.oracle.why_wrong(self.problems[one[1]], one[2]) is not None
        ]
        scores = self._screened([(at, payload) for _, at, payload in made])
        reward = finding.expected_reward
        guess = 0.0 if reward is None or reward.right <= 0 else reward.honest / reward.right
        most = 0.0 if reward is None else max(0.0, guess) + _LUCK
        holes = [
            replace(hole, problem=at, text=payload.text, strategy=f"{hole.attack}:{key}", most=most)
            for key, at, payload in made
        ]
        pays = still_open(holes, scores)
        return [
            one
            for number, (one, score) in enumerate(zip(holes, scores, strict=True))
            if (number in pays if as_before else score.value is not None)
        ]

    def _screened(self, asked: Sequence[tuple[int, Payload]]) -> list[Score]:
        queries = [Query(self.problems[at], payload.text) for at, payload in asked]
        before = self.original.calls
        self.original.most = before + self.allowance.room
        scores = self.original.screen(queries)
        self.allowance.calls -= self.original.calls - before
        return scores


def still_open(holes: Sequence[Hole], scores: Sequence[Score]) -> frozenset[int]:
    """The holes that are rewarded, but for strategies that are so no more often than by luck."""
    rewarded = [
        score.value is None or score.at_least(hole.score)
        for hole, score in zip(holes, scores, strict=True)
    ]
    tries: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for hole, paid in zip(holes, rewarded, strict=True):
        tries[hole.flaw, hole.strategy].append(paid)
    return frozenset(
        at
        for at, (hole, paid) in enumerate(zip(holes, rewarded, strict=True))
        if paid
        and not (
            hole.strategy
            and len(of := tries[hole.flaw, hole.strategy]) > 1
            and sum(of) <= max(float(hole.most > 0), hole.most * len(of))
        )
    )
