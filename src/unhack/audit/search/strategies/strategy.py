"""A strategy: one payload of one attack, as a program from prompts to completions.

Covered: the attacks of tiers 1 and 2, made with what a policy sees (`view`); fixed texts.
Not covered: strategies of several turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from unhack.audit.attack import Attack, Knowledge, Payload, payloads_by
from unhack.audit.search.strategies.view import donors_of, view_of
from unhack.audit.subject import AuditProblem, Source


@dataclass(frozen=True, slots=True)
class Strategy:
    """The payload of an attack at one place in its order."""

    attack: Attack
    place: int
    """Counted from 0 among the attack's payloads for a problem."""
    always: Payload | None = None
    """The completion for every prompt; None where it is made from the prompt."""
    made_on: str = ""
    """Id of the problem whose answer it was made from, which proves nothing; empty for none."""


@dataclass
class PolicyKnowledge:
    """The knowledge of strategies about each problem of a set."""

    problems: Sequence[AuditProblem]
    source: Source | None
    _donors: dict[str, AuditProblem | None] = field(init=False)
    _views: dict[str, Knowledge] = field(default_factory=dict[str, Knowledge])
    _made: dict[tuple[str, str], list[Payload]] = field(
        default_factory=dict[tuple[str, str], list[Payload]]
    )

    def __post_init__(self) -> None:
        self._donors = donors_of(self.problems)

    def of(self, problem: AuditProblem) -> Knowledge:
        """The view of one problem."""
        if problem.id not in self._views:
            donor = self._donors.get(problem.id)
            self._views[problem.id] = view_of(problem, donor, self.source)
        return self._views[problem.id]

    def donor_of(self, problem: AuditProblem) -> str:
        """The id of the solved problem that a policy sees beside this one; empty for none."""
        donor = self._donors.get(problem.id)
        return "" if donor is None or problem.is_code else donor.id

    def every(
        self, attacks: Iterable[Attack], problem: AuditProblem
    ) -> list[tuple[Strategy, Payload]]:
        """Every strategy of the attacks that has a completion for the problem; the same text
        only once."""
        found: list[tuple[Strategy, Payload]] = []
        seen: set[str] = set()
        for attack in attacks:
            for place, payload in enumerate(self._payloads(attack, problem)):
                if payload.text not in seen:
                    seen.add(payload.text)
                    found.append((Strategy(attack, place), payload))
        return found

    def complete(self, strategy: Strategy, problem: AuditProblem) -> Payload | None:
        """The completion of a strategy; None where the attack makes nothing of the prompt."""
        if strategy.always is not None:
            return strategy.always
        made = self._payloads(strategy.attack, problem)
        return made[strategy.place] if strategy.place < len(made) else None

    def _payloads(self, attack: Attack, problem: AuditProblem) -> list[Payload]:
        key = (attack.name, problem.id)
        if key not in self._made:
            # Every payload keeps its place, the same text twice as well.
            self._made[key] = payloads_by(attack, self.of(problem))
        return self._made[key]
