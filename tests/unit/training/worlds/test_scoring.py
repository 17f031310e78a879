"""A verdict for every rollout: what the machinery fails on is run again, then the batch ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from unhack.core.errors import BatchUnscoredError
from unhack.training.worlds import scoring


@dataclass
class Said:
    scored: bool
    reason: str = ""
    text: str = ""


@dataclass
class Told:
    verdicts: Sequence[Said]


class Machinery:
    """Fails on each text as often as `failures` says."""

    def __init__(self, failures: dict[str, int]) -> None:
        self.left, self.asked = failures, []

    def __call__(self, tasks: Sequence[Any], texts: Sequence[str], *, backend: Any) -> Told:
        self.asked.append([*zip(tasks, texts, strict=True)])
        return Told([self._said(text) for text in texts])

    def _said(self, text: str) -> Said:
        self.left[text] = self.left.get(text, 0) - 1
        return Said(self.left[text] < 0, "worker died", text)


def test_only_what_has_no_verdict_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    machinery = Machinery({"b": 1})
    monkeypatch.setattr(scoring, "run_batch", machinery)
    tasks: Any = ["t1", "t2", "t3"]
    found: Any = scoring.judge_texts(tasks, ["a", "b", "c"], backend=None)
    assert [one.text for one in found if one.scored] == ["a", "b", "c"]
    assert machinery.asked[1:] == [[("t2", "b")]]


def test_what_fails_twice_ends_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "run_batch", Machinery({"b": 2}))
    tasks: Any = ["t1", "t2"]
    with pytest.raises(BatchUnscoredError, match="worker died"):
        scoring.judge_texts(tasks, ["a", "b"], backend=None)
