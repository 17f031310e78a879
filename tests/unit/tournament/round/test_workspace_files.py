"""What of a workspace may be handed in as it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from unhack.tournament.contest import Terms
from unhack.tournament.contests.registry import load_contest
from unhack.tournament.judging.submission import freeze, write_files
from unhack.tournament.players.builtin.hand_in import hand_in
from unhack.tournament.round.workspace_files import round_files

pytestmark = pytest.mark.slow

DETECT = load_contest("reward_hacking", {"track": "detect", "pairs": "2", "dev_pairs": "2"})


def test_every_honest_strategy_comes_out_of_a_workspace_whole(tmp_path: Path) -> None:
    given = round_files(DETECT, Terms(1), own_best=None)
    every = DETECT.submissions.honest()
    assert every
    for name, files in every.items():
        workspace = tmp_path / name
        workspace.mkdir()
        write_files(given.files, workspace)
        hand_in(files, workspace=workspace, declared=DETECT.declared)
        given.take_out(workspace)
        assert set(freeze(workspace, DETECT, into=tmp_path / "store").files) == set(files), name
        assert set(given.without(files)) == set(files), name


def test_statement_champion_and_planted_files_are_taken_out(tmp_path: Path) -> None:
    champion = DETECT.submissions.honest()["syntax"]
    given = round_files(DETECT, Terms(2, champion=champion), own_best=None)
    write_files(given.files, tmp_path)
    given.take_out(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"solution.py", "keywords.py", "dev.jsonl"}
