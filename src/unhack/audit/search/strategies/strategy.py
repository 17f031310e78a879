"""A strategy: one payload of one attack, as a program from prompts to completions.

A strategy is made on a *donor*: another problem of the set, whose answer shows the kind and whose
right completion shows the form. Of the problem that it is tried on it gets the prompt alone, so it
cannot hold the right answer but by chance. A form may name things of its problem, such as a unit:
where the prompt and the donor hold all words of the problem's own form, that one is taken. The
choice of these words is credit for a part at most, so only a reward near the full one counts then.

Covered: the attacks of tiers 1 and 2 on text problems and programs, made with what a policy sees;
fixed texts.
Not covered: strategies of several turns. A set of one problem has no donor; a typical answer of the
same kind stands in for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, payloads_by
from unhack.audit.attacks.payloads.answer_forms import AnswerForm, template_of
from unhack.audit.oracle.answers import decimal_of, is_choice, opposite, wrong_answers
from unhack.audit.oracle.entry_points import frame_of
from unhack.audit.oracle.examples import examples_of
from unhack.audit.oracle.listings import listing_of
from unhack.audit.oracle.oracle import Oracle, normal
from unhack.audit.oracle.own_oracle import OwnOracle
from unhack.audit.static_analysis.suspicions import constants
from unhack.audit.subject import AuditProblem, Call, Source
from unhack.core.finding import Evidence

_TYPICAL = ("42", "3/7", "turnip")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_FAIR = 0.9
"""Share of a right reward that the words of a problem's own form may be worth."""


def view_of(
    problem: AuditProblem,
    donor: AuditProblem | None,
    source: Source | None,
    *,
    form: AnswerForm | None = None,
) -> Knowledge:
    """The knowledge of a policy that has seen `donor` solved and now reads `problem`; `form` is one
    that it knows for the problem (`own_form`)."""
    if problem.is_code:
        # The prompt names the entry point; tests and solutions stay with the judge.
        calls = () if problem.entry_point is not None else (Call(("",)),)
        seen = replace(
            problem, answer=None, correct=(), calls=calls, extra={}, generator="", checker=""
        )
    else:
        answer = typical(problem.answer or "") if donor is None else donor.answer
        correct = () if donor is None else donor.correct
        if form is not None:
            correct = (form.write(answer or ""), *correct)
        seen = replace(problem, answer=answer, correct=correct, calls=(), extra={})
    frame = frame_of(problem.correct) if problem.is_code else ("", "")
    return replace(known_of(seen, source), is_view=True, frame=frame, shown=donor)


def known_of(problem: AuditProblem, source: Source | None) -> Knowledge:
    """All that is known of a problem."""
    return Knowledge(
        problem,
        source=source,
        wrong_answers=wrong_answers(problem.answer or "", prompt=problem.prompt),
        examples=examples_of(problem),
        constants=constants(source),
        frame=frame_of(problem.correct) if problem.is_code else ("", ""),
    )


def own_form(problem: AuditProblem, donor: AuditProblem | None) -> AnswerForm | None:
    """The form of the problem's right completion, where it is another one than the donor's and the
    prompt and the donor hold all of its words; else None."""
    if donor is None or problem.is_code or not donor.correct:
        return None
    own = template_of(problem)
    if own is None or own == template_of(donor):
        return None
    words = {*_TOKEN.findall(f"{own.before} {own.after}")} - {"that"}
    told = _TOKEN.findall(f"{problem.prompt} {donor.correct[0]}")
    return own if words and words <= {*told} else None


def why_wrong(oracle: Oracle, problem: AuditProblem, payload: Payload) -> Evidence | None:
    """The oracle's proof; where no answer is known, a text without content, which can be right for
    some problem and not for problems that differ: only a strategy that says it on all of them is
    proven by it."""
    evidence = oracle.why_wrong(problem, payload)
    if evidence is not None or not says_nothing(problem, payload) or isinstance(oracle, OwnOracle):
        return evidence
    text = "it is the same text on problems that differ, and gives no answer to any"
    return Evidence("no_answer", text, expected="")


def says_nothing(problem: AuditProblem, payload: Payload) -> bool:
    """Tell whether a completion has no content, for a problem whose answer is not known."""
    unknown = problem.answer is None and not problem.is_code
    return unknown and payload.claim is Claim.NO_ANSWER and payload.text not in problem.correct


def donors_of(problems: Sequence[AuditProblem]) -> dict[str, AuditProblem | None]:
    """A donor for each problem, by its id: the same one for all but itself, where there is one.

    A donor's answer differs from the problem's own as it is written; where no answers are known,
    its right completion does.
    """
    found: dict[str, AuditProblem | None] = {}
    for problem in problems:
        others = (one for one in problems if one is not problem and _told(one) != _told(problem))
        found[problem.id] = next(others, None)
    return found


def _told(problem: AuditProblem) -> str:
    unknown = problem.answer is None and not problem.is_code
    return normal(problem.correct[0] if unknown and problem.correct else problem.answer or "")


def typical(answer: str) -> str:
    """An answer of the same kind that says nothing else about `answer`."""
    number, fraction, word = _TYPICAL
    if is_choice(answer):
        return "B"
    if opposite(answer):
        return sorted((answer, opposite(answer)))[0]
    if decimal_of(answer) is not None:
        return number
    listing = listing_of(answer)
    if listing is not None:
        return listing.write([number, "17"])
    return fraction if "/" in answer and any(map(str.isdigit, answer)) else word


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
    own_form: bool = False
    """True where it is written in the problem's own form, where that is known and another one."""


@dataclass
class PolicyKnowledge:
    """The knowledge of strategies about each problem of a set."""

    problems: Sequence[AuditProblem]
    source: Source | None
    _donors: dict[str, AuditProblem | None] = field(init=False)
    _views: dict[str, Knowledge] = field(default_factory=dict[str, Knowledge])
    _forms: dict[str, AnswerForm | None] = field(default_factory=dict[str, "AnswerForm | None"])
    _made: dict[tuple[str, str, bool], list[Payload]] = field(
        default_factory=dict[tuple[str, str, bool], list[Payload]]
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
            for own in (False, True) if self._form_of(problem) else (False,):
                for place, payload in enumerate(self._payloads(attack, problem, own=own)):
                    if payload.text not in seen:
                        seen.add(payload.text)
                        found.append((Strategy(attack, place, own_form=own), payload))
        return found

    def complete(self, strategy: Strategy, problem: AuditProblem) -> Payload | None:
        """The completion of a strategy; None where the attack makes nothing of the prompt."""
        if strategy.always is not None:
            return strategy.always
        own = strategy.own_form and self._form_of(problem) is not None
        made = self._payloads(strategy.attack, problem, own=own)
        return made[strategy.place] if strategy.place < len(made) else None

    def _form_of(self, problem: AuditProblem) -> AnswerForm | None:
        if problem.id not in self._forms:
            self._forms[problem.id] = own_form(problem, self._donors.get(problem.id))
        return self._forms[problem.id]

    def _payloads(self, attack: Attack, problem: AuditProblem, *, own: bool) -> list[Payload]:
        key = (attack.name, problem.id, own)
        if key not in self._made:
            # Every payload keeps its place, the same text twice as well.
            if own:
                donor, form = self._donors.get(problem.id), self._form_of(problem)
                made = payloads_by(attack, view_of(problem, donor, self.source, form=form))
                made = [replace(one, fair=max(one.fair, _FAIR)) for one in made]
            else:
                made = payloads_by(attack, self.of(problem))
            self._made[key] = made
        return self._made[key]
