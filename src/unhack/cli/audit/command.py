"""`unhack audit`: can a verifier be gamed?"""

from __future__ import annotations

import json
import math
import shlex
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unhack.cli.options import takes, valued

if TYPE_CHECKING:
    from unhack.audit.hardening.rounds import Mended
    from unhack.audit.language_models.attacker import ModelAttacker
    from unhack.audit.options import AuditOptions, TierLimit
    from unhack.audit.report.report import AuditReport
    from unhack.audit.subject import Subject
    from unhack.sandbox.job import Backend


UNDECIDED = 4
"""Exit code of an audit that could neither prove an exploit nor say that it found none."""


@dataclass(frozen=True)
class AuditArguments:
    """The command's arguments and options."""

    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="FILE.py:FUNCTION, MODULE:FUNCTION, a task id, or a directory with a verifier.",
        ),
    ]
    problems: Annotated[
        Path | None,
        valued('Rows {"prompt", "answer" or "metadata", "correct": […]}.', metavar="FILE.jsonl"),
    ] = None
    signature: Annotated[
        str | None,
        valued("Force a calling convention (default: detect it).", metavar="NAME"),
    ] = None
    tiers: Annotated[
        str, valued("1 heuristic, 2 white-box, 3 black-box, 4 mutation, 5 RL.", metavar="N,…")
    ] = "1,2,3,4"
    calls: Annotated[int, valued("Most runs of the verifier.", metavar="N", least=1)] = 4000
    seconds: Annotated[float, valued("Most seconds.", metavar="S", least=1)] = 120.0
    tier_limits: Annotated[
        str | None,
        valued("Most runs and seconds of single tiers: 3=500/20,4=/30.", metavar="T=N/S,…"),
    ] = None
    stop_at_first: Annotated[
        bool, typer.Option("--stop-at-first", help="End when one exploit is proven.")
    ] = False
    allow_unproven: Annotated[
        bool, typer.Option("--allow-unproven", help="Exit 0, not 4, when nothing could be decided.")
    ] = False
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Every attack on every problem, not on four of them.")
    ] = False
    oracle: Annotated[
        Path | None,
        valued(
            "Defines is_wrong(prompt, completion, answer): true, false or None.", metavar="FILE.py"
        ),
    ] = None
    llm_model: Annotated[
        str | None,
        valued("A model that attacks in tiers 2 and 3; else UNHACK_LLM_MODEL.", metavar="NAME"),
    ] = None
    llm_url: Annotated[
        str | None, valued("Its endpoint, if not the environment's.", metavar="URL")
    ] = None
    llm_key_env: Annotated[
        str | None, valued("The variable that holds its key.", metavar="NAME")
    ] = None
    llm_protocol: Annotated[
        str | None, valued("openai or anthropic, if not plain from the rest.", metavar="NAME")
    ] = None
    llm_prices: Annotated[
        str | None, valued("USD for a million tokens in and out.", metavar="IN,OUT")
    ] = None
    llm_cost: Annotated[float, valued("Most USD that it may cost.", metavar="USD", least=0)] = 1.0
    model: Annotated[
        Path | None,
        valued("A Hugging Face model that tier 5 trains; else a small policy.", metavar="DIR"),
    ] = None
    seed: Annotated[int, valued("Chooses inputs, mutants and the search.", metavar="N")] = 0
    run: Annotated[
        Path | None,
        valued("Keep scores in this folder; the same command resumes.", metavar="DIR"),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON object.")] = False
    sarif: Annotated[
        Path | None, valued("Write SARIF 2.1.0 for code scanning.", metavar="FILE")
    ] = None
    html: Annotated[Path | None, valued("Write one page to read.", metavar="FILE")] = None
    pairs: Annotated[
        Path | None, valued("Write hacks beside honest completions.", metavar="FILE.jsonl")
    ] = None
    write_tests: Annotated[
        Path | None, valued("Write pytest tests that fail while a hole is open.", metavar="DIR")
    ] = None
    fix: Annotated[
        Path | None,
        valued("Write a hardened copy that keeps every right answer.", metavar="FILE"),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="--fix may replace its file.")] = False


