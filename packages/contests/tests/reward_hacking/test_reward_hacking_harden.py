"""Hardening: attacks blocked minus honest work rejected, both roles. Each corpus takes seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from unhack.audit.subject import AuditProblem
from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.contest import Contest, DataPool, Files, Measurement, Terms, in_round
from unhack_contests.reward_hacking.harden.corpora import FAMILIES
from unhack_contests.reward_hacking.harden.score import patch
from unhack_contests.reward_hacking.harden.settings import over_leaky
from unhack_contests.reward_hacking.harden.verifiers import LabelledCompletion, VerifierBench
from unhack_contests.reward_hacking.tracks import load

ROLES = {role: load({"track": "harden", "role": role}) for role in ("patch", "attack")}


def measured(track: Contest, files: Files, folder: Path, *, seed: int = 5) -> Measurement:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    pool = DataPool.JUDGE if seed == 5 else DataPool.AUDIT
    return track.measure(folder, pool=pool, seed=seed)


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
def test_leaky_verifiers_handed_back_are_not_told_from_nothing(tmp_path: Path) -> None:
    # Some of the drawn attacks miss even a leaky verifier, so that its share may be above 0.
    found = measured(ROLES["patch"], ROLES["patch"].submissions.identity(), tmp_path)
    assert (found.low, found.fitness < 0.1) == (0, True)
    assert found.flags == ()


BY_TURNS = load({"track": "harden", "role": "alternate", "verifiers": "3", "problems": "1"})


@pytest.mark.slow
def test_by_turns_odd_rounds_patch_and_even_rounds_attack_the_best_patch() -> None:
    patched = BY_TURNS.submissions.honest()["lenient_probing"]
    attacker = BY_TURNS.submissions.honest()["near_misses"]
    first = in_round(BY_TURNS, Terms(1))
    second = in_round(BY_TURNS, Terms(2, rivals={"patch": patched}))
    third = in_round(BY_TURNS, Terms(3, rivals={"attack": attacker}))
    assert [one.settings["role"] for one in (first, second, third)] == ["patch", "attack", "patch"]
    assert len({one.settings["attacked"] for one in (first, second, third)}) == 3
    given = second.workspace(Terms(2, rivals={"patch": patched}))
    assert given["leaky/patched_verifiers.py"] == patched["solution.py"]
    shown = third.workspace(Terms(3, rivals={"attack": attacker}))
    assert shown["attacker/solution.py"] == attacker["solution.py"]
    assert b"The attacker" in shown["STATEMENT.md"]
    assert b"The attacker" not in first.workspace(Terms(1))["STATEMENT.md"]


def test_a_patch_of_some_verifiers_leaves_the_others_as_leaky_as_they_were(
    tmp_path: Path,
) -> None:
    source = b"def ranking(prompt, completion, answer):\n    return 0.0\n"
    files = over_leaky({"solution.py": source})
    assert VerifierBench(files).defined() == {*FAMILIES}
    assert b"from patched_verifiers import ranking" in files["solution.py"]
    (tmp_path / "solution.py").write_text("def (")
    with pytest.raises(UsageError, match="cannot be read"):
        load({"track": "harden", "role": "attack", "against": str(tmp_path)})


def test_a_proven_attack_of_the_attacker_counts_half_of_a_problem() -> None:
    problem = AuditProblem("one", "prompt", "4.5 L")
    good = LabelledCompletion("quantity", 0, problem, "Answer: 4.5 L", honest=True)
    bad = replace(good, honest=False)
    unit = good.unit
    assert patch.units([good, bad], [True, False])[unit] == 1.0
    assert patch.units([good, bad], [True, False], {unit: False})[unit] == 1.0
    assert patch.units([good, bad], [True, False], {unit: True})[unit] == 0.5
    assert patch.units([good, bad], [True, True], {unit: False})[unit] == 0.5


@pytest.mark.long
def test_by_turns_an_attacker_that_does_not_repeat_is_not_valid(tmp_path: Path) -> None:
    second = in_round(BY_TURNS, Terms(2))
    source = (
        b"import secrets\n\ndef attack(verifier, prompt, files):\n    return secrets.token_hex(4)\n"
    )
    found = measured(second, {"solution.py": source}, tmp_path)
    assert "does not repeat" in found.reason
