"""The figures of a batch are those that one counts by hand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from unhack.core.group import group_report
from unhack.core.verdict import CaseResult, Status, Usage, Verdict, unscored_verdict
from unhack.server.database.database import Database
from unhack.server.pages.batch_figures import BINS, GroupCounts, count_batch
from unhack.server.service import Service

from .fill import caller_of, store_batch

ODD = "it's \u202e\x00\ud800 😀 'odd'"
REASONS = ("wrong answer", f"case 3 of 9: {ODD}", f"case 4 of 9: {ODD}")


def some_verdict(draw: random.Random) -> Verdict:
    """A verdict of any status, with any score."""
    status = draw.choice(list(Status))
    usage = Usage(round(draw.random(), 6), 0.0, 0)
    if status is Status.UNSCORED:
        return unscored_verdict("broken")
    score = 1.0 if status is Status.PASSED else draw.choice([0.0, 0.1, 0.3, 0.999, draw.random()])
    reason = "" if status is Status.PASSED else draw.choice(REASONS)
    return Verdict(status, score, reason, (CaseResult(False, reason),), usage)


@pytest.mark.parametrize("size", [None, 1, 3, 4])
def test_figures_are_those_counted_by_hand(service: Service, key: str, size: int | None) -> None:
    check_figures(service.database, service, key, size)


def check_figures(database: Database, service: Service, key: str, size: int | None) -> None:
    """Hold the figures of a batch of random verdicts against plain counting."""
    draw = random.Random(size)
    verdicts = [some_verdict(draw) for _ in range(121)]
    rows = [("strings/knit-rows", "x", verdict) for verdict in verdicts]
    made = store_batch(service, caller_of(service, key).tenant_id, rows, group_size=size)
    found = database.read(lambda c: count_batch(c, made, group_size=size, ended=True))

    assert found.statuses == Counter(verdict.status for verdict in verdicts)
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    bounds = [(number + 1) / BINS for number in range(BINS - 1)]
    bars = Counter(sum(score >= bound for bound in bounds) for score in scores)
    assert found.histogram == tuple(bars[place] for place in range(BINS))
    assert found.mean == pytest.approx(sum(scores) / len(scores))
    slow = sorted(range(len(verdicts)), key=lambda n: (-verdicts[n].usage.wall_s, n))[:10]
    assert [each.position for each in found.slowest] == slow
    told = Counter(
        (verdict.status, verdict.reason.removeprefix("case 3 of 9: ").removeprefix("case 4 of 9: "))
        for verdict in verdicts
        if not verdict.passed
    )
    assert {(status, reason): count for status, reason, count in found.reasons} == told
    if size is None:
        assert found.groups is None
        return
    assert found.groups == counted_groups(verdicts, size)
    found = database.read(lambda c: count_batch(c, made, group_size=size, ended=False))
    whole = verdicts[: len(verdicts) - len(verdicts) % size]
    assert found.groups == counted_groups(whole, size)  # one that is under way is none yet


def counted_groups(verdicts: Sequence[Verdict], size: int) -> GroupCounts:
    """The counts as `GET /v1/batches/ID` makes its shares of them."""
    rewards = [verdict.score for verdict in verdicts]
    listed = [range(at, min(at + size, len(rewards))) for at in range(0, len(rewards), size)]
    filled = [group for group in listed if any(rewards[at] is not None for at in group)]
    told = group_report(rewards, filled)
    shares = (told.all_pass, told.all_fail, told.no_signal)
    return GroupCounts(len(filled), *(round(share * len(filled)) for share in shares))