@takes(AuditArguments)
def audit(arguments: AuditArguments) -> None:
    """Try to be rewarded by a verifier for something wrong.

    Every finding is proven: the verifier rewards the completion, and an oracle that does not share
    its flaw shows that it is wrong. The verifier runs inside the sandbox.

    Exit code 1 when an exploit is proven, 4 when nothing could be decided. Tier 5 trains a policy
    against the verifier; it needs unhack[train] and is not run by default.

    \b
    unhack audit rewards.py:compute_score --problems rows.jsonl
    unhack audit ./my-task --tiers 1,2 --html audit.html --sarif audit.sarif
    unhack audit rewards.py:compute_score --problems rows.jsonl --fix hardened.py
    unhack audit rewards.py:compute_score --problems rows.jsonl --run audit --thorough
    unhack audit rewards.py:compute_score --problems rows.jsonl --tiers 5 --html curve.html
    """
    from unhack.audit.report.report import Conclusion
    from unhack.audit.report.wording import lacking
    from unhack.core.errors import UsageError

    options = _options(arguments)
    _check_outputs(arguments)
    try:
        report, subject, mended = _run(arguments, options)
    except KeyboardInterrupt:
        _say_interrupted(arguments)
        raise
    _write_files(arguments, report, subject)
    _show(arguments, report, subject, mended=mended)
    _remark(subject)
    if report.conclusion is Conclusion.EXPLOITABLE:
        raise typer.Exit(1)
    missing = lacking(subject) if arguments.oracle is None else ""
    if report.conclusion is Conclusion.UNPROVEN and missing:
        raise UsageError(missing)
    if report.conclusion is Conclusion.UNPROVEN and not arguments.allow_unproven:
        raise typer.Exit(UNDECIDED)


def _run(
    arguments: AuditArguments, options: AuditOptions
) -> tuple[AuditReport, Subject, Mended | None]:
    """The audit, and the hardened copy where one is asked for."""
    from unhack.audit.hardening.copy import check_place
    from unhack.audit.subjects.loading import load_subject
    from unhack.sandbox.pool.shared import pool

    mended: Mended | None = None
    with pool() as backend:
        subject = load_subject(
            arguments.target,
            problems=arguments.problems,
            signature=arguments.signature,
            backend=backend,
        )
        if arguments.fix is not None:
            check_place(arguments.target, subject, place=arguments.fix, force=arguments.force)
        report = _audit_with_bar(subject, options, backend)
        if arguments.fix is not None:
            mended = _mend(arguments, subject, report=report, options=options, backend=backend)
    return report, subject, mended


def _remark(subject: Subject) -> None:
    """Say on stderr what of the input was not read, and what was replaced."""
    from unhack.audit.subjects.remarks import stubbed, unread_fields
    from unhack.cli.terminal import remarks

    lines = unread_fields(subject)
    missing = stubbed(subject)
    if missing:
        names = ", ".join(missing)
        lines.append(f"stubbed: {names} (not installed here, so a stand-in took its place)")
    for line in lines:
        remarks().print(line, soft_wrap=True)


def _say_interrupted(arguments: AuditArguments) -> None:
    """Say on stderr how to go on."""
    from unhack.cli.terminal import remarks

    text = "Interrupted. Nothing was kept; with --run DIR the same command would resume."
    if arguments.run is not None:
        text = f"Interrupted. Scores are kept in {arguments.run}; run the same command to resume."
    remarks().print(text, soft_wrap=True)


def _options(arguments: AuditArguments) -> AuditOptions:
    from unhack.audit.options import AuditOptions
    from unhack.cli.audit.discovery import discoverer
    from unhack.core.errors import UsageError

    for option, path in (("--oracle", arguments.oracle), ("--problems", arguments.problems)):
        if path is not None and path.is_dir():
            raise UsageError(f"{option}: {path} is a directory; name a file in it")
        if path is not None and not path.is_file():
            raise UsageError(f"{option}: {path}: there is no such file")
    tiers = _tiers(arguments.tiers)
    return AuditOptions(
        tiers=tiers,
        calls=arguments.calls,
        seconds=arguments.seconds,
        limits=_tier_limits(arguments.tier_limits),
        seed=arguments.seed,
        thorough=arguments.thorough,
        oracle=arguments.oracle,
        run_folder=arguments.run,
        attacker=_attacker(arguments),
        discoverer=discoverer(tiers, arguments.model),
        stop_at_first=arguments.stop_at_first,
    )


def _attacker(arguments: AuditArguments) -> ModelAttacker | None:
    """The language model that options or environment name. Raises UsageError."""
    from unhack.audit.language_models.attacker import ModelAttacker
    from unhack.audit.language_models.endpoint import Endpoint, Model

    endpoint = Endpoint.from_environment(
        url=arguments.llm_url,
        model=arguments.llm_model,
        key_env=arguments.llm_key_env,
        protocol=arguments.llm_protocol,
        prices=_prices(arguments.llm_prices),
    )
    if endpoint is None:
        return None
    return ModelAttacker(Model(endpoint, cost_limit_usd=arguments.llm_cost, folder=arguments.run))


def _prices(text: str | None) -> tuple[float, float] | None:
    from unhack.core.errors import UsageError

    if text is None:
        return None
    try:
        given, taken = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"--llm-prices: {text!r} is not IN,OUT, such as 3,15") from None
    return given, taken


def _tiers(text: str, option: str = "--tiers") -> tuple[int, ...]:
    """The numbers in `text`, in order. Raises UsageError."""
    from unhack.audit.report.wording import TIERS
    from unhack.core.errors import UsageError

    words = [word.strip() for word in text.split(",")]
    named = ", ".join(f"{tier} {name}" for tier, name in TIERS.items())
    for word in words:
        if word not in {str(tier) for tier in TIERS}:
            raise UsageError(f"{option}: {word!r} is no tier; there are {named}")
    return tuple(sorted({int(word) for word in words}))


