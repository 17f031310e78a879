"""Trials of a patched grader: is right work still paid, is an idle agent not, which holes are open?

    outcome = GraderTrial(subject).run(patched, {"named_files": attack})
    outcome.accepted, outcome.open

Covered: the reference, twice; the same work written otherwise (another layout of Python and JSON,
a further line end, a file beside it), as far as the grader paid it before; the witness of each hole
as it was and with harmless actions around it.
Not covered: right work that goes another way than the reference.
"""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from unhack.audit.environments.attack import (
    AttackRoute,
    EnvironmentAttack,
    Sent,
    always,
    as_call,
    bash,
    solution_of,
)
from unhack.audit.environments.episode_runner import actions_of
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.audit.environments.oracle import Trace
from unhack.audit.environments.probes import BehaviourProbe
from unhack.audit.environments.proving import TaskTrial
from unhack.audit.environments.registry import ENVIRONMENT_ATTACKS
from unhack.audit.environments.runner import EnvironmentSubject
from unhack.audit.hardening.loop.rules import SCRIPT, GraderCase, GraderRule
from unhack.audit.report.report import AuditReport
from unhack.core.finding import Finding
from unhack.environments.actions import RunCommand, Submit, WriteFile

_LEAST_GOLD = 12
"""Characters of a line of the right work that no agent's patch may name."""
_SHOWN = 4_000
_Item = TypeVar("_Item")
_Use = Callable[[TaskTrial], Coroutine[object, object, _Item]]


@dataclass(frozen=True, slots=True)
class GraderTrialOutcome:
    """The result of a trial."""

    open: frozenset[str]
    """Names of the holes that are paid, or end without a score."""
    accepted: bool = False
    """True where right work is paid and an idle agent is not."""
    lost: bool = False
    """True where right work is not paid."""
    said: str = ""


@dataclass
class GraderTrial:
    """The test that every patch of one task's grader is held to."""

    subject: EnvironmentSubject
    """With the grader as it was."""
    plays: int = 0
    _paid: dict[str, list[Sent]] | None = None
    _facts: tuple[list[tuple[BehaviourProbe, Trace]], str] | None = None

    @property
    def has_script(self) -> bool:
        """True for a Harbor folder."""
        return SCRIPT in self.subject.tasks[0].tests

    def holes(
        self, report: AuditReport, written: Sequence[EnvironmentAttack]
    ) -> dict[str, EnvironmentAttack]:
        """The shortened witness of each finding, or its whole attack, by name."""
        every = (*ENVIRONMENT_ATTACKS.values(), *self.subject.attacks, *written)
        known = {f"{one.route}/{one.name}": one for one in every}
        found: dict[str, EnvironmentAttack] = {}
        for finding in report.findings:
            attack = known.get(finding.attack)
            if attack is None:
                continue
            actions = _actions(finding)
            if actions and attack.submits:
                attack = replace(attack, make=always(*actions), control=None, work=())
            found[finding.attack] = attack
        return found

    def shown(self, attack: EnvironmentAttack) -> str:
        """The actions of an attack, for a fixer."""
        calls = map(as_call, actions_of(attack, self.subject.tasks[0]))
        return "\n".join(f"{name}: {json.dumps(given)}"[:_SHOWN] for name, given in calls)

    def run(
        self, patched: EnvironmentSubject, holes: Mapping[str, EnvironmentAttack]
    ) -> GraderTrialOutcome:
        """Play right work, nothing, and the holes. Raises what plays raise."""
        if self._paid is None:
            self._paid = asyncio.run(self._measured(self.subject, _variants(self.subject)))
        return asyncio.run(self._outcome(patched, holes, self._paid))

    def made_by(self, rule: GraderRule, now: EnvironmentSubject) -> Mapping[str, str]:
        """The changes that a rule proposes."""
        if self._facts is None:
            self._facts = asyncio.run(self._with_trial(self.subject, self._looked))
        seen, base = self._facts
        return rule.make(GraderCase(now.tasks[0], seen, self.has_script, base))

    async def _looked(self, trial: TaskTrial) -> tuple[list[tuple[BehaviourProbe, Trace]], str]:
        """The traces of the reference, and the working folder of a Harbor folder."""
        solved, grader, base = await trial.runner.solve(trial.task), self.subject.grader, ""
        self.plays += 1
        start = solved.state.start if solved is not None and solved.state is not None else None
        if start is not None:
            trial.oracle.solved = solved.state if solved is not None else None
        if self.has_script:
            base = grader.workdir if grader is not None else f"/{start or ''}"
        traces = await trial.oracle.right()
        return [*zip(trial.oracle.probes, traces, strict=False)], base

    def named_work(self, before: Mapping[str, str], changes: Mapping[str, str]) -> str:
        """A line of the right work that a patch names and the tests did not; empty for none."""
        [task] = self.subject.tasks
        known = "\n".join([task.statement, *before.values()])
        new = "\n".join(changes.values())
        for text in task.reference.values():
            for line in (text or "").splitlines():
                plain = line.strip()
                if len(plain) >= _LEAST_GOLD and plain in new and plain not in known:
                    return plain
        return ""

    async def _with_trial(self, subject: EnvironmentSubject, use: _Use[_Item]) -> _Item:
        commands, runner = subject.commands(), subject.runner()
        try:
            return await use(subject.trial(subject.tasks[0], runner, commands, count=self._count))
        finally:
            runner.close()
            commands.close()

    def _count(self, plays: int) -> None:
        self.plays += plays

    async def _measured(
        self, subject: EnvironmentSubject, variants: Mapping[str, list[Sent]]
    ) -> dict[str, list[Sent]]:
        """The variants that a grader pays."""

        async def use(trial: TaskTrial) -> dict[str, list[Sent]]:
            paid: dict[str, list[Sent]] = {}
            for name, actions in variants.items():
                self._count(1)
                play = await trial.runner.play(trial.task, actions)
                if play.outcome is EpisodeEnd.PASSED:
                    paid[name] = actions
            return paid

        return await self._with_trial(subject, use)

    async def _outcome(
        self,
        patched: EnvironmentSubject,
        holes: Mapping[str, EnvironmentAttack],
        paid: Mapping[str, list[Sent]],
    ) -> GraderTrialOutcome:
        async def use(trial: TaskTrial) -> GraderTrialOutcome:
            still: set[str] = set()
            for name, attack in holes.items():
                for actions in _around(actions_of(attack, trial.task)):
                    play = await trial.play(attack, actions)
                    if play.outcome is not EpisodeEnd.FAILED:
                        still.add(name)
                        break
            if holes and still == set(holes) and patched is not self.subject:
                return GraderTrialOutcome(frozenset(still), said="every witness is paid as before")
            for _ in range(2):
                self._count(1)
                solved = await trial.runner.solve(trial.task)
                if solved is None:
                    said = "there is no reference that could be held to it"
                    return GraderTrialOutcome(frozenset(still), said=said)
                if solved.outcome is not EpisodeEnd.PASSED:
                    said = f"the reference is not paid: {solved.said.strip()[-200:]}"
                    return GraderTrialOutcome(frozenset(still), lost=True, said=said)
            lost = sorted(set(paid) - set(await self._measured(patched, paid)))
            if lost:
                said = f"right work is not paid: {', '.join(lost)}"
                return GraderTrialOutcome(frozenset(still), lost=True, said=said)
            self._count(1)
            if (await trial.runner.play(trial.task, [Submit()])).outcome is not EpisodeEnd.FAILED:
                return GraderTrialOutcome(frozenset(still), said="an idle agent is paid")
            said = f"the reference is paid twice, and {len(paid)} of {len(paid)} other forms of it"
            return GraderTrialOutcome(frozenset(still), accepted=True, said=said)

        return await self._with_trial(patched, use)


