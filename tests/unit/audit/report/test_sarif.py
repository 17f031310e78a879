from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.audit.report_sample import HOSTILE, SOURCE, SUFFIX, report

from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import AuditReport
from unhack.audit.report.sarif import sarif
from unhack.core.finding import Place, Severity


def log_of(*findings: Any, root: Path | None = None) -> dict[str, Any]:
    return sarif(report(*findings), source=SOURCE, root=root)


def run_of(log: dict[str, Any]) -> dict[str, Any]:
    [run] = log["runs"]
    return run


def results_of(log: dict[str, Any]) -> list[dict[str, Any]]:
    return run_of(log)["results"]


def complaints(log: dict[str, Any]) -> list[str]:
    """What SARIF 2.1.0 demands of the parts that are used here, and what code scanning does."""
    found: list[str] = []

    def demand(holds: bool, what: str) -> None:
        if not holds:
            found.append(what)

    demand(log.get("version") == "2.1.0", "version")
    demand(str(log.get("$schema", "")).endswith("sarif-2.1.0.json"), "$schema")
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        names = [rule["id"] for rule in rules]
        demand(bool(run["tool"]["driver"]["name"]), "driver.name")
        demand(len(set(names)) == len(names), "rules differ in their ids")
        demand(all(item["executionSuccessful"] in {True, False} for item in run["invocations"]), "")
        for rule in rules:
            demand(bool(rule["shortDescription"]["text"]), "shortDescription")
            demand(bool(rule["fullDescription"]["text"]), "fullDescription")
            demand(bool(rule["help"]["text"] and rule["help"]["markdown"]), "help")
            demand(rule["defaultConfiguration"]["level"] in {"note", "warning", "error"}, "level")
            demand(0 < float(rule["properties"]["security-severity"]) <= 10, "security-severity")
        for result in run["results"]:
            demand(bool(result["message"]["text"]), "message.text")
            demand(names[result["ruleIndex"]] == result["ruleId"], "ruleIndex")
            demand(result["level"] in {"note", "warning", "error"}, "result level")
            demand(all(result["partialFingerprints"].values()), "fingerprints")
            for location in result["locations"]:
                place = location["physicalLocation"]
                uri = place["artifactLocation"]["uri"]
                demand(bool(uri) and " " not in uri and "\\" not in uri, "uri")
                demand(place["region"]["startLine"] >= 1, "startLine")
    return found


@pytest.mark.parametrize("findings", [(), (SUFFIX,), (SUFFIX, HOSTILE, SUFFIX)])
def test_a_log_has_every_field_that_the_format_demands(findings: tuple[Any, ...]) -> None:
    assert complaints(log_of(*findings)) == []


