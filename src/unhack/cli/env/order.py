"""The arguments and options of `unhack env build`, `run` and `replay`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unhack.cli.image_options import ImageOptions
from unhack.cli.options import arg, opt

_AGENTS = "solver, idle, random, random:SEED, or chat (see --llm-model)"


@dataclass(frozen=True)
class EnvRunOrder:
    """The arguments and options of `run`."""

    suite: str = arg(..., "A suite, a folder of tasks, or a task's id.", metavar="SUITE")
    agent: str = opt("solver", _AGENTS, metavar="NAME")
    limit: int | None = opt(None, "Only the first N tasks.", metavar="N", least=1)
    at_once: int = opt(64, "Concurrent episodes.", metavar="N", least=1)
    turns: int = opt(50, "Maximum actions per episode.", metavar="N", least=1)
    progress: float = opt(0.0, "Weight of step rewards: passing dev tests.", metavar="W", least=0)
    judge: list[str] | None = opt(
        None,
        "Share of the outcome that build, lint, types, minimality or tampering can take.",
        metavar="KIND=W",
    )
    split_seed: int = opt(0, "Draws dev tests for tasks without any.", metavar="N", least=0)
    out: Path | None = opt(
        None, "Write episodes.jsonl, report.html and trajectories there.", metavar="DIR"
    )
    llm_url: str | None = opt(None, "Endpoint of the chat agent.", metavar="URL")
    llm_model: str | None = opt(None, "Model of the chat agent.", metavar="NAME")
    llm_key_env: str | None = opt(None, "Variable that holds its key.", metavar="NAME")
    llm_cost: float = opt(1.0, "Maximum cost of the chat agent.", metavar="USD", least=0)
    as_json: bool = opt(False, "One JSON object for each episode.", "--json")


@dataclass(frozen=True, kw_only=True)
class EnvBuildOrder(ImageOptions):
    """The arguments and options of `unhack env build`."""

    suite: str = arg(..., "A Harbor folder, or a folder of them.", metavar="SUITE")
    network: bool = opt(True, "RUN may use this host's network.", "--network/--no-network")
    images: Path | None = opt(None, "Where images are kept; else UNHACK_IMAGES.", metavar="DIR")
    cache_gib: float = opt(
        20.0, "Most that the builder keeps between builds.", metavar="GIB", least=0
    )
    limit: int | None = opt(None, "Only the first N tasks.", metavar="N", least=1)
    check: bool = opt(True, "Run each grader's control as well.", "--check/--no-check")
    as_json: bool = opt(False, "One JSON object for each task.", "--json")


@dataclass(frozen=True)
class EnvReplayOrder:
    """The arguments and options of `unhack env replay`."""

    trajectory: Path = arg(..., "A file of ATIF 1.x, of any agent.", metavar="TRAJECTORY")
    task: str = arg(..., "A task's id, or its folder.", metavar="TASK")
    workdir: str | None = opt(
        None, "Folder that its absolute paths of files begin with.", metavar="DIR"
    )
    as_json: bool = opt(False, "The replay as one JSON object.", "--json")
