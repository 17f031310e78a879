"""The share of known answers that `unhack tasks mine` finds in histories of real packages, and the
share of false ones.

python benchmarks/mined_tasks.py --archives DIR [--pairs 5] [--only toolz]

DIR/NAME holds source archives of successive releases, as `pip download --no-binary :all: --no-deps
-d DIR/NAME NAME==VERSION` writes them. Of each commit the changed test files are run and at most
three others that use the changed modules, not the whole suite.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from measure import save
from mined_histories import History, build
from unhack.environments.sources.mining.miner import MinedCommit, MiningSettings, mine
from unhack.environments.sources.task_folder import load_mined, write_manifest, write_task

PACKAGES = ("toolz", "boltons", "inflection")


def main() -> int:
    """Build the histories, mine them, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=PACKAGES)
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="unhack-mined-") as folder:
        histories = {
            name: build(
                name,
                sorted((options.archives / name).glob("*.tar.gz"), key=_version),
                Path(folder) / name,
                pairs=options.pairs,
                seed=options.seed,
            )
            for name in options.only
        }
        found = asyncio.run(_mine_all(histories, Path(folder) / "tasks"))
    total = _total(found)
    print("all", total)
    if tuple(options.only) == PACKAGES:
        command = (
            f"python benchmarks/mined_tasks.py --archives DIR --pairs {options.pairs}"
            f" --seed {options.seed}"
        )
        seconds = round(time.perf_counter() - started)
        save("mined_tasks", command, {"packages": found, "total": total, "wall_s": seconds})
    return 0


def _version(path: Path) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", path.name.removesuffix(".tar.gz"))]


async def _mine_all(histories: dict[str, History], out: Path) -> dict[str, Any]:
    """The figures of all histories, which are mined at the same time."""
    mining = [_mine(history, out / name) for name, history in histories.items()]
    return dict(zip(histories, await asyncio.gather(*mining), strict=True))


async def _mine(history: History, out: Path) -> dict[str, Any]:
    """Mine one history; its figures."""
    mined: dict[str, MinedCommit] = {}
    async for one in mine(history.folder, settings=MiningSettings(most_commits=500)):
        mined[one.commit] = one
        what = "task" if one.task else one.skipped
        kind = history.kinds.get(one.commit, "release")
        print(f"{history.folder.name:9} {one.commit[:8]} {kind:9} {what[:110]}", flush=True)
    _check_reading(mined, out)
    right = {commit: _has_names(mined[commit], names) for commit, names in history.wanted.items()}
    false = [commit for commit in history.none if mined[commit].task is not None]
    released = [mined[commit] for commit in history.releases if commit in mined]
    figures: dict[str, Any] = {
        "commits": len(mined),
        "known": len(right),
        "found": sum(right.values()),
        "missed": _why(history, [mined[commit] for commit, hit in right.items() if not hit]),
        "none": len(history.none),
        "false": len(false),
        "false_kinds": dict(Counter(history.kinds[commit] for commit in false)),
        "releases": len(released),
        "release_tasks": sum(one.task is not None for one in released),
        "release_skipped": dict(Counter(_short(one.skipped) for one in released if one.skipped)),
    }
    print(history.folder.name, figures, flush=True)
    return figures


def _has_names(one: MinedCommit, names: set[str]) -> bool:
    """True for a task whose tests to pass are all among the test functions that were added back,
    and include every one of them or as many as a task keeps."""
    if one.task is None:
        return False
    functions = {name.partition("[")[0].rpartition("::")[2] for name in one.task.fail_to_pass}
    return functions <= names and bool(functions)


def _why(history: History, missed: list[MinedCommit]) -> list[str]:
    return [f"{history.kinds[one.commit]}: {one.skipped[:120] or 'other tests'}" for one in missed]


def _short(reason: str) -> str:
    return re.sub(r"\d[\d,]*", "N", reason.partition(":")[0])[:80]


def _check_reading(mined: dict[str, MinedCommit], out: Path) -> None:
    """Write the tasks and read them again. Raises SystemExit where they differ."""
    tasks = [one.task for one in mined.values() if one.task is not None]
    names = [task.id.rpartition("/")[2] for task in tasks]
    for name, task in zip(names, tasks, strict=True):
        write_task(out / name, task)
    out.mkdir(exist_ok=True)
    write_manifest(out, origin={}, tasks=names, skipped=[])
    if load_mined(out) != tasks:
        raise SystemExit("the tasks that were read are not those that were written")


def _total(found: dict[str, Any]) -> dict[str, Any]:
    keys = ("commits", "known", "found", "none", "false", "releases", "release_tasks")
    total: dict[str, Any] = {key: sum(one[key] for one in found.values()) for key in keys}
    total["found_share"] = round(total["found"] / max(1, total["known"]), 3)
    total["false_share"] = round(total["false"] / max(1, total["none"]), 3)
    return total


if __name__ == "__main__":
    raise SystemExit(main())
