"""Reviews of flags: what stands then, both numbers, lineage, and what an edit of one shows."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tournament.hill import HILL, entry, flagged, plan, played, toy

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError
from unhack.store.ledger import Ledger
from unhack.tournament.contest import Flag
from unhack.tournament.record.archive import Archive, read_record
from unhack.tournament.record.lineage import mark_tainted
from unhack.tournament.record.records import (
    Entry,
    FlagReview,
    ReviewDecision,
    Round,
    TournamentRecord,
)
from unhack.tournament.record.reviews import apply_reviews, reviewed_standings
from unhack.tournament.review.flag_review import find_entry, review_flags, same_elsewhere
from unhack.tournament.review.replay import replay
from unhack.tournament.round.rounds import begin, line_up, play, reopen

WRONG, RIGHT = ReviewDecision.OVERRULE, ReviewDecision.UPHOLD


def review(one: Entry, decision: ReviewDecision = WRONG, *kinds: str) -> FlagReview:
    found = kinds or tuple(flag.kind for flag in one.flags)
    return FlagReview(one.round, one.agent, one.digest, found, decision, "Ada", "no", "2026")


def audited(one: Entry) -> Entry:
    """As the judge stores it: measured on both draws."""
    return replace(one, audited=one.measured)


class TestWhatStands:
    def test_an_overruled_flag_gives_back_what_was_measured(self) -> None:
        one = audited(flagged("a"))
        [found] = apply_reviews([one], [review(one)])
        assert (found.flags, found.overruled) == ((), one.flags)
        assert (found.judged_fitness, found.fitness) == (0.0, 0.9)
        assert found.seeds

    def test_the_newest_review_counts_and_all_are_kept(self) -> None:
        one = audited(flagged("a"))
        said = [review(one), review(one, RIGHT)]
        [found] = apply_reviews([one], said)
        assert (found.flags, found.fitness, found.judged_fitness) == (one.flags, 0.0, None)
        assert found.reviews == tuple(said)
        [again] = apply_reviews([one], [*said, review(one)])
        assert again.fitness == 0.9

    def test_one_of_two_kinds_leaves_the_other(self) -> None:
        one = audited(flagged("a"))
        both = (*one.flags, Flag("honeypot", "x", "scan"))
        [found] = apply_reviews([replace(one, flags=both)], [review(one, WRONG, "honeypot")])
        assert [flag.kind for flag in found.flags] == ["sealed_data"]
        assert [flag.kind for flag in found.overruled] == ["honeypot"]
        assert (found.fitness, found.judged_fitness) == (0.0, None)

    def test_what_could_not_be_measured_stays_worth_nothing(self) -> None:
        one = flagged("a")
        [found] = apply_reviews([one], [review(one)])
        assert (found.fitness, found.judged_fitness) == (0.0, 0.0)

    def test_descendants_follow_their_ancestor(self) -> None:
        one = audited(flagged("a"))
        child = entry("b", number=2, parent=one.digest)
        grandchild = entry("c", number=3, parent=child.digest)
        family = [one, child, grandchild]
        assert [e.tainted for e in mark_tainted(family)] == [True] * 3
        found = mark_tainted(apply_reviews(family, [review(one)]))
        assert [e.tainted for e in found] == [False] * 3
        found = mark_tainted(apply_reviews(family, [review(one), review(one, RIGHT)]))
        assert [e.tainted for e in found] == [True] * 3

    def test_the_same_files_elsewhere_keep_the_lineage_tainted(self) -> None:
        one = audited(flagged("a"))
        two = replace(flagged("a", number=2), digest=one.digest)
        found = mark_tainted(apply_reviews([one, two], [review(one)]))
        assert [e.tainted for e in found] == [True, True]
        assert same_elsewhere(found, found[0]) == [found[1]]

    def test_a_standing_has_both_means(self) -> None:
        one, other = audited(flagged("a")), entry("b")
        entries = apply_reviews([one, other], [review(one)])
        table = {item.agent: item for item in reviewed_standings([_round(entries)])}
        assert (table["a"].mean, table["a"].judged_mean) == (0.9, 0.0)
        assert (table["a"].overruled, table["a"].flagged, table["a"].rank) == (1, 0, 1)
        assert (table["b"].judged_mean, table["b"].overruled) == (None, 0)


def _round(entries: list[Entry]) -> Round:
    return Round(1, False, "", None, tuple(entries))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tournament") / "run"
    played(path, plan("search", "cheater:claims", rounds=2))
    return path


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run", symlinks=True))


def overrule(path: Path, name: str, decision: ReviewDecision = WRONG, kind: str = "") -> Entry:
    with reopen(path) as archive:
        return review_flags(
            archive, name, kind=kind, decision=decision, by="Ada", why="it is never timed"
        )


def cheater(record: TournamentRecord) -> Entry:
    return next(entry for entry in record.entries if entry.agent.startswith("cheater"))


class TestInTheRecord:
    @pytest.mark.slow
    def test_it_is_appended_and_nothing_judged_is_edited(self, run: Path) -> None:
        before = read_record(run)
        with Ledger(run, read_only=True) as folder:
            judged, events = folder.under("entry/"), folder.events
        name = f"1/{cheater(before).agent}"
        found = overrule(run, name)
        after = read_record(run, head=before.head)
        assert cheater(after) == found
        assert found.overruled == cheater(before).flags
        assert found.reviews[0].by == "Ada"
        with Ledger(run, read_only=True) as folder:
            assert folder.under("entry/") == judged
            assert folder.events[: len(events)] == events
            assert folder.events[-1].kind == "reviewed"
        overrule(run, name, RIGHT)
        assert cheater(read_record(run)).flags == cheater(before).flags
        assert len(cheater(read_record(run)).reviews) == 2

    @pytest.mark.parametrize("column", ["Ada", "overrule", "never timed"])
    def test_an_edited_review_is_found(self, run: Path, column: str) -> None:
        overrule(run, f"1/{cheater(read_record(run)).agent}")
        with sqlite3.connect(run / "state.sqlite") as base:
            changed = base.execute(
                "UPDATE value SET json = replace(json, ?, 'other') WHERE key LIKE 'review/%'",
                (column,),
            )
            assert changed.rowcount == 1
        base.close()
        with pytest.raises(StoreError, match="review/000001"):
            read_record(run)

    def test_a_removed_review_is_found(self, run: Path) -> None:
        overrule(run, f"1/{cheater(read_record(run)).agent}")
        with sqlite3.connect(run / "state.sqlite") as base:
            base.execute("DELETE FROM value WHERE key LIKE 'review/%'")
        base.close()
        with pytest.raises(StoreError, match="is gone"):
            read_record(run)

    def test_resume_and_replay_keep_it(self, run: Path) -> None:
        found = overrule(run, f"1/{cheater(read_record(run)).agent}")
        again = played(run)
        assert cheater(again) == found
        with reopen(run, read_only=True) as archive:
            judged = replay(archive, HILL)
        assert judged.differences == ()
        assert cheater(read_record(run)) == found

    @pytest.mark.slow
    def test_a_round_is_judged_again_by_the_reviews_it_beganreplace(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        wanted = plan("search", "cheater:claims", rounds=2)
        make = toy.maker(HILL, path.with_suffix(".book"))

        def stop(one: Entry) -> None:
            if one.round == 1 and one.agent.startswith("cheater"):
                raise KeyboardInterrupt

        with begin(path, wanted, HILL, seed=3) as archive, pytest.raises(KeyboardInterrupt):
            _play_until(archive, make, stop)
        overrule(path, "1/cheater:claims")
        played(path)
        with reopen(path, read_only=True) as archive:
            assert (archive.terms(1) or {})["reviews"] == 0
            assert (archive.terms(2) or {})["reviews"] == 1
            assert [e.overruled for e in archive.entries_at(1)] == [()] * len(archive.entries())
            assert replay(archive, HILL).differences == ()
        second = next(e for e in read_record(path).rounds[1].entries if "cheater" in e.agent)
        assert second.flags

    def test_terms_of_an_earlier_version_know_no_review(self, run: Path) -> None:
        overrule(run, f"1/{cheater(read_record(run)).agent}")
        with reopen(run) as archive:
            old = {k: v for k, v in (archive.terms(2) or {}).items() if k != "reviews"}
            archive.folder.change("test", {"round/0002": old})
            assert all(not entry.overruled for entry in archive.entries_at(2))
            assert any(entry.overruled for entry in archive.entries())


def _play_until(archive: Archive, make: Any, stop: Any) -> None:
    play(line_up(archive, HILL, make=make), jobs=1, watch=stop)


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("name", "kind", "told"),
        [
            ("1/nobody", "", "is no ROUND/AGENT"),
            ("9/search", "", "flagged: 1/cheater:claims"),
            ("search", "", "is no ROUND/AGENT"),
            ("1/search", "", "nothing to review"),
            ("1/cheater:claims", "honeypot", "its flags: "),
        ],
    )
    def test_a_submission_or_flag_that_is_not_there(
        self, run: Path, name: str, kind: str, told: str
    ) -> None:
        with pytest.raises(UsageError, match=told):
            overrule(run, name, kind=kind)

    @pytest.mark.parametrize(("by", "why"), [("", "x"), ("x", "  "), ("x" * 4001, "x")])
    def test_nobody_and_no_reason(self, run: Path, by: str, why: str) -> None:
        name = f"1/{cheater(read_record(run)).agent}"
        with reopen(run) as archive, pytest.raises(UsageError, match="letters are needed"):
            review_flags(archive, name, kind="", decision=WRONG, by=by, why=why)
        assert cheater(read_record(run)).reviews == ()

    def test_what_is_not_committed(self) -> None:
        with pytest.raises(UsageError, match="no submission was flagged"):
            find_entry([entry("a")], "2/a")

    def test_a_short_name_is_enough(self) -> None:
        one = entry("mine=python3 /x/agent.py {prompt}")
        assert find_entry([one], "1/mine") is one
