"""`unhack audit` of an environment: play the attacks, show what won, write it down."""

from __future__ import annotations

import asyncio
import math
import shlex
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import typer

from unhack.audit.environments.loading import environment_of
from unhack.audit.environments.runner import (
    EnvironmentAuditOptions,
    EnvironmentSubject,
    audit_environment,
)
from unhack.audit.report.discovery import CurvePoint
from unhack.audit.report.page import page
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.report.wording import strict
from unhack.audit.runner import Progress
from unhack.cli import terminal
from unhack.cli.audit.arguments import AuditArguments
from unhack.cli.audit.option_values import episode_discoverer, tiers_of
from unhack.cli.audit.screen import screen
from unhack.cli.audit.watching import watching
from unhack.cli.options import check_output
from unhack.core.errors import UsageError
from unhack.sandbox.pool.pool import Pool

_UNDECIDED, _INTERRUPTED = 4, 130
_WORK = frozenset(
    {
        "target", "grader", "tiers", "calls", "seconds", "cpu_seconds", "stop_at_first", "seed",
        "thorough", "allow_unproven", "as_json", "verbose", "html",
        "base", "builder", "builder_option",
    }
)  # fmt: skip
"""Fields that mean something here; any other one is refused."""
_WHY = {
    "strict": "its findings are all hacks",
    "model": "its tier 5 trains a policy over moves",
}
_TIERS = frozenset({1, 5})
IMAGE_OPTIONS = frozenset({"base", "builder", "builder_option"})
"""Fields of a folder's image; with one of them, it is built."""


def run_environment(arguments: AuditArguments, given: frozenset[str]) -> None:
    """Audit the environment. `given` are the fields that stand on the command line. Exits 1 when an
    attack is proven to win, 4 when nothing could be decided. Raises UsageError, also for an option
    that has no meaning here."""
    refused = [name for name in AuditArguments.__dataclass_fields__ if name in given - _WORK]
    if refused:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in refused)
        why = next((f" ({_WHY[name]})" for name in refused if name in _WHY), "")
        verb = "is" if len(refused) == 1 else "are"
        text = f"{options} {verb} for verifiers{why}; {arguments.target} is an environment"
        raise UsageError(text)
    tiers = tiers_of(arguments.tiers) if "tiers" in given else (1,)
    if not _TIERS.issuperset(tiers):
        others = ", ".join(str(tier) for tier in tiers if tier not in _TIERS)
        text = f"--tiers: tier {others} is for verifiers; {arguments.target} is an environment"
        raise UsageError(f"{text}, which has tiers 1 and 5")
    check_output("--html", arguments.html)
    report = _audited(arguments, given, tiers)
    if arguments.html is not None:
        command = shlex.join(["unhack", *sys.argv[1:]])
        text = page(report, made=datetime.now(UTC), command=command)
        terminal.write_file(arguments.html, text)
    shown = screen(report, verbose=arguments.verbose)
    terminal.write_result([strict(report.to_json())], shown, as_json=arguments.as_json)
    if report.conclusion is Conclusion.EXPLOITABLE:
        raise typer.Exit(1)
    if report.discovery is not None and report.discovery.interrupted:
        raise typer.Exit(_INTERRUPTED)
    if report.is_undecided and not arguments.allow_unproven:
        raise typer.Exit(_UNDECIDED)


def _audited(
    arguments: AuditArguments, given: frozenset[str], tiers: tuple[int, ...]
) -> AuditReport:
    trainer = episode_discoverer(tiers)
    builder = arguments.image_builder() if given & IMAGE_OPTIONS else None
    subject = environment_of(arguments.target, grader=arguments.grader, builder=builder)
    if subject.folder is not None and 5 in tiers:
        text = f"--tiers: tier 5 does not train in images; {arguments.target} needs one"
        raise UsageError(text)
    options = environment_options(arguments, given, subject)
    return audit_with_bar(subject, replace(options, tiers=tiers, discoverer=trainer))


def environment_options(
    arguments: AuditArguments, given: frozenset[str], subject: EnvironmentSubject
) -> EnvironmentAuditOptions:
    """The options of an audit by the known attacks."""
    most = len(subject.tasks) if arguments.thorough else EnvironmentAuditOptions().most_tasks
    return EnvironmentAuditOptions(
        most_tasks=most,
        most_plays=arguments.calls if "calls" in given else math.inf,
        seconds=arguments.seconds,
        seed=arguments.seed,
        stop_at_first=arguments.stop_at_first,
        cpu_s=math.inf if arguments.cpu_seconds is None else arguments.cpu_seconds,
    )


def audit_with_bar(subject: EnvironmentSubject, options: EnvironmentAuditOptions) -> AuditReport:
    """One audit, with its progress on stderr."""
    with closing(Pool()) as backend, watching() as show:

        def step(stage: str, done: int, total: int, wins: int) -> None:
            show(Progress(stage, done, total, wins))

        def point(now: CurvePoint, best: str) -> None:
            show(Progress("tier 5", now.step + 1, 0, 0, now, best))

        return asyncio.run(
            audit_environment(
                subject, options=options, backend=backend, on_progress=step, on_point=point
            )
        )