def test_the_check_of_the_format_sees_what_is_missing() -> None:
    log = log_of(SUFFIX)
    results_of(log)[0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    run_of(log)["tool"]["driver"]["rules"][0]["help"]["text"] = ""
    assert complaints(log) == ["help", "startLine"]


def test_there_is_a_rule_for_each_class_and_a_result_for_each_finding() -> None:
    log = log_of(SUFFIX, HOSTILE, replace(SUFFIX, witness="9942"))
    rules = run_of(log)["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["always_equal_object", "suffix_match"]
    assert [one["ruleId"] for one in results_of(log)] == [
        "always_equal_object", "suffix_match", "suffix_match",
    ]  # fmt: skip


def test_a_rule_explains_the_flaw_with_example_and_fix() -> None:
    [rule] = run_of(log_of(SUFFIX))["tool"]["driver"]["rules"]
    flaw = FLAWS["suffix_match"]
    for text in (rule["help"]["text"], rule["help"]["markdown"]):
        assert all(part in text for part in (flaw.wrong, flaw.example, flaw.fix, flaw.case))


@pytest.mark.parametrize(
    ("severity", "level"),
    [
        (Severity.CRITICAL, "error"),
        (Severity.HIGH, "error"),
        (Severity.MEDIUM, "warning"),
        (Severity.LOW, "note"),
    ],
)
def test_the_severity_decides_the_level(severity: Severity, level: str) -> None:
    log = log_of(replace(SUFFIX, severity=severity))
    assert results_of(log)[0]["level"] == level
    assert run_of(log)["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"] == level


def test_a_result_points_at_the_line_of_the_verifier() -> None:
    [result] = results_of(log_of(SUFFIX))
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "rewards/sums.py"}
    assert place["region"] == {
        "startLine": 7, "snippet": {"text": "if answer.endswith(ground_truth):"},
    }  # fmt: skip


def test_a_finding_without_a_line_points_at_the_function_that_scores() -> None:
    [result] = results_of(log_of(replace(SUFFIX, place=None)))
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4


def test_a_finding_without_any_source_still_has_a_name_for_its_place() -> None:
    log = sarif(report(replace(SUFFIX, place=None)))
    assert results_of(log)[0]["locations"] == [
        {"logicalLocations": [{"name": "row 0", "kind": "module"}]}
    ]


def test_paths_are_relative_below_the_root_and_urls_elsewhere(tmp_path: Path) -> None:
    inside, outside = tmp_path / "a b" / "sums.py", tmp_path.parent / "other.py"
    uris = []
    for path in (inside, outside):
        place = Place(str(path), 3, "x")
        [result] = results_of(log_of(replace(SUFFIX, place=place), root=tmp_path))
        uris.append(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
    assert uris == ["a%20b/sums.py", outside.as_uri()]


def prints_of(made: AuditReport) -> list[str]:
    results = results_of(sarif(made, source=SOURCE))
    return [value for one in results for value in one["partialFingerprints"].values()]


def test_a_fingerprint_outlives_another_witness_and_another_line_number() -> None:
    assert SUFFIX.place is not None
    moved = replace(SUFFIX, witness="0042", place=replace(SUFFIX.place, line=70), score=2.0)
    assert prints_of(report(SUFFIX)) == prints_of(report(moved))


def test_fingerprints_differ_with_the_flaw_and_with_the_line() -> None:
    other_line = replace(SUFFIX, place=Place("rewards/sums.py", 7, "if answer[-2:] == truth:"))
    made = report(SUFFIX, replace(SUFFIX, flaw="prefix_match"), other_line, SUFFIX)
    assert len(set(prints_of(made))) == 4


def test_the_witness_is_a_property_and_stands_in_the_message_without_control_characters() -> None:
    [result] = results_of(log_of(HOSTILE))
    assert result["properties"]["witness"] == HOSTILE.witness
    assert result["message"]["text"].isprintable()
    assert "\\u202e" in result["message"]["text"]


def test_a_witness_cannot_become_a_link_in_the_message() -> None:
    [result] = results_of(log_of(replace(SUFFIX, witness="[press](http://x.example)")))
    assert "](" not in result["message"]["text"]


def test_infinite_scores_and_half_characters_are_still_json() -> None:
    log = log_of(replace(SUFFIX, score=float("inf"), witness="\ud800"))
    text = json.dumps(log, allow_nan=False)
    assert results_of(json.loads(text))[0]["properties"]["score"] == "inf"


def test_what_was_tried_stands_in_the_properties_of_the_run() -> None:
    properties = run_of(log_of())["properties"]
    assert properties["conclusion"] == "sound"
    assert (properties["problems"], properties["calls"]) == (12, 812)
    assert len(properties["tried"]) == 3


def test_a_full_description_is_made_of_whole_sentences() -> None:
    [rule] = run_of(log_of(SUFFIX))["tool"]["driver"]["rules"]
    flaw, text = FLAWS[rule["id"]], rule["fullDescription"]["text"]
    assert text.startswith(f"{flaw.title}. ")
    assert text.endswith(flaw.fix)
    assert ".." not in text.replace("...", "")
