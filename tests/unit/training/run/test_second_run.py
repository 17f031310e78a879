"""A second run: when there is one, with what, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.training.config.settings import Settings
from unhack.training.routing.leak import LIMIT
from unhack.training.run.second_run import check_again, leak_score, second_run

SETTINGS = Settings.model_validate(
    {"gate": {"kind": "cosine", "calibration": "quantile", "constant": 0.2}}
)


def ended(folder: Path, *scores: float | None) -> Path:
    """A run with these scores of its alarm, step by step."""
    folder.mkdir()
    lines = [{"step": at} | ({} if one is None else {"leak": one}) for at, one in enumerate(scores)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_the_last_score_decides_and_an_early_one_does_not(tmp_path: Path) -> None:
    early = ended(tmp_path / "early", None, LIMIT + 0.2, LIMIT)
    assert leak_score(early) == LIMIT
    assert second_run(SETTINGS, early, 0.4) is None
    late = ended(tmp_path / "late", None, 0.0, LIMIT + 0.01)
    found = second_run(SETTINGS, late, 0.4)
    assert found is not None
    assert found[0].gate == SETTINGS.gate.model_copy(update={"constant": 0.4})
    assert found[0].model_copy(update={"gate": SETTINGS.gate}) == SETTINGS
    assert found[1] == tmp_path / "late-again"


def test_a_run_too_short_for_a_score_is_not_trained_again(tmp_path: Path) -> None:
    assert second_run(SETTINGS, ended(tmp_path / "run", None, None), 0.4) is None


@pytest.mark.parametrize(
    ("gate", "share", "processes", "said"),
    [
        ({}, 0.2, 1, "larger share"),
        ({}, 1.1, 1, "at most 1"),
        ({}, 0.4, 2, "one process"),
        ({"kind": "oracle"}, 0.4, 1, "route a share by score"),
        ({"action": "drop"}, 0.4, 1, "route a share by score"),
    ],
)
def test_what_cannot_be_trained_again_is_named(
    gate: dict[str, str], share: float, processes: int, said: str
) -> None:
    settings = SETTINGS.model_copy(update={"gate": SETTINGS.gate.model_copy(update=gate)})
    with pytest.raises(UsageError, match=said):
        check_again(settings, share, processes=processes)
