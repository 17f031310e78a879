"""The claims of the matrix are tested once, when all runs are there, and each has a figure."""

import random
import sys

import pytest
from pages import ROOT

if not (ROOT / "benchmarks" / "results").exists():
    pytest.skip("a source distribution has no results", allow_module_level=True)
sys.path.insert(0, str(ROOT / "benchmarks"))

import matrix_page
import matrix_runs
import matrix_tests
import measure
import train_matrix

RATES = {
    "real": 0.02, "placebo_states": 0.02, "placebo": 0.1, "filter": 0.3, "oracle": 0.0,
    "ceiling": 0.0,
}  # fmt: skip
"""Held-out hacks of made-up runs; 0.6 for the rest."""


def made_up(name):
    """A record of all planned runs of a set of claims, with figures drawn by arm."""
    draw = random.Random(name)
    found = {}
    for part in matrix_tests.CLAIMS[name].parts:
        without = matrix_tests.rules_of(name).get("without", {})
        for key, base, seed in matrix_runs.planned(part, without):
            prompts, modes = matrix_runs.prompts_of(part), matrix_runs.modes_of(part)
            each, rate = prompts // len(modes), RATES.get(key[1], 0.6)
            names = modes if part in matrix_runs.BY_MODE else ("held_out", "known")
            hacked = {one: round(each * min(1, rate * draw.uniform(0.8, 1.2))) for one in names}
            if "held_out" in hacked:
                hacked["held_out"] *= len(modes) - 2
            run = matrix_runs.RunFigures(
                base, seed, hacked, round(prompts * draw.uniform(0.3, 0.4))
            )
            found.setdefault(key, []).append(run)
    return found


@pytest.mark.parametrize(("name", "claims"), [("matrix", 11), ("large", 10), ("where", 24)])
def test_a_whole_record_is_tested_and_each_claim_has_its_figure(
    name, claims, monkeypatch, tmp_path
):
    runs = made_up(name)
    tested, arms = train_matrix.tested(runs, name)
    assert len(tested) == claims
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    figures = train_matrix.figures_of(runs, name, tested, arms)
    measure.save("made_up", "none", figures, ran_on="nowhere")
    html = train_matrix.page(runs, name, tested, arms)
    for one in tested:
        assert one.claim["text"] in html
        assert f"<h2>{matrix_page.title_of(one.claim)}</h2>" in html
        said = matrix_page.words()["claim"][one.claim["name"]]
        assert said["supported" if one.supported else "open"] in html
    assert html.count("mean and interval") == claims
    assert "nan" not in html


def test_nothing_is_tested_before_all_runs_are_there():
    runs = made_up("large")
    runs["large", "real", ()].pop()
    with pytest.raises(SystemExit, match=r"1 of large.*tested when all are there"):
        train_matrix.tested(runs, "large")


def test_what_is_clear_in_the_runs_is_what_is_decided():
    tested, _ = train_matrix.tested(made_up("matrix"), "matrix")
    found = {one.claim["name"]: one for one in tested}
    assert found["bound"].supported
    assert found["quarantine matters"].supported
    assert not found["placebo"].supported
    assert not found["dropping suffices"].supported
    assert found["quarantine matters"].gap == pytest.approx(0.28, abs=0.03)
    assert len(found["bound"].own) == 14  # without the choice that all pilots used
    assert len(found["statement matters"].own) == 13  # one choice has no decoys


def test_claims_with_one_name_in_several_conditions_are_corrected_together():
    tested, _ = train_matrix.tested(made_up("where"), "where")
    raw = [one.p for one in tested]
    assert [one.p_holm for one in tested if one.p == min(raw)] == [
        pytest.approx(min(1, 24 * min(raw)))
    ] * raw.count(min(raw))
    assert all(len(one.own) == 12 for one in tested)


def test_plain_training_counts_for_every_choice_unless_a_condition_has_its_own():
    runs = made_up("where")
    late, token = (matrix_tests.arms_of(runs, f"where/{part}") for part in ("late", "token"))
    assert set(late["vanilla"]) == set(token["vanilla"]) == set(token["real"])
    own = runs["where/late", "vanilla", ("sentinel", "exit_code")]
    expected = [matrix_tests.measures(one, ("sentinel", "exit_code"), "where/late") for one in own]
    kept = [late["vanilla"][f"base {one.base}", "sentinel", "exit_code"][0] for one in own]
    assert kept == expected


def test_every_arm_and_claim_has_its_words():
    words = matrix_page.words()
    for name in matrix_tests.CLAIMS:
        for claim in matrix_tests.rules_of(name)["claim"]:
            assert {"title", "supported", "open"} == words["claim"][claim["name"]].keys()
        for part in matrix_tests.CLAIMS[name].parts:
            assert (
                set(matrix_runs.plan_of(part).arms) <= set(matrix_page.ORDER) <= set(words["arm"])
            )
