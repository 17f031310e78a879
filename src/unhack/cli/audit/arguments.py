"""The arguments and options of `unhack audit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from unhack.cli.image_options import ImageOptions
from unhack.cli.language_model import LanguageModelOptions
from unhack.cli.options import valued


@dataclass(frozen=True, kw_only=True)
class AuditArguments(LanguageModelOptions, ImageOptions):
    """The command's arguments and options."""

    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="FILE.py:FUNCTION, MODULE:FUNCTION, a task id, a directory with a verifier, or an "
            "environment: a suite, a function of tasks, a folder with tests/test.sh, a "
            "KernelBench problem, SWE-bench rows.",
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
    bind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME",
            help="completion, gold, prompt or row = a parameter; gold = a column; a parameter = a "
            "column (default: found by trying). Repeat for several.",
        ),
    ] = None
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=VALUE]",
            help="Variable of the environment that the verifier sees (default: none). Repeatable.",
        ),
    ] = None
    grader: Annotated[
        str | None,
        valued("Log parser that grades an environment's episodes.", metavar="FILE.py:F"),
    ] = None
    read_only: Annotated[
        bool,
        typer.Option("--read-only", help="Read Harbor tasks of a folder; run nothing."),
    ] = False
    tiers: Annotated[
        str, valued("1 heuristic, 2 white-box, 3 black-box, 4 mutation, 5 RL.", metavar="N,…")
    ] = "1,2,3,4"
    calls: Annotated[int, valued("Maximum calls of the verifier.", metavar="N", least=1)] = 6000
    seconds: Annotated[float, valued("Maximum seconds.", metavar="S", least=1)] = 120.0
    cpu_seconds: Annotated[
        float | None, valued("Maximum CPU seconds, including the sandbox.", metavar="S", least=1)
    ] = None
    tier_limits: Annotated[
        str | None,
        valued("Maximum calls and seconds per tier: 3=500/20,4=/30.", metavar="T=N/S,…"),
    ] = None
    stop_at_first: Annotated[
        bool, typer.Option("--stop-at-first", help="Stop at the first proven hack.")
    ] = False
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 on false accepts too, not on hacks alone.")
    ] = False
    allow_unproven: Annotated[
        bool, typer.Option("--allow-unproven", help="Exit 0, not 4, when nothing could be decided.")
    ] = False
    power: Annotated[
        bool, typer.Option("--power", help="Measure detection power on weakened copies.")
    ] = False
    power_seconds: Annotated[
        float, valued("Additional seconds for --power.", metavar="S", least=1)
    ] = 180.0
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Try every attack on every problem, not on four.")
    ] = False
    oracle: Annotated[
        Path | None,
        valued(
            "Defines is_wrong(prompt, completion, answer[, row]), and right(row) as a solver.",
            metavar="FILE.py",
        ),
    ] = None
    llm_model: Annotated[
        str | None,
        valued(
            "A model that writes attacks in tiers 2 and 3; else UNHACK_LLM_MODEL.", metavar="NAME"
        ),
    ] = None
    model: Annotated[
        Path | None,
        valued("A Hugging Face model that tier 5 trains; else a small policy.", metavar="DIR"),
    ] = None
    seed: Annotated[int, valued("Seed of inputs, mutants and the search.", metavar="N")] = 0
    executor: Annotated[
        str | None,
        valued("Where the verifier runs: local, shards or ray.", metavar="NAME"),
    ] = None
    run: Annotated[
        Path | None,
        valued("Keep scores in this folder; the same command resumes.", metavar="DIR"),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON object.")] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", help="All findings, checks and tiers below the first page.")
    ] = False
    github: Annotated[
        bool,
        typer.Option(
            "--github",
            help="Annotations, and a summary in $GITHUB_STEP_SUMMARY, for GitHub Actions.",
        ),
    ] = False
    sarif: Annotated[
        Path | None, valued("Write SARIF 2.1.0 for code scanning.", metavar="FILE")
    ] = None
    html: Annotated[Path | None, valued("Write an HTML page.", metavar="FILE")] = None
    pairs: Annotated[
        Path | None, valued("Write hacks paired with honest completions.", metavar="FILE.jsonl")
    ] = None
    write_tests: Annotated[
        Path | None, valued("Write pytest tests that fail while a hole is open.", metavar="DIR")
    ] = None
    fix: Annotated[
        Path | None,
        valued(
            "Fix the lines at fault: print a diff for git apply (the report goes to stderr), or "
            "write a fixed copy to FILE.",
            metavar="[FILE]",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="--fix may replace its FILE.")] = False
    harden: Annotated[
        int | None,
        valued("Hacker, fixer and solver in turn, at most N rounds.", metavar="N", least=1),
    ] = None
    agent: Annotated[
        str | None,
        valued(
            "With --harden: an agent of `unhack tournament agents`, or command:CMD, as hacker and "
            "fixer beside own strategies and rules.",
            metavar="NAME",
        ),
    ] = None
    agent_option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Option of the agent. Repeat for several."),
    ] = None
    white_box: Annotated[
        bool, typer.Option("--white-box", help="Show the grader to the hacking agent too.")
    ] = False
    cost: Annotated[
        float, valued("Maximum cost of the agent in USD, in all rounds.", metavar="USD", least=0)
    ] = 5.0
    sibling: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="Another task, to which patches are carried: a target, or a directory of Harbor "
            "folders. Repeat for several.",
        ),
    ] = None
    patches: Annotated[
        Path | None, valued("Write a diff per task into this directory.", metavar="DIR")
    ] = None
