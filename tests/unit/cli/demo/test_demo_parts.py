from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unhack.cli.demo import audited_reward, recorded_training, short_tournament
from unhack.cli.demo.command import MARK, fresh_folder
from unhack.core.errors import UsageError
from unhack.sandbox.pool.pool import Pool


def test_a_new_folder_is_made_and_a_later_demo_replaces_it(tmp_path: Path) -> None:
    place = fresh_folder(tmp_path / "a" / "demo")
    (place / "old").write_text("")
    assert [path.name for path in fresh_folder(place).iterdir()] == [MARK]


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds other files"):
        fresh_folder(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--out"):
        fresh_folder(tmp_path / "file" / "demo")


@pytest.mark.slow
def test_the_reward_is_broken_and_its_copy_is_not(tmp_path: Path, pool: Pool) -> None:
    audited_reward.write_reward(tmp_path)
    found = audited_reward.audit_and_fix(tmp_path, pool)
    assert found.as_claimed
    told = [getattr(line, "plain", "") for line in audited_reward.lines(found, tmp_path)]
    assert any("earns full reward" in line for line in told)
    assert any("no hack found" in line for line in told)
    page = (tmp_path / audited_reward.PAGE).read_text()
    assert page.startswith("<!doctype html>")
    assert f"unhack demo --out {tmp_path}" in page
    assert "<dt>date</dt>" in page
    assert "ground_truth in answer:" not in (tmp_path / audited_reward.FIXED).read_text()


def record(leader: str, *flagged: str) -> Any:
    entries = [
        SimpleNamespace(agent=name, flagged=name in flagged) for name in short_tournament.AGENTS
    ]
    unconfirmed = {"reigns": (SimpleNamespace(agent=leader),), "winner": None}
    return SimpleNamespace(entries=entries, **unconfirmed)


CHEATERS = short_tournament.AGENTS[2:]


@pytest.mark.parametrize(
    ("leader", "flagged", "expected"),
    [
        ("baseline:gptq3", CHEATERS, True),
        ("baseline:gptq3", CHEATERS[:1], False),
        ("baseline:gptq3", (*CHEATERS, "baseline:mixed"), False),
        ("cheater:hardcoded_size", CHEATERS, False),
    ],
)
def test_the_tournament_is_as_claimed_when_cheaters_alone_are_flagged(
    leader: str, flagged: tuple[str, ...], expected: bool
) -> None:
    assert short_tournament.as_claimed(record(leader, *flagged)) is expected


def test_the_recording_has_every_arm_that_is_shown(tmp_path: Path) -> None:
    recorded = recorded_training.recording()
    rows = recorded_training.rows(recorded)
    assert len(rows) == len(recorded_training.ARMS)
    recorded_training.write_page(recorded, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert all(row[2] in page for row in rows)
    assert "55M" in page


@pytest.mark.long
def test_the_tournament_is_played_to_its_page(tmp_path: Path) -> None:
    entries: list[str] = []
    found = short_tournament.play(
        tmp_path / "tournament", watch=lambda entry: entries.append(entry.agent)
    )
    assert short_tournament.as_claimed(found)
    assert len(entries) == len(short_tournament.AGENTS) + 3
    assert (tmp_path / "tournament" / short_tournament.REPORT).is_file()
