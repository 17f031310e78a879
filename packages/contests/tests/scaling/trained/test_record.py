"""Finished runs: each is trained once."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack_contests.scaling.trained.service.record import RunRecord
from unhack_contests.scaling.trained.world.run_settings import TrainingOutcome

RUN = TrainingOutcome(2.5, ((128, 3.0), (256, 2.75)))


class Counted:
    """Training that takes a while and counts itself."""

    def __init__(self, run: TrainingOutcome = RUN) -> None:
        self.count, self.run = 0, run

    def __call__(self) -> list[TrainingOutcome]:
        self.count += 1
        time.sleep(0.05)
        return [self.run]


def test_the_same_run_is_trained_once_for_many_agents_at_once(tmp_path: Path) -> None:
    train = Counted()
    found: list[tuple[TrainingOutcome, ...]] = []

    def ask() -> None:
        found.append(RunRecord(tmp_path).once("a", train))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert train.count == 1
    assert found == [(RUN,)] * 6


def test_another_run_is_another_record(tmp_path: Path) -> None:
    train = Counted()
    record = RunRecord(tmp_path)
    record.once("a", train)
    record.once("b", train)
    assert train.count == 2


def test_a_run_that_diverged_is_kept_as_it_was(tmp_path: Path) -> None:
    diverged = Counted(TrainingOutcome(math.inf, ((128, math.inf),)))
    assert RunRecord(tmp_path).once("a", diverged) == RunRecord(tmp_path).once("a", diverged)
    assert diverged.count == 1


@pytest.mark.parametrize("damage", ["edited", "cut", "gone"])
def test_a_record_that_is_not_whole_is_trained_again(tmp_path: Path, damage: str) -> None:
    train = Counted()
    record = RunRecord(tmp_path)
    record.once("a", train)
    [path] = tmp_path.glob("*.json")
    if damage == "edited":
        stored = json.loads(path.read_text())
        stored["runs"][0][0] = 0.1
        path.write_text(json.dumps(stored))
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:20])
    else:
        path.unlink()
    assert record.once("a", train) == (RUN,)
    assert train.count == 2


def test_training_that_fails_leaves_nothing_behind_that_looks_like_a_run(tmp_path: Path) -> None:
    def fails() -> list[TrainingOutcome]:
        raise MemoryError("the card is full")

    train = Counted()
    with pytest.raises(MemoryError):
        RunRecord(tmp_path).once("a", fails)
    assert RunRecord(tmp_path).once("a", train) == (RUN,)


def test_a_folder_that_cannot_be_made_is_told_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="record=PATH"):
        RunRecord(tmp_path / "file" / "record")
