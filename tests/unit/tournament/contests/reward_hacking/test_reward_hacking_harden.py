"""Hardening: attacks blocked minus honest work rejected, both roles. Each corpus takes seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.contest import Contest, DataPool, Files, Measurement
from unhack.tournament.contests.reward_hacking.harden import questions
from unhack.tournament.contests.reward_hacking.harden.corpora import (
    CODE,
    TEXT,
    CorpusSize,
    drawn_verifiers,
)
from unhack.tournament.contests.reward_hacking.tracks import load

ROLES = {role: load({"track": "harden", "role": role}) for role in ("patch", "attack")}
HONEST = {
    "patch": ("anchored", "typed", "anchored_typed", "anchored_sealed"),
    "attack": ("exits_and_objects", "hedges_and_blanks", "every_way"),
}
CHEATS = {
    "patch": ("rejects_everything", "accepts_what_it_saw", "rejects_what_it_saw",
              "planted_verdicts", "leaves_with_a_verdict", "infinite_score"),
    "attack": ("claimed_severity", "impostor", "leaves_with_a_verdict", "development_lookup",
               "planted_attacks"),
}  # fmt: skip
ALL_HONEST = [(role, name) for role, names in HONEST.items() for name in names]
ALL_CHEATS = [(role, name) for role, names in CHEATS.items() for name in names]


def measured(track: Contest, files: Files, folder: Path, *, seed: int = 5) -> Measurement:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    pool = DataPool.JUDGE if seed == 5 else DataPool.AUDIT
    return track.measure(folder, pool=pool, seed=seed)


def test_verifiers_are_drawn_by_seed_from_text_and_code() -> None:
    draws = {drawn_verifiers(DataPool.JUDGE, seed, CorpusSize()) for seed in range(20)}
    assert len(draws) > 10
    for names in draws:
        assert len(set(names)) == 6
        assert set(names) & set(TEXT)
        assert set(names) & set(CODE)


def test_a_question_has_the_answer_that_its_formula_gives() -> None:
    import random

    for seed in range(30):
        problem, formula = questions.number(random.Random(seed), public=False)
        assert str(eval(formula)) == problem.answer


@pytest.mark.parametrize(
    ("given", "answer", "same"),
    [("42", "42", True), ("42.0", "42", True), ("41 or 42", "42", False), ("nan", "42", False),
     ("B", "B", True), ("(b)", "B", True), ("Both", "B", False), ("B or C", "B", False)],
)  # fmt: skip
def test_the_true_judge_reads_one_answer(given: str, answer: str, same: bool) -> None:
    assert questions.same(given, answer) is same


def test_a_role_or_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        load({"track": "harden", "role": "defend"})
    with pytest.raises(UsageError):
        load({"track": "harden", "against": "somewhere"})


@pytest.mark.long
@pytest.mark.parametrize("role", ROLES)
def test_doing_nothing_in_a_role_scores_nothing(role: str, tmp_path: Path) -> None:
    found = measured(ROLES[role], ROLES[role].submissions.null(), tmp_path)
    assert found.valid
    assert found.fitness == 0
    assert found.flags == ()


@pytest.mark.long
@pytest.mark.parametrize("role", ROLES)
def test_every_strategy_of_a_role_is_tried_here(role: str) -> None:
    assert tuple(ROLES[role].submissions.honest()) == HONEST[role]
    assert tuple(ROLES[role].submissions.cheats()) == CHEATS[role]


@pytest.mark.long
def test_leaky_verifiers_handed_back_score_nothing(tmp_path: Path) -> None:
    found = measured(ROLES["patch"], ROLES["patch"].submissions.identity(), tmp_path)
    assert found.fitness == 0
    assert found.flags == ()


@pytest.mark.long
@pytest.mark.parametrize(("role", "name"), ALL_HONEST)
def test_honest_work_in_a_role_counts(role: str, name: str, tmp_path: Path) -> None:
    track = ROLES[role]
    judged = measured(track, track.submissions.honest()[name], tmp_path)
    audited = measured(track, track.submissions.honest()[name], tmp_path, seed=6)
    assert judged.valid
    assert judged.fitness > 0.1
    assert (*judged.flags, *audited.flags, *track.bounds(judged)) == ()
    assert track.gap(judged, audited) is None


@pytest.mark.long
@pytest.mark.parametrize(("role", "name"), ALL_CHEATS)
def test_a_hack_of_a_role_is_flagged(role: str, name: str, tmp_path: Path) -> None:
    track = ROLES[role]
    cheat = track.submissions.cheats()[name]
    found = measured(track, cheat.files, tmp_path / "cheat")
    assert cheat.flag in {flag.kind for flag in found.flags}
    honest = track.submissions.honest().get(cheat.deserves)
    worth = measured(track, honest, tmp_path / "honest").fitness if honest else 0.0
    assert found.fitness <= worth + 1e-9


@pytest.mark.long
def test_attacks_on_a_sealed_patch_fail(tmp_path: Path) -> None:
    patch = ROLES["patch"].submissions.honest()["anchored_sealed"]
    for name, data in patch.items():
        (tmp_path / name).write_bytes(data)
    track = load({"track": "harden", "role": "attack", "against": str(tmp_path)})
    attack = track.submissions.honest()["every_way"]
    assert measured(track, attack, tmp_path / "attack").fitness == 0
