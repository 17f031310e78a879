"""`unhack tasks mine`: repository tasks out of the commits of a local git repository."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unhack.cli import terminal
from unhack.cli.options import arg, opt, takes
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.environments.sources.mining.miner import MinedCommit


@dataclass(frozen=True)
class MineOrder:
    """The arguments and options of `unhack tasks mine`."""

    repository: Path = arg(..., "A local git repository.", metavar="REPO")
    out: Path | None = opt(None, "Write the tasks into this new folder.", metavar="DIR")
    start: str = opt("HEAD", "The newest commit: branch, tag or id.", "--from", metavar="COMMIT")
    commits: int = opt(100, "Number of commits to consider.", metavar="N", least=1)
    preload: list[str] | None = opt(
        None, "An installed package that the repository imports.", metavar="MODULE"
    )
    generate: bool = opt(False, "Make tests for commits that change none.", "--generate")
    as_json: bool = opt(False, "One JSON object a commit.", "--json")


@takes(MineOrder)
def mine(order: MineOrder) -> None:
    """Find commits whose change to the code flips tests, and make tasks of them.

    The tests run in the sandbox. Each task is validated: the reference passes again and again, each
    test to pass fails without it, and the judge agrees. With --generate, commits without tests are
    run too: calls that give something else with the change become sealed tests.

    \b
    unhack tasks mine ./project --out ./mined
    unhack tasks mine ./project --from v2.0 --commits 20 --json
    """
    import asyncio

    from unhack.environments.sources.mining import miner

    out = order.out
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} already exists; name a new folder")
    settings = miner.MiningSettings(
        start=order.start,
        most_commits=order.commits,
        preload=tuple(order.preload or ()),
        generate=order.generate,
    )
    found: list[MinedCommit] = []

    async def work() -> None:
        with terminal.progress("mining") as advance:
            async for one in miner.mine(order.repository, settings=settings):
                found.append(one)
                advance()
                if order.as_json:
                    terminal.write_json(_fields(one))
                else:
                    terminal.results().print(_line(one), soft_wrap=True)

    asyncio.run(work())
    if out is not None:
        _write(out, order.repository, order.start, found)
    tasks = sum(one.task is not None for one in found)
    noun = "task" if tasks == 1 else "tasks"
    console = terminal.remarks() if order.as_json else terminal.results()
    where = f", written to {out}" if out is not None else ""
    console.print(f"{tasks} {noun} in {len(found)} commits{where}", soft_wrap=True)


def _fields(one: MinedCommit) -> dict[str, Any]:
    fields: dict[str, Any] = {"commit": one.commit, "id": None, "skipped": one.skipped or None}
    if one.task is not None:
        fields |= {
            "id": one.task.id,
            "statement": one.task.statement,
            "fail_to_pass": list(one.task.fail_to_pass),
            "pass_to_pass": list(one.task.pass_to_pass),
            "facts": dict(one.task.facts),
        }
    return fields


def _line(one: MinedCommit) -> str:
    if one.task is None:
        return f"{one.commit[:12]}  skipped: {one.skipped}"
    counts = f"{len(one.task.fail_to_pass)} to pass, {len(one.task.pass_to_pass)} to keep"
    return f"{one.commit[:12]}  {one.task.id}: {counts}"


def _write(out: Path, repository: Path, start: str, found: list[MinedCommit]) -> None:
    from unhack.environments.sources.task_folder import write_manifest, write_task

    out.mkdir(parents=True, exist_ok=True)
    names: list[str] = []
    for one in found:
        if one.task is not None:
            names.append(one.task.id.rpartition("/")[2])
            write_task(out / names[-1], one.task)
    skipped = [{"commit": one.commit, "reason": one.skipped} for one in found if one.task is None]
    modes = sorted({one.task.mode.value for one in found if one.task is not None})
    judged = ", ".join(modes) or "as_written"
    origin = {"repository": repository.resolve().name, "from": start, "judged": judged}
    write_manifest(out, origin=origin, tasks=names, skipped=skipped)
