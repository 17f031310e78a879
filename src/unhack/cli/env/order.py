"""The arguments and options of `unhack env build`, `run` and `replay`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from unhack.cli.image_options import ImageOptions
from unhack.cli.options import valued

_AGENTS = "solver, idle, random, random:SEED, or chat (see --llm-model)"


@dataclass(frozen=True)
class EnvRunOrder:
    """The arguments and options of `run`."""

    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="A suite, a folder of tasks, or a task's id.")
    ]
    agent: Annotated[str, valued(_AGENTS, metavar="NAME")] = "solver"
    limit: Annotated[int | None, valued("Only the first N tasks.", metavar="N", least=1)] = None
    at_once: Annotated[int, valued("Concurrent episodes.", metavar="N", least=1)] = 64
    turns: Annotated[int, valued("Maximum actions per episode.", metavar="N", least=1)] = 50
    progress: Annotated[
        float, valued("Weight of step rewards: passing dev tests.", metavar="W", least=0)
    ] = 0.0
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=W",
            help="Share of the outcome that build, lint, types, minimality or tampering can take.",
        ),
    ] = None
    split_seed: Annotated[
        int, valued("Draws dev tests for tasks without any.", metavar="N", least=0)
    ] = 0
    out: Annotated[
        Path | None,
        valued("Write episodes.jsonl, report.html and trajectories there.", metavar="DIR"),
    ] = None
    llm_url: Annotated[str | None, valued("Endpoint of the chat agent.", metavar="URL")] = None
    llm_model: Annotated[str | None, valued("Model of the chat agent.", metavar="NAME")] = None
    llm_key_env: Annotated[str | None, valued("Variable that holds its key.", metavar="NAME")] = (
        None
    )
    llm_cost: Annotated[
        float, valued("Maximum cost of the chat agent.", metavar="USD", least=0)
    ] = 1.0
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each episode.")] = (
        False
    )


@dataclass(frozen=True, kw_only=True)
class EnvBuildOrder(ImageOptions):
    """The arguments and options of `unhack env build`."""

    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="A Harbor folder, or a folder of them.")
    ]
    network: Annotated[
        bool, typer.Option("--network/--no-network", help="RUN may use this host's network.")
    ] = True
    images: Annotated[
        Path | None, valued("Where images are kept; else UNHACK_IMAGES.", metavar="DIR")
    ] = None
    cache_gib: Annotated[
        float, valued("Most that the builder keeps between builds.", metavar="GIB", least=0)
    ] = 20.0
    limit: Annotated[int | None, valued("Only the first N tasks.", metavar="N", least=1)] = None
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Run each grader's control as well.")
    ] = True
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each task.")] = False


@dataclass(frozen=True)
class EnvReplayOrder:
    """The arguments and options of `unhack env replay`."""

    trajectory: Annotated[
        Path, typer.Argument(metavar="TRAJECTORY", help="A file of ATIF 1.x, of any agent.")
    ]
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task's id, or its folder.")]
    workdir: Annotated[
        str | None, valued("Folder that its absolute paths of files begin with.", metavar="DIR")
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="The replay as one JSON object.")] = False
