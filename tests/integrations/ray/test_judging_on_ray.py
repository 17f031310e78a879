"""Submissions judged on the nodes of a Ray: the judge's word is the one of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unhack.tasks.execution.ray.remote_calls import RemoteCalls
from unhack.tournament.contest import Terms
from unhack.tournament.contests.registry import load_contest
from unhack.tournament.judging.judge import Known, Seeds
from unhack.tournament.judging.submission import freeze
from unhack.tournament.record.settings import TournamentPlan
from unhack.tournament.round.judge_executor import LOCAL_JUDGES, RemoteJudges
from unhack.tournament.round.rounds import begin

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize("name", ["null", "linear"])
def test_a_submission_is_judged_there_as_here(cluster: Any, tmp_path: Path, name: str) -> None:
    contest = load_contest("scaling")
    files = contest.submissions.null() if name == "null" else contest.submissions.honest()[name]
    work = tmp_path / "work"
    for path, data in files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_bytes(data)
    frozen = freeze(work, contest, into=tmp_path / "frozen")
    plan = TournamentPlan("scaling", ("baseline",), 1)
    calls = RemoteCalls()
    with begin(tmp_path / "out", plan, contest, seed=3) as archive:
        there = RemoteJudges(calls, archive.settings, contest)
        asked = {"seeds": Seeds(1, 2), "terms": Terms(1), "known": Known()}
        words = [one.judge(contest, frozen.folder, **asked) for one in (LOCAL_JUDGES, there)]
    calls.close()
    assert words[1] == words[0]
    assert words[0].digest == frozen.digest
    assert (words[0].fitness > 0) is (name != "null")