def _tier_limits(text: str | None) -> dict[int, TierLimit]:
    """The limits of single tiers: `3=500/20` is 500 runs and 20 seconds. Raises UsageError."""
    from unhack.audit.options import TierLimit
    from unhack.core.errors import UsageError

    found: dict[int, TierLimit] = {}
    for part in text.split(",") if text is not None else ():
        tier, _, rest = part.strip().partition("=")
        calls, _, seconds = rest.partition("/")
        try:
            amounts = [float(word or "inf") for word in (calls, seconds)]
        except ValueError:
            amounts = []
        if not any(0 < one < math.inf for one in amounts) or any(not one > 0 for one in amounts):
            raise UsageError(
                f"--tier-limits: {part.strip()!r} is not TIER=CALLS/SECONDS, such as 3=500/20; one "
                "of both numbers may be left out"
            )
        [number] = _tiers(tier, "--tier-limits")
        found[number] = TierLimit(*amounts)
    return found


def _check_outputs(arguments: AuditArguments) -> None:
    """Refuse files that could not be written, before anything runs."""
    from unhack.core.errors import UsageError

    files = {"--sarif": arguments.sarif, "--html": arguments.html, "--pairs": arguments.pairs}
    for option, path in {**files, "--fix": arguments.fix}.items():
        if path is not None and not path.absolute().parent.is_dir():
            raise UsageError(f"{option}: {path}: there is no directory {path.parent}")
        if path is not None and path.is_dir():
            raise UsageError(f"{option}: {path} is a directory; name a file that is not there yet")
    folders = {"--write-tests": arguments.write_tests, "--run": arguments.run}
    for option, path in folders.items():
        if path is not None and path.exists() and not path.is_dir():
            raise UsageError(f"{option}: {path} is no directory")


def _audit_with_bar(subject: Subject, options: AuditOptions, backend: Backend) -> AuditReport:
    from unhack.audit.runner import audit as run_audit
    from unhack.cli.audit.screen import watching

    with watching() as show:
        return run_audit(subject, options=options, backend=backend, on_progress=show)


def _mend(
    arguments: AuditArguments,
    subject: Subject,
    *,
    report: AuditReport,
    options: AuditOptions,
    backend: Backend,
) -> Mended:
    """Harden a copy. A run folder belongs to one verifier, so the copy's audits have none."""
    from dataclasses import replace

    from unhack.cli.audit.fix import mend

    assert arguments.fix is not None
    again = replace(options, run_folder=None)
    return mend(
        arguments.target,
        subject,
        place=arguments.fix,
        report=report,
        audit_again=lambda copy: _audit_with_bar(copy, again, backend),
        backend=backend,
    )


def _write_files(arguments: AuditArguments, report: AuditReport, subject: Subject) -> None:
    """Every file that was asked for, each named on stderr."""
    from unhack.audit.report.regression import Origin, write_tests
    from unhack.audit.report.sarif import sarif
    from unhack.cli.terminal import remarks

    texts: list[tuple[Path, str]] = []
    if arguments.sarif is not None:
        log = sarif(report, source=subject.source)
        texts.append((arguments.sarif, json.dumps(log, indent=2, allow_nan=False) + "\n"))
    if arguments.html is not None:
        texts.append((arguments.html, _page(report, subject)))
    if arguments.pairs is not None:
        rows = "".join(json.dumps(pair.to_json()) + "\n" for pair in report.pairs)
        texts.append((arguments.pairs, rows))
    written = [path for path, _ in texts]
    for path, text in texts:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    if arguments.write_tests is not None:
        origin = Origin(arguments.target, arguments.problems, arguments.signature)
        tests = write_tests(report, origin, folder=arguments.write_tests)
        written += [tests] if tests is not None else []
    for path in written:
        remarks().print(f"wrote {path}", soft_wrap=True)


def _page(report: AuditReport, subject: Subject) -> str:
    from unhack.audit.report.page import page

    command = shlex.join(["unhack", *sys.argv[1:]])
    return page(report, source=subject.source, made=datetime.now(UTC), command=command)


def _show(
    arguments: AuditArguments, report: AuditReport, subject: Subject, *, mended: Mended | None
) -> None:
    from unhack.audit.report.wording import strict
    from unhack.cli import terminal
    from unhack.cli.audit.fix import outcome_lines
    from unhack.cli.audit.screen import screen

    if arguments.as_json:
        hardened = {} if arguments.fix is None else {"hardened": mended and mended.to_json()}
        terminal.write_json(strict({**report.to_json(), **hardened}))
        return
    console = terminal.results()
    for part in screen(report, source=subject.source):
        console.print(part)
    if arguments.fix is not None and mended is not None:
        for line in outcome_lines(mended, arguments.fix):
            console.print(line)
