"""`unhack tournament new` and `validate`, and a folder as the contest of the other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.tournament.contests.own.small import FILES, SETTINGS, written
from typer.testing import CliRunner

from unhack.cli.app import app

FEW: dict[str, str | None] = {
    "contest.toml": SETTINGS.replace('honest = ["one", "two"]', 'honest = ["one"]').replace(
        '[cheats.reads]\nflag = "reaches_out"\n', ""
    ),
    "honest/two/solution.py": None,
    "cheats/reads/solution.py": None,
}


def told(*words: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["tournament", *words])
    error = f"{found.exception}" if found.exception is not None else ""
    return found.exit_code, found.stdout, f"{found.stderr}{error}"


def test_new_says_what_it_wrote_and_what_comes_next(tmp_path: Path) -> None:
    code, out, _ = told("new", str(tmp_path / "parcels"))
    assert code == 0
    assert "measure.py" in out
    assert "unhack tournament validate" in out
    assert (tmp_path / "parcels" / "contest.toml").is_file()


def test_a_folder_without_a_contest_is_refused_before_the_run_folder_is_made(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty").mkdir()
    words = ("run", str(tmp_path / "empty"), "--agent", "null", "--out", str(tmp_path / "out"))
    code, _, error = told(*words)
    assert code != 0
    assert "there is no contest.toml" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.sample
@pytest.mark.slow
def test_a_measure_that_fails_is_told_before_the_run_folder_is_made(tmp_path: Path) -> None:
    broken = "def measure(submission, cases):\n    return float('nan')\n"
    written(tmp_path / "c", {**FEW, "measure.py": broken})
    words = ("run", str(tmp_path / "c"), "--agent", "null", "--out", str(tmp_path / "out"))
    code, _, error = told(*words)
    assert code != 0
    assert "no number" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_search_is_refused_where_nothing_can_be_varied(tmp_path: Path) -> None:
    written(tmp_path / "c", FEW)
    words = ("run", str(tmp_path / "c"), "--agent", "search", "--out", str(tmp_path / "out"))
    code, _, error = told(*words)
    assert code != 0
    assert "no parameters that `search` could vary" in error


@pytest.mark.slow
def test_validate_ends_with_1_for_an_unsound_contest(tmp_path: Path) -> None:
    right = FILES["honest/one/solution.py"]
    written(tmp_path / "c", {**FEW, "cheats/idle/solution.py": right})
    code, out, _ = told("validate", str(tmp_path / "c"), "--json")
    found = json.loads(out)
    assert code == 1
    assert not found["ok"]
    assert "should earn nothing" in found["problems"][0]


@pytest.mark.slow
def test_a_tournament_is_played_resumed_and_replayed_until_its_folder_is_changed(
    tmp_path: Path,
) -> None:
    folder, out = str(written(tmp_path / "c", FEW)), str(tmp_path / "out")
    words = ("--agent", "cheater", "--rounds", "1", "--seed", "3", "--out", out, "--json")
    code, text, error = told("run", folder, *words)
    assert code == 0, error
    assert json.loads(text)["settings"]["contest"] == "lengths"
    assert told("replay", out)[0] == 0
    (tmp_path / "c" / "measure.py").write_text(FILES["measure.py"] + "# changed\n")
    for command in ("resume", "replay"):
        code, _, error = told(command, out)
        assert code != 0
        assert "was changed since the tournament began: measure.py" in error
    (tmp_path / "c").rename(tmp_path / "moved")
    assert "no such folder: put it back" in told("resume", out)[2]
    assert told("show", out)[0] == 0
