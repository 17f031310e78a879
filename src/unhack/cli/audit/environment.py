"""`unhack audit` of an environment: play the attacks, show what won, write it down."""

from __future__ import annotations

import asyncio
import math
import shlex
import sys
from datetime import UTC, datetime

import typer

from unhack.audit.environments.loading import environment_of
from unhack.audit.environments.runner import EnvironmentAuditOptions, audit_environment
from unhack.audit.report.page import page
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.report.wording import strict
from unhack.audit.runner import Progress
from unhack.cli import terminal
from unhack.cli.audit.arguments import AuditArguments
from unhack.cli.audit.screen import screen, watching
from unhack.core.errors import UsageError
from unhack.sandbox.pool.shared import pool

_UNDECIDED = 4
_WORK = frozenset(
    {
        "target", "grader", "calls", "seconds", "stop_at_first", "seed", "thorough",
        "allow_unproven", "as_json", "html",
    }
)  # fmt: skip
"""Fields that mean something here; any other one is refused."""
_WHY = {
    "strict": "its findings are all hacks",
    "tiers": "its attacks are all of tier 1",
    "tier_limits": "its attacks are all of tier 1",
}


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
    if arguments.html is not None and not arguments.html.absolute().parent.is_dir():
        raise UsageError(f"--html: there is no directory {arguments.html.parent}")
    if arguments.html is not None and arguments.html.is_dir():
        raise UsageError(f"--html: {arguments.html} is a directory; name a file")
    report = _audited(arguments, given)
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


def _audited(arguments: AuditArguments, given: frozenset[str]) -> AuditReport:
    subject = environment_of(arguments.target, grader=arguments.grader)
    most = len(subject.tasks) if arguments.thorough else EnvironmentAuditOptions().most_tasks
    options = EnvironmentAuditOptions(
        most_tasks=most,
        most_plays=arguments.calls if "calls" in given else math.inf,
        seconds=arguments.seconds,
        seed=arguments.seed,
        stop_at_first=arguments.stop_at_first,
    )
    with pool() as backend, watching() as show:

        def step(stage: str, done: int, total: int, wins: int) -> None:
            show(Progress(stage, done, total, wins))

        return asyncio.run(
            audit_environment(subject, options=options, backend=backend, on_progress=step)
        )
