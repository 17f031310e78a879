"""`unhack audit`: can a verifier be gamed?"""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from unhack.cli import terminal
from unhack.cli.audit.arguments import AuditArguments
from unhack.cli.options import check_output, takes
from unhack.cli.terminal import remarks
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unhack.audit.hardening.rounds import HardeningResult
    from unhack.audit.options import AuditOptions
    from unhack.audit.report.power import Power
    from unhack.audit.report.report import AuditReport
    from unhack.audit.subject import Subject
    from unhack.sandbox.job import Backend


STDOUT = Path("-")  # the value of `--fix` without one
UNDECIDED = 4
"""Exit code of an audit that could neither prove a hack nor say that it found none."""
_QUICK_CPU_S = 60.0
"""CPU seconds of an audit without rows, unless it is given others: a busy host changes nothing."""
INTERRUPTED = 130
"""Exit code of one whose training was ended by Ctrl-C before anything was proven."""


@takes(AuditArguments)
def audit(arguments: AuditArguments, given: frozenset[str]) -> None:
    """Search for wrong completions that a verifier rewards.

    A hack is a strategy that never reads the right answer and earns more than honest guessing on
    held-out problems. A false accept passes too, but contains the right answer. Both are proven:
    an oracle that does not share the verifier's flaw shows that the completion is wrong. The
    verifier runs in the sandbox.

    Exit code 1 when a hack is proven, 4 when nothing could be decided. Tier 5 trains a policy
    against the verifier or environment and shows its learning curve; Ctrl-C ends the training and
    keeps what it found. It needs unhack[train] and is off by default.

    \b
    unhack audit rewards.py:compute_score
    unhack audit rewards.py:compute_score --problems rows.jsonl
    unhack audit rewards.py:compute_score --problems rows.jsonl --fix | git apply
    unhack audit rewards.py:compute_score --problems rows.jsonl --fix fixed.py
    unhack audit rewards.py:compute_score --problems rows.jsonl --run audit --thorough
    unhack audit rewards.py:compute_score --problems rows.jsonl --power
    unhack audit repos --seconds 600
    unhack audit ./harbor-task
    unhack audit rewards.py:compute_score --problems rows.jsonl --harden 3 --agent claude
    unhack audit ./harbor-tasks --read-only --html tasks.html
    unhack audit rewards.py:compute_score --problems rows.jsonl --tiers 5 --html curve.html
    """
    from unhack.audit.environments.loading import is_environment
    from unhack.cli.audit.environment import IMAGE_OPTIONS, run_environment
    from unhack.cli.audit.harden import check_harden, run_harden
    from unhack.cli.audit.reading import run_reading

    check_harden(arguments, given)
    if arguments.harden is not None:
        run_harden(arguments, given)
        return
    if arguments.read_only:
        run_reading(arguments, given)
        return
    if is_environment(arguments.target):
        run_environment(arguments, given)
        return
    if given & IMAGE_OPTIONS:
        named = ", ".join(f"--{one.replace('_', '-')}" for one in sorted(given & IMAGE_OPTIONS))
        raise UsageError(f"{named}: for Harbor folders with an image; {arguments.target} has none")
    if arguments.grader is not None:
        raise UsageError(f"--grader is for environments; {arguments.target} is a verifier")
    _audit_verifier(arguments, given)


def _audit_verifier(arguments: AuditArguments, given: frozenset[str]) -> None:
    from unhack.audit.subjects.loading import comes_without_rows
    from unhack.cli.audit.option_values import audit_options
    from unhack.cli.audit.steps import next_steps
    from unhack.cli.audit.workflow_commands import tell_actions

    quick = comes_without_rows(arguments.target, arguments.problems)
    options = audit_options(arguments)
    if quick and not given & {"seconds", "cpu_seconds"}:
        options = replace(options, cpu_s=_QUICK_CPU_S)
    _check_outputs(arguments)
    try:
        report, subject, hardening = _run(arguments, options)
    except KeyboardInterrupt:
        _say_interrupted(arguments)
        raise
    _write_files(arguments, report, subject)
    following = (
        ()
        if arguments.as_json
        else next_steps(arguments, given, report=report, subject=subject, options=options)
    )
    _show(arguments, report, subject, hardening=hardening, following=following)
    if arguments.github:
        tell_actions(report, subject.source, following=following)
    _remark(subject)
    _leave(arguments, report, subject)


def _leave(arguments: AuditArguments, report: AuditReport, subject: Subject) -> None:
    """End with the exit code of the report. Raises UsageError where the input lacks something."""
    from unhack.audit.report.report import Conclusion
    from unhack.audit.report.wording import lacking

    if report.conclusion is Conclusion.EXPLOITABLE or (arguments.strict and report.findings):
        raise typer.Exit(1)
    if report.discovery is not None and report.discovery.interrupted:
        raise typer.Exit(INTERRUPTED)
    missing = lacking(subject) if arguments.oracle is None else ""
    if report.conclusion is Conclusion.UNPROVEN and missing:
        raise UsageError(missing)
    if report.is_undecided and not arguments.allow_unproven:
        raise typer.Exit(UNDECIDED)


