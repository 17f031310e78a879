"""Commits of a repository, one after the other, as tasks or with the reason why they are none.

    async for mined in mine(Path("project"), settings=MiningSettings(most_commits=200)):
        print(mined.commit, mined.task or mined.skipped)

Covered: commits that are no merges, newest first; a repository whose packages are installed here
is refused, and so is one that pytest is made of: its tests and solutions would see the copy.
Not covered: branches that the named commit does not reach.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.environments.sources.mining.behaviour_tests import generated
from unhack.environments.sources.mining.commit_parts import (
    CommitLimits,
    CommitSkippedError,
    take_apart,
)
from unhack.environments.sources.mining.paths import code_roots, module_of
from unhack.environments.sources.mining.validation import Machinery, validated
from unhack.environments.task import RepositoryTask
from unhack.sandbox.job import Backend
from unhack.sandbox.rootfs import site_directories
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.git_objects import Commit, GitObjects

_PYTEST_PARTS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"})


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """The commits that are looked at."""

    start: str = "HEAD"
    """Branch, tag or id of the newest one."""
    most_commits: int = 100
    preload: tuple[str, ...] = ()
    """Installed packages that the repository imports."""
    limits: CommitLimits = field(default_factory=CommitLimits)
    generate: bool = False
    """True makes tests for commits that change none (`behaviour_tests`)."""


@dataclass(frozen=True, slots=True)
class MinedCommit:
    """One commit and what became of it."""

    commit: str
    task: RepositoryTask | None = None
    skipped: str = ""
    """The reason why it makes no task; empty where it makes one."""


async def mine(
    repository: Path, *, settings: MiningSettings, backend: Backend | None = None
) -> AsyncIterator[MinedCommit]:
    """Mine the commits of a local git repository.

    Raises UsageError where there is no repository or no such commit, SandboxUnavailableError where
    nothing can be run.
    """
    with GitObjects(repository) as git:
        commits = git.commits(settings.start, most=settings.most_commits)
        if commits:
            _check_runnable(git, commits[0])
        preload = ("pytest", *settings.preload)
        async with CommandPool(slots=1, preload=preload) as pool:
            machinery = Machinery(pool, backend, settings.preload)
            for commit in commits:
                yield await _mined(git, commit, machinery, repository, settings=settings)


async def _mined(
    git: GitObjects, commit: Commit, machinery: Machinery, repository: Path, *,
    settings: MiningSettings,
) -> MinedCommit:  # fmt: skip
    try:
        parts = take_apart(git, commit, limits=settings.limits, untested=settings.generate)
        name = f"{_plain(repository.resolve().name)}/{commit.id[:12]}"
        make = validated if parts.tests else generated
        return MinedCommit(commit.id, await make(parts, machinery, name=name))
    except CommitSkippedError as error:
        return MinedCommit(commit.id, skipped=str(error))


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name.removesuffix(".git")).strip("-.") or "repository"


def _check_runnable(git: GitObjects, commit: Commit) -> None:
    names = {module_of(root.rstrip("/")) for root in code_roots(git.tree(commit.id))}
    own = sorted(names & _PYTEST_PARTS)
    if own:
        raise UsageError(
            f"pytest itself imports {own[0]}, so that its tests would see the installed copy"
        )
    for site in map(Path, site_directories()):
        here = [name for name in names if (site / name).is_dir() or (site / f"{name}.py").is_file()]
        if here:
            raise UsageError(
                f"{site} holds a copy of {here[0]}, which a solution could read in the judge's"
                " process: mine with an interpreter that has it not installed"
            )
