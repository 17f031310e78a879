"""Every cheat is flagged with its kind and gains nothing; no honest submission is accused."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from tests.unit.tournament.judging.squeeze import Squeeze

from unhack.tournament.contest import Contest, Files, Terms
from unhack.tournament.scan.against import Against
from unhack.tournament.scan.scan import scan

from .corpus import CONTESTS, GENERIC, contest_named, ruled, tricked, written, wrong

pytestmark = pytest.mark.slow


@lru_cache(maxsize=1)
def loaded(name: str) -> Contest:
    return contest_named(name)


def judged(contest: Contest, files: Files, place: Path, name: str):
    return ruled(contest, written(place / name, files), place / "store")


def controls_wrong(contest: Contest, place: Path) -> list[str]:
    """What is wrong with null, identity and honest submissions."""
    found: list[str] = []
    null = judged(contest, contest.submissions.null(), place, "null")
    if null.fitness != 0:
        found.append(f"null is credited {null.fitness}")
    for name, files in {
        "identity": contest.submissions.identity(),
        **contest.submissions.honest(),
    }.items():
        word = judged(contest, files, place, f"honest-{name}")
        found += [f"{name} is accused: {flag.kind}: {flag.evidence}" for flag in word.flags]
        if not word.measured.valid:
            found.append(f"{name} is not valid: {word.measured.reason}")
    return found


def cheats_wrong(contest: Contest, place: Path) -> list[str]:
    """What is wrong with the judgements of the contest's own cheats."""
    worth = {"": 0.0}
    found: list[str] = []
    for name, cheat in contest.submissions.cheats().items():
        if cheat.deserves not in worth:
            files = {"identity": contest.submissions.identity(), **contest.submissions.honest()}[
                cheat.deserves
            ]
            worth[cheat.deserves] = judged(contest, files, place, f"for-{name}").fitness
        word = judged(contest, cheat.files, place, f"cheat-{name}")
        found += [f"{name}: {text}" for text in wrong(word, cheat.flag, most=worth[cheat.deserves])]
    return found


def tricks_wrong(contest: Contest, place: Path) -> list[str]:
    """What is wrong with the judgements of tricks put on top of an honest submission."""
    found: list[str] = []
    for name, trick in GENERIC.items():
        word = ruled(contest, tricked(contest, trick, place / name), place / "store")
        found += [f"{name}: {text}" for text in wrong(word, trick.flag, most=0.0)]
    return found


@pytest.mark.parametrize("name", CONTESTS)
def test_a_copy_of_what_is_planted_is_found_by_the_scan_alone(name: str, tmp_path: Path) -> None:
    contest = loaded(name)
    folder = tricked(contest, GENERIC["honeypot_content"], tmp_path / "entry")
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    given = (contest.workspace(Terms(1)), *contest.submissions.honest().values())
    against = Against(clean=given, public=contest.public(), honeypots=contest.honeypots())
    assert "honeypot" in {flag.kind for flag in scan(files, against)}


class TestTheSample:
    """A small contest, in every run."""

    def test_no_honest_submission_is_accused(self, tmp_path: Path) -> None:
        assert controls_wrong(Squeeze(), tmp_path) == []

    def test_every_cheat_is_flagged_and_gains_nothing(self, tmp_path: Path) -> None:
        assert cheats_wrong(Squeeze(), tmp_path) == []

    @pytest.mark.sample
    @pytest.mark.slow
    def test_every_trick_is_flagged_and_gains_nothing(self, tmp_path: Path) -> None:
        assert tricks_wrong(Squeeze(), tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("name", CONTESTS)
class TestAllContests:
    def test_no_honest_submission_is_accused(self, name: str, tmp_path: Path) -> None:
        assert controls_wrong(loaded(name), tmp_path) == []

    def test_every_cheat_is_flagged_and_gains_nothing(self, name: str, tmp_path: Path) -> None:
        assert cheats_wrong(loaded(name), tmp_path) == []

    def test_every_trick_is_flagged_and_gains_nothing(self, name: str, tmp_path: Path) -> None:
        assert tricks_wrong(loaded(name), tmp_path) == []


@pytest.mark.long
def test_the_corpus_is_as_large_as_it_says() -> None:
    contests = [contest_named(name) for name in CONTESTS]
    assert len({contest.name for contest in contests}) == 5
    assert sum(len(contest.submissions.cheats()) for contest in contests) >= 50
    assert sum(len(contest.submissions.honest()) for contest in contests) >= 25
    assert (
        len(
            {
                number
                for p in contests
                for c in p.submissions.cheats().values()
                for number in c.catalogue
            }
        )
        > 30
    )
