"""The plan of routing inside TRL, and the summary of its runs."""

import re
import sys

import pytest
from pages import ROOT

BENCHMARKS = ROOT / "benchmarks"
pytestmark = pytest.mark.skipif(
    not (BENCHMARKS / "results").exists(), reason="a source distribution has no results"
)
sys.path.insert(0, str(BENCHMARKS))

import trl_routed  # noqa: E402

HACKED = {"plain": 40, "routed": 1, "filter": 20, "ceiling": 0, "placebo": 3}
"""Hacks of 67 prompts of each mode."""


def made_up(rules, hacked=HACKED, solve=0.35):
    """A line for every run of the plan."""
    rows = {}
    for unit in rules["unit"]:
        for run in trl_routed.runs_of(rules, unit):
            modes = {mode: {"hacked": hacked[run.arm], "count": 67} for mode in rules["modes"]}
            deployed = {"by_mode": modes, "solve": {"rate": solve}}
            rows[run] = {"deployed": deployed, "cpu_s": 60.0}
    return rows


def test_each_base_model_meets_every_mode_as_a_known_one_once_and_no_seed_twice():
    rules = trl_routed.plan()
    seeds = [unit["seed"] for unit in rules["unit"]]
    assert len(set(seeds)) == len(seeds)
    for base in {unit["base"] for unit in rules["unit"]}:
        own = [unit for unit in rules["unit"] if unit["base"] == base]
        assert sorted(mode for unit in own for mode in unit["known"]) == sorted(rules["modes"])


def test_no_other_plan_has_its_seeds_or_base_models():
    rules = trl_routed.plan()
    own = {unit[name] for unit in rules["unit"] for name in ("seed", "base")}
    others = {*(ROOT / "experiments").glob("*.toml")} - {trl_routed.PLAN}
    assert len(others) > 5
    for path in others:
        lists = re.findall(r"^(?:base_)?seeds = \[(.*?)\]", path.read_text(), re.M | re.S)
        assert not own & {int(seed) for text in lists for seed in re.findall(r"\d+", text)}, path


def test_six_units_that_agree_support_the_claims():
    rules = trl_routed.plan()
    found = trl_routed.tested(rules, trl_routed.units_of(rules, made_up(rules)))
    assert [claim["supported"] for claim in found] == [True, True, True]
    assert [claim["units"] for claim in found] == [6, 6, 6]


def test_one_missing_run_of_a_claim_leaves_every_claim_without_a_test():
    rules = trl_routed.plan()
    rows = made_up(rules)
    del rows[next(run for run in rows if run.arm == "filter")]
    found = trl_routed.tested(rules, trl_routed.units_of(rules, rows))
    assert [claim["units"] for claim in found] == [6, 5, 6]
    assert all(claim["p"] is None and not claim["supported"] for claim in found)


def test_a_missing_placebo_changes_no_test():
    rules = trl_routed.plan()
    rows = {run: row for run, row in made_up(rules).items() if run.arm != "placebo"}
    assert all(
        claim["supported"] for claim in trl_routed.tested(rules, trl_routed.units_of(rules, rows))
    )


def test_arms_that_do_alike_support_nothing_about_hacks():
    rules = trl_routed.plan()
    rows = made_up(rules, hacked=dict.fromkeys(HACKED, 20))
    found = trl_routed.tested(rules, trl_routed.units_of(rules, rows))
    assert [claim["supported"] for claim in found] == [False, False, True]


def test_held_out_is_what_no_pair_of_the_unit_shows():
    rules = trl_routed.plan()
    unit = rules["unit"][0]
    rows = made_up(rules)
    run = next(run for run in rows if run.known == tuple(unit["known"]) and run.arm == "routed")
    for mode in unit["known"]:
        rows[run]["deployed"]["by_mode"][mode]["hacked"] = 67
    figures = trl_routed.figures_of(rows[run], run.known)
    assert figures["held_out"] == pytest.approx(1 / 67)
    assert figures["hack"] == pytest.approx((2 * 67 + 4) / (6 * 67))


def test_pairs_reach_trl_as_the_tokens_that_they_are_in_the_world(tmp_path):
    pytest.importorskip("trl")
    import trl_runs
    from unhack.routing.pairs import encode_pairs

    rules = trl_routed.plan()
    tokenizer = trl_runs.tokenizer()
    for arm, kind in (("routed", "real"), ("placebo", "placebo")):
        run = trl_routed.Run(84, 970, arm, tuple(rules["modes"]))
        world = trl_runs.world_of(run, rules, tmp_path)
        wanted = world.pairs(kind, count=rules["pairs_per_mode"], seed=run.seed)
        found = encode_pairs(trl_runs.gate_of(run, rules, world).pairs, tokenizer)
        assert [(pair.prompt.tokens, pair.hack, pair.clean) for pair in found] == [
            (pair.prompt.tokens, pair.hack, pair.clean) for pair in wanted
        ]
