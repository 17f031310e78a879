"""The hard level of the planted circuits: the truth is the truth, and nobody ships it."""

from __future__ import annotations

import functools
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from unhack.core.errors import UnknownNameError
from unhack.tournament.contest import DataPool, Files, Measurement
from unhack.tournament.contests.registry import load_contest
from unhack.tournament.scan.against import Against
from unhack.tournament.scan.scan import scan
from unhack_contests.interpretability import score as scoring
from unhack_contests.interpretability.dialogue.claim import CircuitClaim
from unhack_contests.interpretability.dialogue.dialogue import DialogueResult, questions
from unhack_contests.interpretability.models import behaviours
from unhack_contests.interpretability.models.draw import CircuitModel
from unhack_contests.interpretability.settings import settings

FRUGAL = '''

def frugal(lab):
    """Single ablations; pairs among what they show; what cancels in a pair is no part of it."""
    parts = lab.api.components
    alone = dict(zip(parts, lab.rise([(part,) for part in parts])))
    shown = [part for part in parts if alone[part] > 0.02 * lab.span]
    pairs = list(itertools.combinations(shown, 2))
    both = dict(zip(pairs, lab.rise(pairs)))
    gone = set()
    for one, two in sorted(pairs, key=both.get):
        if not {one, two} & gone and both[one, two] < 0.3 * min(alone[one], alone[two]):
            gone |= {one, two}
    return [part for part in shown if part not in gone]


def wiring(lab, nodes, kinds):
    """Stages by what a head attends to and where it stands; paths between stages at once."""
    stages = {}
    for node in nodes:
        stages.setdefault(kinds.get(node, ("mlp", 0, 0))[::2], []).append(node)
    found = []
    for one, two in itertools.permutations(stages, 2):
        group = [(*a, *b) for a in stages[one] for b in stages[two] if a[0] < b[0]]
        if group and len(group) == len(stages[one]) * len(stages[two]):
            [gain] = lab.path([group])
            if gain > 0.05 * lab.span:
                found += group
    return found


def forecast(lab, nodes):
    parts = lab.api.components
    sets = [s for n in (1, 2, 3) for s in itertools.combinations(nodes, n)]
    table = dict(zip(map(frozenset, sets), lab.rise(sets[:max(0, lab.api.budget // ROWS - 20)])))
    alone = {part: lab.known.get((frozenset([part]), "resample"), 0.0) for part in parts}
    both = {key[0]: gain for key, gain in lab.known.items() if len(key[0]) == 2}

    def guess(query):
        hit = frozenset(query) & frozenset(nodes)
        inside = table.get(hit, max([g for known, g in table.items() if known <= hit] or [0.0]))
        rest = [part for part in query if part not in hit]
        for one, two in itertools.combinations(rest, 2):
            if both.get(frozenset((one, two)), 9e9) < 0.3 * min(alone[one], alone[two]):
                rest = [part for part in rest if part not in (one, two)]
        return max([inside, *(alone[part] for part in rest)])

    return guess, 0.25, 0.01 * lab.span


FINDERS["frugal"] = frugal
METHOD = "frugal"
'''
"""Appended to a shipped strategy: an experimenter who minds the budget and what cancels."""
ROOM = 70.0
"""Points of 100 that the best shipped strategy stays below."""
SMALL = {"level": "hard", "models": "3"}


@functools.cache
def hard_model(number: int) -> CircuitModel:
    return settings({"level": "hard"}).model(DataPool.JUDGE, seed=31, number=number)


def bench_of(number: int) -> scoring.InterventionBench:
    return scoring.bench(hard_model(number), count=48, rng=np.random.default_rng(0))


def measured(files: Files, folder: Path, *, seed: int) -> Measurement:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return load_contest("interp", SMALL).measure(folder, pool=DataPool.JUDGE, seed=seed)


def test_an_unknown_level_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean hard"):
        settings({"level": "hrad"})


def test_a_single_option_changes_a_level_and_leaves_the_rest_of_it() -> None:
    found = settings({"level": "hard", "cancelling": "0"})
    assert found.size.cancelling == 0
    assert found.size.relays == settings({"level": "hard"}).size.relays > 0
    assert settings({}).size.relays == 0


