"""Diagnostic edits name what a line does wrong: each closes its hole, and keeps the right
answer."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.audit.hardening.diagnosis.diagnostic_edits import DiagnosticEdit, diagnostic_edits
from unhack.audit.subject import Source

CASES: dict[str, tuple[str, str, str]] = {
    "substring_match": ("return float(gold in said)", "1 or 42", "42"),
    "many_attempts": ("return float(any(one == gold for one in said.split()))", "1 42", "42"),
    "many_attempts in a loop": (
        "for one in said.split():\n        if one == gold:\n            return 1.0\n    return 0.0",
        "1 42 7",
        "42",
    ),
    "prefix_match": ("return float(said.startswith(gold))", "421", "42"),
    "suffix_match": ("return float(said.endswith(gold))", "142", "42"),
    "one_sided_comparison": ("return float(int(said) <= int(gold))", "0", "42"),
    "order_ignored": ("return float(sorted(said) == sorted(gold))", "24", "42"),
    "string_truthiness": ("return float(bool(said) == bool(gold))", "x", "42"),
    "over_normalisation": ("return float(int(float(said)) == int(gold))", "42.9", "42"),
    "sign_lost": ("return float(abs(int(said)) == abs(int(gold)))", "-42", "42"),
    "loose_tolerance": ("return float(abs(int(said) - int(gold)) < 3)", "43", "42"),
    "eval_of_completion": ("return float(eval(said) == int(gold))", "int(gold)", "42"),
    "zip_truncation": ("return float(all(a == b for a, b in zip(said, gold)))", "4", "42"),
    "near_miss_credit": (
        "same = sum(a == b for a, b in zip(said, gold)) / 2\n"
        "    return 1.0 if same >= 0.5 else 0.0",
        "41",
        "42",
    ),
    "fail_open_exception": (
        "try:\n        return float(int(said) == int(gold))\n"
        "    except ValueError:\n        return 1.0",
        "x",
        "42",
    ),
    "format_credit": (
        'tags = 0.5 * said.count("<think>")\n    right = float(gold in said)\n'
        "    return tags + right",
        "<think><think>",
        "42",
    ),
    "fail_open_gold": (
        "given = None if said == '?' else said\n    want = gold if gold != '?' else None\n"
        "    return float(given == want or given == '42')",
        "?",
        "42",
    ),
}


def scored(text: str, said: str, gold: str) -> float | None:
    space: dict[str, Any] = {}
    exec(compile(text, "verifier.py", "exec"), space)
    try:
        return float(space["score"](said, gold))
    except (ValueError, TypeError, AttributeError):
        return None


def closing(body: str, wrong: str, right: str, gold: str) -> list[DiagnosticEdit]:
    text = f"def score(said, gold):\n    {body}\n"
    rewarded = scored(text, wrong, gold)
    assert rewarded is not None
    assert rewarded >= 1.0
    kept = scored(text, right, "42")
    return [
        one
        for one in diagnostic_edits(Source("v.py", text, entry="score"))
        if (scored(one.text, wrong, gold) or 0.0) < rewarded
        and scored(one.text, right, "42") == kept
    ]


@pytest.mark.parametrize("case", list(CASES))
def test_a_fix_that_closes_the_hole_names_its_class_first(case: str) -> None:
    body, wrong, right = CASES[case]
    flaw = case.partition(" ")[0]
    gold = "?" if flaw == "fail_open_gold" else "42"
    found = closing(body, wrong, right, gold)
    assert flaw in [one.flaws[0] for one in found], found


def test_what_is_done_alike_in_several_places_is_undone_in_all() -> None:
    body = (
        "said, gold = list(said), list(gold)\n"
        "    said.sort()\n    gold.sort()\n    return said == gold"
    )
    found = closing(body, "24", "42", "42")
    assert [one.flaws[0] for one in found] == ["order_ignored"]
    assert len(found[0].spans) == 3


def test_a_source_that_is_no_python_has_no_fixes() -> None:
    assert diagnostic_edits(Source("v.py", "def (", entry="score")) == []


def test_only_a_statement_that_ran_is_worth_a_trial() -> None:
    text = (
        "LIMIT = 0.5\n\n\ndef score(a, b):\n    if a:\n        return a in b\n    return b in a\n"
    )
    made = [one for one in diagnostic_edits(Source("v.py", text)) if one.what == "equality"]
    found = {one.line: one for one in made if len(set(one.spans)) == 1}
    assert found[6].may_matter(frozenset({5, 6}))
    assert not found[7].may_matter(frozenset({5, 6}))
    assert found[7].may_matter(frozenset())
