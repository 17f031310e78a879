"""`unhack audit` of an environment: play the attacks, show what won, write it down."""

from __future__ import annotations

import asyncio
import shlex
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from unhack.audit.environments.loading import environment_of
from unhack.audit.environments.runner import EnvironmentAuditOptions, audit_environment
from unhack.audit.report.page import page
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.report.wording import strict
from unhack.audit.runner import Progress
from unhack.cli import terminal
from unhack.cli.audit.screen import screen, watching
from unhack.core.errors import UsageError
from unhack.sandbox.pool.shared import pool

if TYPE_CHECKING:
    from unhack.cli.audit.arguments import AuditArguments

_UNDECIDED = 4
_OF_VERIFIERS = (
    "problems", "signature", "oracle", "llm_model", "model", "run", "sarif", "pairs",
    "write_tests", "fix",
)  # fmt: skip


def run_environment(arguments: AuditArguments) -> None:
    """Audit the environment. Exits 1 when an attack is proven to win, 4 when nothing could be
    decided. Raises UsageError."""
    for name in _OF_VERIFIERS:
        if getattr(arguments, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for verifiers; {arguments.target} is an environment")
    if arguments.html is not None and not arguments.html.absolute().parent.is_dir():
        raise UsageError(f"--html: there is no directory {arguments.html.parent}")
    report = _audited(arguments)
    if arguments.html is not None:
        command = shlex.join(["unhack", *sys.argv[1:]])
        text = page(report, made=datetime.now(UTC), command=command)
        arguments.html.write_text(text, encoding="utf-8", errors="backslashreplace")
        terminal.remarks().print(f"wrote {arguments.html}", soft_wrap=True)
    if arguments.as_json:
        terminal.write_json(strict(report.to_json()))
    else:
        for part in screen(report):
            terminal.results().print(part)
    if report.conclusion is Conclusion.EXPLOITABLE:
        raise typer.Exit(1)
    if report.conclusion is Conclusion.UNPROVEN and not arguments.allow_unproven:
        raise typer.Exit(_UNDECIDED)


def _audited(arguments: AuditArguments) -> AuditReport:
    subject = environment_of(arguments.target, grader=arguments.grader)
    most = len(subject.tasks) if arguments.thorough else EnvironmentAuditOptions().most_tasks
    options = EnvironmentAuditOptions(most_tasks=most, seconds=arguments.seconds)
    with pool() as backend, watching() as show:

        def step(stage: str, done: int, total: int, wins: int) -> None:
            show(Progress(stage, done, total, wins))

        return asyncio.run(
            audit_environment(subject, options=options, backend=backend, on_progress=step)
        )
