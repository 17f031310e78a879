"""Fixes of single constructs: each is made, and is stricter where it should be."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.audit.hardening.edits import apply
from unhack.audit.hardening.fixes.fixes import fixes
from unhack.audit.subject import Source

CASES: dict[str, tuple[str, str, str, str]] = {
    "a part of a set": ("set(gold.split()) <= set(said.split())", "1 2 3", "2 1", "1 2"),
    "alternatives": ('said == gold or said.startswith("x")', "xyz", "1", "1"),
    "a lower bound of a length": ("said[0] == gold[0] and len(said) >= len(gold)", "12", "1", "1"),
    "tolerance": ("abs(float(said) - float(gold)) < 0.5", "1.2", "1.0", "1"),
    "no number": ("not (abs(float(said) - float(gold)) > 1e-9)", "nan", "1.0", "1"),
    "the last line": ("gold in said.splitlines()", "1\n2", "2\n1", "1"),
    "any mention": ("any(one == gold for one in said.split())", "1 or 2", "it is 1", "1"),
    "no items": ("all(one in gold for one in (lambda x: x)(said.split()))", "", "", ""),
    "case": ("said.lower() == gold.lower()", "MW", "mW", "mW"),
    "truncation": ("int(float(said)) == int(gold)", "1.9", "1.0", "1"),
    "a prefix": ("said.startswith(gold)", "12", "1.0", "1"),
    "evaluation": ("eval(said) == int(gold)", "int(gold)", "1", "1"),
}


def scored(text: str, said: str, gold: str) -> bool:
    space: dict[str, Any] = {}
    exec(compile(text, "verifier.py", "exec"), space)
    try:
        return bool(space["score"](said, gold))
    except (ValueError, TypeError, AttributeError):
        return False


@pytest.mark.parametrize("name", [name for name in CASES if name != "no items"])
def test_some_fix_rejects_the_wrong_and_keeps_the_right(name: str) -> None:
    test, wrong, right, gold = CASES[name]
    text = f"import re\n\n\ndef score(said, gold):\n    # kept\n    return {test}\n"
    assert scored(text, wrong, gold)
    made = [apply(text, [one])[0] for one in fixes(Source("v.py", text, entry="score"))]
    good = [one for one in made if not scored(one, wrong, gold) and scored(one, right, gold)]
    assert good, made
    assert all("# kept" in one for one in good)


def test_keys_must_be_exactly_those_of_the_answer() -> None:
    text = "def score(said, gold):\n    return all(gold[key] == said[key] for key in said)\n"
    made = [apply(text, [one])[0] for one in fixes(Source("v.py", text, entry="score"))]
    assert any("said.keys() == gold.keys() and" in one for one in made)


def test_a_share_is_taken_of_the_longer_of_two_lists() -> None:
    text = (
        "def score(said, gold):\n"
        "    return sum(a == b for a, b in zip(said, gold)) / max(1, len(said))\n"
    )
    made = [apply(text, [one])[0] for one in fixes(Source("v.py", text, entry="score"))]
    assert any("max(1, max(len(said), len(gold)))" in one for one in made)


def test_what_is_no_python_has_no_fixes() -> None:
    assert fixes(Source("v.py", "def broken(:", entry="score")) == ()


MORE: dict[str, tuple[str, str, str, str]] = {
    "another number beside it": ("gold in said", "41 42 43", "42 months", "42"),
    "a sought answer": ('bool(re.search(rf"{re.escape(gold)}(?!\\d)", said))', "1/2", "2", "2"),
    "nothing that ends so": ("gold.endswith(said)", "", "2", "12"),
    "one of five guesses": ("gold in said.split()[:5]", "1 2 3", "2", "2"),
    "a wildcard": ('all(a in ("?", b) for a, b in zip(said, gold))', "??", "ab", "ab"),
    "any of several": ("any(one == gold for one in said.split())", "1 2", "2 2", "2"),
    "the first letter": ("said.split()[0] == gold.split()[0]", "a c", "a b", "a b"),
    "bounds": ("min(said) <= gold <= max(said)", "09", "5", "5"),
    "a distance": ("abs(len(said) - len(gold)) <= 2", "abc", "a", "b"),
    "form and answer": ("0.5 * said.startswith('#') + 0.5 * (gold in said)", "#", "#1", "1"),
    "a set of words": ("set(said.split()) == set(gold.split())", "b a", "a b", "a b"),
    "sorted": ("sorted(said) == sorted(gold)", "21", "12", "12"),
    "closeness": ("max(0.0, 1.0 - (float(said) - float(gold)))", "-5", "1", "1"),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_some_fix_of_parts_or_credit_does_so_too(name: str) -> None:
    test, wrong, right, gold = MORE[name]
    text = f"import re\n\n\ndef score(said, gold):\n    return {test}\n"
    assert scored(text, wrong, gold)
    made = [apply(text, [one])[0] for one in fixes(Source("v.py", text, entry="score"))]
    assert any(not scored(one, wrong, gold) and scored(one, right, gold) for one in made), made


def made_of(text: str) -> list[str]:
    return [apply(text, [one])[0] for one in fixes(Source("v.py", text, entry="score"))]


def test_an_error_takes_back_the_credit_that_stood_before_it() -> None:
    text = (
        "def score(said, gold):\n    passed = True\n    try:\n"
        "        passed = int(said) == int(gold)\n"
        "    except ValueError:\n        pass\n    return passed\n"
    )
    assert any(not scored(one, "x", "1") and scored(one, "1", "1") for one in made_of(text))


def test_a_step_of_form_is_nothing_without_the_answer() -> None:
    text = (
        "def score(said, gold):\n    score = 0.2 * len(said)\n    if gold in said:\n"
        "        score += 1.0\n    return score\n"
    )
    assert any(not scored(one, "xxxxx", "1") and scored(one, "1", "1") for one in made_of(text))


def test_a_loop_over_what_was_said_asks_for_all_of_it() -> None:
    text = (
        "def score(said, gold):\n    for one in said.split():\n"
        "        if one not in gold.split():\n            return False\n    return True\n"
    )
    made = made_of(text)
    assert any(not scored(one, "", "1 2") and scored(one, "2 1", "1 2") for one in made)
    assert any(not scored(one, "2 1", "1 2") and scored(one, "1 2", "1 2") for one in made)


def test_a_pair_is_no_truth_value() -> None:
    text = (
        "def same(said, gold):\n    return said == gold, 'why'\n\n\n"
        "def score(said, gold):\n    return 1.0 if same(said, gold) else 0.0\n"
    )
    assert any(not scored(one, "2", "1") and scored(one, "1", "1") for one in made_of(text))


def test_no_fix_raises_on_an_answer_without_numbers() -> None:
    text = "def score(said, gold):\n    return gold in said\n"
    for one in made_of(text):
        space: dict[str, Any] = {}
        exec(compile(one, "verifier.py", "exec"), space)
        for said in ("", "\u22125", "1e9999", "\\frac{1}{2}", "9" * 400, "no number"):
            space["score"](said, "tortoise")
