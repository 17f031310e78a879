"""`unhack audit --harden N`: hacker, fixer and solver in turn, each turn on stderr."""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from unhack.cli import terminal
from unhack.cli.audit.arguments import AuditArguments
from unhack.cli.options import check_output
from unhack.core.errors import UsageError
from unhack.reporting.text import one_line, visible

if TYPE_CHECKING:
    from unhack.audit.hardening.loop.agent import LoopBudget, LoopWorker
    from unhack.audit.hardening.loop.record import HardenedTask
    from unhack.audit.options import AuditOptions
    from unhack.audit.report.report import AuditReport
    from unhack.audit.subject import Subject
    from unhack.sandbox.job import Backend

_One = TypeVar("_One")
_With = TypeVar("_With")
_OURS = frozenset({"agent", "agent_option", "white_box", "cost", "sibling", "patches"})
_NOT_HERE = frozenset(
    {
        "read_only", "stop_at_first", "strict", "power", "power_seconds", "model", "run", "sarif",
        "pairs", "write_tests", "fix", "force",
    }
)  # fmt: skip
_WITNESS = 160
_TONES = {"closed": "bold green", "no hole found": "bold green", "not closed": "bold red"}


def check_harden(arguments: AuditArguments, given: frozenset[str]) -> None:
    """Raise UsageError for options that mean nothing with, or without, --harden."""
    wrong = given & (_OURS if arguments.harden is None else _NOT_HERE)
    if wrong:
        named = ", ".join(f"--{one.replace('_', '-')}" for one in sorted(wrong))
        raise UsageError(f"{named}: {'only' if arguments.harden is None else 'not'} with --harden")


def run_harden(arguments: AuditArguments, given: frozenset[str]) -> None:
    """Play the rounds on every task, and show them. Exits 1 where a hole is proven, 4 where
    nothing could be decided. Raises UsageError."""
    from unhack.audit.environments.loading import is_environment
    from unhack.audit.hardening.loop.page import loop_page
    from unhack.audit.hardening.loop.record import exit_code
    from unhack.audit.report.wording import strict

    check_output("--html", arguments.html)
    if arguments.patches is not None and not arguments.patches.parent.is_dir():
        raise UsageError(f"--patches: {arguments.patches.parent}: no such directory")
    with tempfile.TemporaryDirectory(prefix="unhack-agent-") as folder:
        worker, budget = _worker(arguments, Path(folder))
        play = _environments if is_environment(arguments.target) else _verifier
        tasks = play(arguments, given, worker, budget)
    if arguments.html is not None:
        command = shlex.join(["unhack", *sys.argv[1:]])
        page = loop_page(tasks, target=arguments.target, made=datetime.now(UTC), command=command)
        terminal.write_file(arguments.html, page)
    if arguments.patches is not None:
        _write_patches(tasks, arguments.patches)
    objects = [strict({"target": arguments.target, "tasks": [one.to_json() for one in tasks]})]
    parts = [part for task in tasks for part in _screen(task)]
    terminal.write_result(objects, parts, as_json=arguments.as_json)
    code = exit_code(tasks)
    if code and not (code == 4 and arguments.allow_unproven):
        raise typer.Exit(code)


def _worker(arguments: AuditArguments, folder: Path) -> tuple[LoopWorker | None, LoopBudget]:
    """The agent or the model that plays hacker and fixer; None where none is named."""
    from unhack.audit.hardening.loop.agent import AgentWorker, LoopBudget, ModelWorker

    assert arguments.harden is not None
    until = time.monotonic() + (2 + arguments.harden) * arguments.seconds
    budget = LoopBudget(until, arguments.cost)
    if arguments.agent is not None:
        from unhack.agents.registry import check_addressed, make_command_agent
        from unhack.cli.tournament.option_values import pairs

        options = pairs("--agent-option", arguments.agent_option)
        check_addressed(options, [arguments.agent])
        agent = make_command_agent(arguments.agent, options=options)
        return AgentWorker(agent, budget, folder), budget
    if (arguments.white_box or arguments.agent_option) and arguments.endpoint() is None:
        raise UsageError("--white-box, --agent-option: with --agent or --llm-model")
    endpoint = arguments.endpoint()
    if endpoint is None:
        return None, budget
    from unhack.agents.language_models.model import Model

    return ModelWorker(Model(endpoint, cost_limit_usd=arguments.llm_cost), budget), budget


