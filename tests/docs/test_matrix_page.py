"""The claims of the matrix are tested once, when all runs are there, and each has a figure."""

import dataclasses
import random
import re
import sys
from xml.etree import ElementTree

import pytest
from pages import ROOT

if not (ROOT / "benchmarks" / "results").exists():
    pytest.skip("a source distribution has no results", allow_module_level=True)
sys.path.insert(0, str(ROOT / "benchmarks"))

import figures
import matrix_page
import matrix_pictures
import matrix_runs
import matrix_tests
import matrix_told
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
    more = ("shortcuts",) if name == "matrix" else ()
    for part in (*matrix_tests.CLAIMS[name].parts, *more):
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
    kept = train_matrix.figures_of(runs, name, tested, arms)
    measure.save("made_up", "none", kept, ran_on="nowhere")
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
    assert matrix_tests.CLAIMS
    for name in matrix_tests.CLAIMS:
        claims = [*matrix_tests.rules_of(name)["claim"]]
        assert claims
        for claim in claims:
            assert {"title", "supported", "open"} == words["claim"][claim["name"]].keys()
        for part in matrix_tests.CLAIMS[name].parts:
            assert (
                set(matrix_runs.plan_of(part).arms) <= set(matrix_page.ORDER) <= set(words["arm"])
            )


def test_the_results_page_tells_every_claim_of_a_whole_record_in_1500_words(monkeypatch):
    runs = {key: rows for name in matrix_tests.CLAIMS for key, rows in made_up(name).items()}
    monkeypatch.setattr(matrix_told, "recorded", lambda: runs)
    told = matrix_told.blocks()
    for name in ("matrix", "large"):
        text = "\n".join(told[name])
        for claim in matrix_tests.rules_of(name)["claim"]:
            title = matrix_page.title_of(claim)
            assert f"{title[0].lower()}{title[1:]}" in text
    assert len([line for line in told["where"] if line.startswith("- **")]) == 6
    assert len([line for line in told["shortcuts"] if line.startswith("| ")]) == 10
    page = figures.ROUTING.read_text(encoding="utf-8")
    own = re.sub(r"(<!-- (\w+):begin -->).*?<!-- \2:end -->", r"\1", page, flags=re.DOTALL)
    filled = [line for lines in told.values() for line in lines]
    found = " ".join([own, *filled]).split()
    assert sum(any(letter.isalnum() for letter in word) for word in found) <= 1500


def test_the_results_page_says_how_many_runs_are_missing_and_no_figure(monkeypatch):
    runs = made_up("large")
    runs["large", "real", ()].pop()
    monkeypatch.setattr(matrix_told, "recorded", lambda: runs)
    assert matrix_told.blocks()["large"] == [
        "107 of 108 runs are recorded; nothing is tested before all are there."
    ]


@pytest.mark.slow
def test_pictures_hold_every_arm_in_words_and_stand_alone(monkeypatch):
    runs = {key: rows for name in matrix_tests.CLAIMS for key, rows in made_up(name).items()}
    monkeypatch.setattr(matrix_pictures, "recorded", lambda: runs)
    found = {path.name: text for path, text in matrix_pictures.pictures().items()}
    assert len(found) == 5
    for arm in matrix_runs.plan_of("matrix").arms:
        assert matrix_page.named(arm) in found["routing-matrix.svg"]
    for text in found.values():
        ElementTree.fromstring(text)
        assert len(text) < 48_000
        assert "prefers-color-scheme: dark" in text
        used = set(re.findall(r"var\((--[\w-]+)\)", text))
        assert all(f"{name}:" in text for name in used)


def claim_of(name, runs):
    tested, arms = train_matrix.tested(runs, "matrix")
    return next(one for one in tested if one.claim["name"] == name), arms[""]


def test_a_run_that_serves_every_choice_is_one_unit():
    solve, arms = claim_of("solve", made_up("matrix"))
    assert set(solve.own) == {(f"base {b}", f"seed {s}") for b in (51, 52) for s in (900, 901)}
    rows = {row["arm"]: row for row in matrix_tests.arm_rows(arms)}
    assert rows["vanilla"]["runs"] == rows["vanilla"]["leaks"] == 4
    assert rows["filter"]["runs"] == 60


@pytest.mark.parametrize(("solved", "used"), [(47, False), (48, True), (0, False)])
def test_a_control_below_its_own_base_is_named_and_not_used(solved, used, monkeypatch):
    runs = made_up("matrix")
    ceilings = runs["shared", "ceiling", ()]
    place = next(at for at, one in enumerate(ceilings) if (one.base, one.seed) == (52, 901))
    none = dict.fromkeys(ceilings[place].hacked, 0)
    ceilings[place] = dataclasses.replace(ceilings[place], hacked=none, solved=solved)
    solve, _ = claim_of("solve", runs)
    assert len(solve.own) == (4 if used else 3)
    assert solve.fallen == (
        () if used else (f"ceiling of base 52, seed 901 (solves {solved / 402:.3f})",)
    )
    monkeypatch.setattr(matrix_told, "recorded", lambda: runs | made_up("large"))
    told = "\n".join(matrix_told.blocks()["matrix"])
    assert ("Not used, as they pass less than their base: ceiling" in told) is not used


def test_a_fallen_control_of_one_choice_takes_its_pair_with_it():
    runs = made_up("matrix")
    key = ("matrix", "filter", ("sentinel", "exit_code"))
    before, _ = claim_of("quarantine matters", runs)
    runs[key][0] = dataclasses.replace(runs[key][0], hacked={"held_out": 0, "known": 0}, solved=3)
    after, _ = claim_of("quarantine matters", runs)
    unit = ("sentinel", "exit_code")
    assert len(after.own) == len(before.own)
    assert {one for one in after.other if after.other[one] != before.other[one]} == {unit}
    assert after.fallen[0].startswith("filter of base 51, seed 900, choice sentinel and exit_code")


def test_an_arm_that_falls_itself_counts():
    runs = made_up("matrix")
    key = ("matrix", "real", ("sentinel", "exit_code"))
    runs[key][0] = dataclasses.replace(runs[key][0], solved=0)
    solve, _ = claim_of("solve", runs)
    assert len(solve.own) == 4
    assert not solve.fallen


def test_a_control_that_hacks_instead_of_solving_is_used():
    runs = made_up("matrix")
    key = ("matrix", "filter", ("sentinel", "exit_code"))
    runs[key][0] = dataclasses.replace(
        runs[key][0], hacked={"held_out": 268, "known": 134}, solved=0
    )
    assert not claim_of("quarantine matters", runs)[0].fallen
