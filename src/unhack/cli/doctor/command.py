"""`unhack doctor`: what this host can isolate, and whether it holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from unhack.cli import terminal


def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="The whole report as one object.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Look at the layers only; skip the conformance checks.")
    ] = False,
) -> None:
    """Explain each layer of the sandbox on this host, and run the conformance checks.

    At the end stand whether jobs find Python and its packages, and how many workers a batch gets
    here. Exit code 1 when no level of isolation works here, when a check of the level in use fails,
    or when they do not find them; 2 when UNHACK_SLOTS or UNHACK_SHARDS
    holds no number.

    \b
    unhack doctor
    unhack doctor --quick --json
    """
    from unhack.cli.doctor import screen
    from unhack.cli.doctor.screen import Workers
    from unhack.sandbox.conformance import CHECKS
    from unhack.sandbox.doctor.diagnosis import examine

    workers = Workers.here()
    total = 0 if quick else len(CHECKS) * len(screen.BACKENDS)
    with terminal.progress("checking", total=total) as advance:

        def told(backend: str, _: object) -> None:
            if backend != "gpu":  # whether there is one is not known before
                advance()

        report = examine(checks=not quick, on_result=told)
    fields = {**report.to_json(), "batches": asdict(workers)}
    parts = [*screen.host_report(report), screen.workers_told(workers)]
    terminal.write_result([fields], parts, as_json=as_json)
    if not report.sound:
        raise typer.Exit(1)