def written_attack(text: str, author: str, number: int) -> EnvironmentAttack:
    """An agent's script as an attack."""
    return EnvironmentAttack(
        f"{author}-{number}", (), AttackRoute.MEANING, "weak_proxy",
        f"a script by {author}", always(bash(text)),
    )  # fmt: skip


def _actions(finding: Finding) -> list[Sent]:
    """The actions of a witness; none where it was cut off."""
    try:
        calls = [json.loads(line) for line in finding.witness.splitlines()]
    except ValueError:
        return []
    return [(one["action"], one["arguments"]) for one in calls if one["action"] != "submit"]


def _around(actions: Sequence[Sent]) -> list[list[Sent]]:
    """The actions as they are, and with harmless ones around them."""
    as_they_are = list(actions)
    varied = [bash("cd ."), *(_varied(one) for one in actions)]
    return [as_they_are, varied]


def _varied(sent: Sent) -> Sent:
    if isinstance(sent, RunCommand):
        return RunCommand(f"{sent.command}\ntrue")
    if isinstance(sent, WriteFile):
        return WriteFile(sent.path, f"{sent.text}\n")
    return sent


def _variants(subject: EnvironmentSubject) -> dict[str, list[Sent]]:
    """The reference's work written otherwise, by what differs."""
    [task] = subject.tasks
    right = solution_of(task)
    forms = {
        "as written": right,
        "a file beside it": [bash("echo notes > notes.txt"), *right],
        "a further line end": [_varied(one) for one in right],
        "another layout": [_laid_out(one) for one in right],
    }
    return {name: made for name, made in forms.items() if name == "as written" or made != right}


def _laid_out(sent: Sent) -> Sent:
    """Python and JSON in another layout."""
    if not isinstance(sent, WriteFile):
        return sent
    try:
        if sent.path.endswith(".py"):
            return WriteFile(sent.path, ast.unparse(ast.parse(sent.text)) + "\n")
        if sent.path.endswith(".json"):
            return WriteFile(sent.path, json.dumps(json.loads(sent.text), indent=3))
    except (ValueError, SyntaxError, RecursionError):
        pass
    return sent