def _run(
    arguments: AuditArguments, options: AuditOptions
) -> tuple[AuditReport, Subject, HardeningResult | None]:
    """The audit, and the hardened copy where one is asked for."""
    from unhack.audit.hardening.allowance import Allowance
    from unhack.audit.hardening.copy import check_place
    from unhack.audit.hardening.result import told_by_fix
    from unhack.audit.hardening.rounds import CopyAudits
    from unhack.audit.subjects.function_subject import FunctionSubject
    from unhack.audit.subjects.loading import load_subject
    from unhack.cli.audit.fix import check_at_top, write_fix
    from unhack.cli.audit.option_values import function_inputs
    from unhack.cli.audit.watching import audit_with_bar
    from unhack.tasks.execution.choosing import backend_on

    hardening: HardeningResult | None = None
    began = time.monotonic()
    with backend_on(arguments.executor) as backend:
        subject = load_subject(
            arguments.target,
            problems=arguments.problems,
            signature=arguments.signature,
            inputs=function_inputs(arguments),
            seconds=arguments.seconds,
            backend=backend,
        )
        left = max(1.0, options.seconds - (time.monotonic() - began))
        made = subject.runs.calls if isinstance(subject, FunctionSubject) else 0
        options = replace(options, seconds=left, calls_made=made)
        place = None if arguments.fix == STDOUT else arguments.fix
        if arguments.fix is not None:
            check_at_top(subject)
            check_place(arguments.target, subject, place=place, force=arguments.force)
        report = audit_with_bar(subject, options, backend)
        if arguments.fix is not None:
            again = replace(
                options, run_folder=None, power_s=0.0, calls_made=0
            )  # a run folder belongs to one verifier
            allowance = Allowance.of(report, again)
            hardening = write_fix(
                arguments.target,
                subject,
                place=place,
                report=report,
                audits=CopyAudits(
                    lambda copy: audit_with_bar(copy, allowance.bound(again), backend),
                    _power_with_bar(options, backend) if arguments.power else None,
                    allowance,
                ),
                backend=backend,
            )
            report = told_by_fix(report, hardening)
    return report, subject, hardening


def _remark(subject: Subject) -> None:
    """Say on stderr what of the input was not read, and what was replaced."""
    from unhack.audit.subjects.remarks import stubbed, unread_fields

    lines = unread_fields(subject)
    missing = stubbed(subject)
    if missing:
        names = ", ".join(missing)
        lines.append(f"stubbed: {names} (not installed here; a stub took its place)")
    for line in lines:
        remarks().print(line, soft_wrap=True)


def _say_interrupted(arguments: AuditArguments) -> None:
    """Say on stderr how to go on."""
    text = "Interrupted. Nothing was kept; with --run DIR the same command would resume."
    if arguments.run is not None:
        text = f"Interrupted. Scores are kept in {arguments.run}; run the same command to resume."
    remarks().print(text, soft_wrap=True)


def _check_outputs(arguments: AuditArguments) -> None:
    """Refuse files that could not be written, before anything runs."""
    files = {"--sarif": arguments.sarif, "--html": arguments.html, "--pairs": arguments.pairs}
    fixed = None if arguments.fix == STDOUT else arguments.fix
    for option, path in {**files, "--fix": fixed}.items():
        check_output(option, path)
    folders = {"--write-tests": arguments.write_tests, "--run": arguments.run}
    for option, path in folders.items():
        if path is not None and path.exists() and not path.is_dir():
            raise UsageError(f"{option}: {path} is not a directory")


def _power_with_bar(
    options: AuditOptions, backend: Backend
) -> Callable[[Subject, AuditReport], Power]:
    """The power of the same audit on another verifier."""
    from unhack.audit.runner import measure_power
    from unhack.cli.audit.watching import watching

    def measured(subject: Subject, report: AuditReport) -> Power:
        with watching() as show:
            return measure_power(
                subject, report, options=options, backend=backend, on_progress=show
            )

    return measured


def _write_files(arguments: AuditArguments, report: AuditReport, subject: Subject) -> None:
    """Every file that was asked for, each named on stderr."""
    from unhack.audit.report.regression import AuditedTarget, write_tests
    from unhack.audit.report.sarif import sarif
    from unhack.cli.audit.option_values import function_inputs

    texts: list[tuple[Path, str]] = []
    if arguments.sarif is not None:
        log = sarif(report, source=subject.source)
        texts.append((arguments.sarif, json.dumps(log, indent=2, allow_nan=False) + "\n"))
    if arguments.html is not None:
        texts.append((arguments.html, _page(report, subject)))
    if arguments.pairs is not None:
        rows = "".join(json.dumps(pair.to_json()) + "\n" for pair in report.pairs)
        texts.append((arguments.pairs, rows))
    for path, text in texts:
        terminal.write_file(path, text)
    if arguments.write_tests is not None:
        given = function_inputs(arguments)
        origin = AuditedTarget(
            arguments.target, arguments.problems, arguments.signature, given.bind,
            tuple(given.environ),
        )  # fmt: skip
        tests = write_tests(report, origin, folder=arguments.write_tests)
        if tests is not None:
            terminal.remarks().print(f"wrote {tests}", soft_wrap=True)


def _page(report: AuditReport, subject: Subject) -> str:
    from unhack.audit.report.page import page

    command = shlex.join(["unhack", *sys.argv[1:]])
    return page(report, source=subject.source, made=datetime.now(UTC), command=command)


def _show(
    arguments: AuditArguments,
    report: AuditReport,
    subject: Subject,
    *,
    hardening: HardeningResult | None,
    following: Sequence[tuple[str, str]],
) -> None:
    from unhack.audit.report.wording import strict
    from unhack.cli.audit.fix import outcome_lines
    from unhack.cli.audit.screen import screen

    if arguments.as_json:
        hardened = {} if arguments.fix is None else {"hardened": hardening and hardening.to_json()}
        terminal.write_json(strict({**report.to_json(), **hardened}))
        return
    as_diff = arguments.fix == STDOUT
    console = terminal.remarks() if as_diff else terminal.results()
    shown = screen(report, source=subject.source, following=following, verbose=arguments.verbose)
    for part in shown:
        console.print(part, crop=False)
    if arguments.fix is not None and hardening is not None:
        for line in outcome_lines(hardening, None if as_diff else arguments.fix):
            console.print(line)
        if as_diff:
            sys.stdout.write(hardening.patch)
