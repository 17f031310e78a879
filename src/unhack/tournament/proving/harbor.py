"""The proof of Harbor folders as a contest: each solution passes, and nothing earns nothing.

Covered: rewards of the tasks' own solutions and of an empty submission, by the judge's own path.
Not covered: cheats; a Harbor folder has none.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from unhack.tournament.contest import DataPool, Files, Measurement
from unhack.tournament.contests.harbor.contest import HarborContest
from unhack.tournament.judging.submission import freeze, write_files


def harbor_problems(contest: HarborContest) -> list[str]:
    """All that is wrong; empty for a sound contest. Raises SandboxError."""
    solved = _measured(contest, contest.submissions.honest()["solution"])
    problems = [
        f"{name}: its own solution gets a reward of {reward} where 1 is due"
        for name, reward in solved.metrics.items()
        if reward != 1.0
    ]
    if not solved.valid:
        problems.append(f"the solutions: {solved.reason}")
    empty = _measured(contest, contest.submissions.null())
    problems += [
        f"{name}: nothing at all gets a reward of {reward} where 0 is due"
        for name, reward in empty.metrics.items()
        if reward != 0.0
    ]
    if not empty.valid:
        problems.append(f"an empty submission: {empty.reason}")
    return problems


def _measured(contest: HarborContest, files: Files) -> Measurement:
    with tempfile.TemporaryDirectory(prefix="unhack-proof-") as room:
        work = Path(room) / "work"
        write_files(files, work)
        frozen = freeze(work, contest, into=Path(room) / "frozen")
        return contest.measure(frozen.folder, pool=DataPool.JUDGE, seed=0)