def _verifier(
    arguments: AuditArguments, given: frozenset[str], worker: LoopWorker | None,
    budget: LoopBudget,
) -> list[HardenedTask]:  # fmt: skip
    from unhack.audit.hardening.copy import check_place
    from unhack.audit.hardening.loop.agent import AskedAgent, ModelWorker
    from unhack.audit.hardening.loop.verifier import VerifierLoop, harden_verifier
    from unhack.audit.language_models.attacker import ModelAttacker
    from unhack.audit.subjects.loading import load_subject
    from unhack.cli.audit.option_values import audit_options, function_inputs
    from unhack.cli.audit.watching import audit_with_bar
    from unhack.tasks.execution.choosing import backend_on

    del given
    options = audit_options(arguments)

    def hacker() -> ModelAttacker | None:
        tiers = (2,) if arguments.white_box else (3,)
        if worker is None:
            return None
        if isinstance(worker, ModelWorker):
            return ModelAttacker(worker.model, tiers=tiers)
        asked = AskedAgent(worker, budget)
        return ModelAttacker(asked, rounds=1, tiers=tiers, strategies_only=True)

    def load(target: str, backend: Backend) -> Subject:
        return load_subject(
            target, problems=arguments.problems, signature=arguments.signature,
            inputs=function_inputs(arguments),
            seconds=arguments.seconds, backend=backend,
        )  # fmt: skip

    with backend_on(arguments.executor) as backend:
        subject = load(arguments.target, backend)
        check_place(arguments.target, subject, place=None)
        siblings = [(one, load(one, backend)) for one in arguments.sibling or ()]

        def audited(one: Subject, with_options: AuditOptions) -> AuditReport:
            return audit_with_bar(one, with_options, backend)

        loop = VerifierLoop(
            options, arguments.harden or 1, _saying(audited), backend, hacker, worker, siblings,
            budget,
        )  # fmt: skip
        return [harden_verifier(subject, arguments.target, loop=loop)]


def _environments(
    arguments: AuditArguments, given: frozenset[str], worker: LoopWorker | None,
    budget: LoopBudget,
) -> list[HardenedTask]:  # fmt: skip
    from unhack.audit.environments.loading import environment_of, is_environment
    from unhack.audit.environments.runner import EnvironmentSubject
    from unhack.audit.hardening.loop.environment import EnvironmentLoop, harden_environment
    from unhack.cli.audit.environment import IMAGE_OPTIONS, audit_with_bar, environment_options

    if "tiers" in given and arguments.tiers != "1":
        raise UsageError("--tiers: --harden plays the known attacks, tier 1, on environments")
    for name in ("problems", "signature", "bind", "env", "oracle", "tier_limits", "executor"):
        if name in given:
            raise UsageError(f"--{name.replace('_', '-')} is for verifiers")
    builder = arguments.image_builder() if given & IMAGE_OPTIONS else None

    def load(target: str) -> EnvironmentSubject:
        return environment_of(target, grader=arguments.grader, builder=builder)

    subject, siblings = load(arguments.target), list[EnvironmentSubject]()
    for one in arguments.sibling or ():
        place = Path(one)
        inside = [] if is_environment(one) or not place.is_dir() else sorted(place.iterdir())
        others = [str(each) for each in inside if is_environment(str(each))] or [one]
        here = Path(arguments.target).resolve()
        siblings += [load(each) for each in others if Path(each).resolve() != here]
    options = environment_options(arguments, given, subject)
    loop = EnvironmentLoop(
        options, arguments.harden or 1, _saying(audit_with_bar), worker, budget,
        arguments.white_box, siblings,
    )  # fmt: skip
    return harden_environment(subject, loop=loop)


def _saying(audit: Callable[[_One, _With], AuditReport]) -> Callable[[_One, _With], AuditReport]:
    """An audit that says on stderr what it found."""
    from unhack.audit.report.wording import CONCLUSIONS

    turn = 0

    def run(subject: _One, options: _With) -> AuditReport:
        nonlocal turn
        turn += 1
        report = audit(subject, options)
        flaws = ", ".join(one.flaw for one in report.findings)
        said = f"{CONCLUSIONS[report.conclusion]}" + (f": {flaws}" if flaws else "")
        terminal.remarks().print(f"hacker, turn {turn}: {said}", soft_wrap=True)
        return report

    return run


def _write_patches(tasks: Sequence[HardenedTask], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    both = [*tasks, *(each for one in tasks for each in one.siblings)]
    for number, one in enumerate((each for each in both if each.diff), 1):
        name = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in one.name)
        terminal.write_file(folder / f"{number:03d}-{name.strip('-.')}.diff", one.diff)


def _screen(task: HardenedTask) -> Iterator[RenderableType]:
    """The end, then each round, siblings, and the diff."""
    tone = _TONES.get(task.end.value, "bold yellow")
    yield Text.assemble((task.end.value, tone), f": {visible(task.name)}: {visible(task.why)}")
    for number, one in enumerate(task.rounds, 1):
        yield _indent(f"round {number}: {one.hackers}: {one.said}")
        for hole in one.found:
            witness = one_line(hole.witness, most=_WITNESS)
            what = f"{hole.kind.value.replace('_', ' ')} {hole.flaw} on {hole.problem}"
            yield _indent(f"{what}, by {hole.named}: {witness}", 4)
        for patch in one.patches:
            word = "patch" if patch.kept else "dropped"
            yield _indent(f"{word}: {patch.what}", 4)
            yield _indent(f"solver: {patch.solver}", 6)
    for sibling in task.siblings:
        word = "takes the patch" if sibling.kept else "keeps its grader"
        yield _indent(f"sibling {sibling.name} {word}: {sibling.why}")
    yield _indent(f"{task.calls} runs, {task.seconds:.1f} s, {task.cost_usd:.2f} USD")
    for one in (task, *task.siblings):
        if one.diff:
            yield Text(visible(f"\n{one.diff}"))


def _indent(text: str, by: int = 2) -> Padding:
    return Padding(Text(visible(text)), (0, 0, 0, by), expand=False)