@pytest.mark.slow
def test_four_models_have_four_families_chains_of_three_and_fewer_directions_than_features() -> (
    None
):
    size = settings({"level": "hard"}).size
    assert {hard_model(n).behaviour.family for n in range(4)} == set(behaviours.FAMILIES)
    for number in range(4):
        model = hard_model(number)
        ends = {edge[:2] for edge in model.truth.edges}
        starts = {edge[2:] for edge in model.truth.edges}
        assert ends & starts, "a stage in the middle both reads and writes"
        assert model.network.embed.shape[1] == size.width - size.shared


@pytest.mark.slow
def test_the_circuit_alone_carries_out_the_task() -> None:
    for number in range(4):
        stand = bench_of(number)
        every = frozenset(stand.model.network.nodes)
        base, worst = stand.loss(frozenset()), stand.loss(every)
        assert stand.loss(every - stand.model.truth.nodes) - base < 0.1 * (worst - base)


@pytest.mark.slow
def test_heads_that_cancel_each_other_matter_alone_and_not_together() -> None:
    found = 0
    for number in range(4):
        stand = bench_of(number)
        nodes, truth = stand.model.network.nodes, stand.model.truth.nodes
        base = stand.loss(frozenset())
        span = stand.loss(frozenset(nodes)) - base
        alone = {one: stand.loss(frozenset([one])) - base for one in nodes if one not in truth}
        loud = [one for one, rise in alone.items() if rise > 0.05 * span]
        for one, other in combinations(loud, 2):
            both = stand.loss(frozenset([one, other])) - base
            found += both < 0.2 * min(alone[one], alone[other])
    assert found >= 4


@pytest.mark.slow
def test_the_truth_with_forecasts_from_other_sequences_is_worth_nearly_100() -> None:
    for number in range(4):
        stand = bench_of(number)
        model = stand.model
        asked = questions(model.network.nodes, rng=np.random.default_rng(3))
        fresh = scoring.bench(model, count=128, rng=np.random.default_rng(9))
        guess = scoring.effects(fresh, asked)
        half = 0.05 + 0.15 * np.abs(guess)
        truth = model.truth
        claim = CircuitClaim(truth.nodes, truth.edges, dict(truth.roles), frozenset())
        said = DialogueResult(claim, np.stack([guess - half, guess + half], 1), 1, 1)
        found = scoring.score(stand, said, queries=asked, rng=np.random.default_rng(0))
        assert found.value > 90


@pytest.mark.slow
@pytest.mark.long
def test_the_shipped_strategies_leave_room_and_are_not_accused(tmp_path: Path) -> None:
    every = load_contest("interp", SMALL).submissions.honest()
    assert every
    for name, files in every.items():
        for seed in (41, 42):
            found = measured(files, tmp_path / f"{name}{seed}", seed=seed)
            assert found.valid, name
            assert found.flags == (), name
            assert found.fitness <= ROOM, name


@pytest.mark.slow
@pytest.mark.long
def test_an_experimenter_who_looks_for_what_cancels_gets_more_than_the_baseline(
    tmp_path: Path,
) -> None:
    honest = load_contest("interp", SMALL).submissions.honest()
    own = {"solution.py": honest["combined"]["solution.py"] + FRUGAL.encode()}
    found = measured(own, tmp_path / "own", seed=41)
    assert found.valid
    assert found.flags == ()
    assert found.fitness > measured(honest["single"], tmp_path / "single", seed=41).fitness + 5


@pytest.mark.slow
@pytest.mark.long
def test_every_cheat_is_flagged_at_the_hard_level_too(tmp_path: Path) -> None:
    every = load_contest("interp", SMALL).submissions.cheats()
    assert every
    for name, cheat in every.items():
        found = measured(cheat.files, tmp_path / name, seed=43)
        kinds = {flag.kind for flag in (*found.flags, *scan(cheat.files, Against()))}
        # A remembered model may be the one whose heads are renamed: then it is known for a table.
        assert kinds & {cheat.flag, "cached_answers"}, name
        assert found.fitness == 0 or cheat.deserves, name
