"""The edits that weaken a verifier."""

import ast

import pytest

from unhack.audit.hardening.power.candidates import Weakening, weakenings
from unhack.audit.report.flaws import FLAWS
from unhack.audit.subject import Source

REWARD = '''\
import re
LINE = re.compile(r"^Answer: (\\d+)$")
TOL = 1e-6

def reward(completion, answer):
    """The last number."""
    if len(completion) > 400 or "?" in completion:
        return 0.0
    try:
        found = LINE.fullmatch(completion.strip().lower())
    except TypeError:
        return 0.0
    if found is None:
        return 0.0
    same = found.group(1) == answer and found.group(0).count(":") == 1
    near = abs(float(found.group(1)) - float(answer)) < 1e-6
    parts = all(a == b for a, b in zip(completion.split()[-1], answer, strict=True))
    return 1.0 if same and near and parts and type(answer) is str else 0.0
'''


def made(text: str) -> list[Weakening]:
    return weakenings(Source("rewards.py", text))


@pytest.mark.parametrize(
    ("operator", "line", "text"),
    [
        ("drop_head_anchor", 2, "re.compile('Answer: (\\\\d+)$')"),
        ("drop_tail_anchor", 2, "re.compile('^Answer: (\\\\d+)')"),
        ("fullmatch_to_match", 10, "LINE.match("),
        ("fullmatch_to_search", 10, "LINE.search("),
        ("first_for_last", 17, "split()[0]"),
        ("equal_to_in", 15, "(str((answer)) in str((found.group(1))))"),
        ("equal_to_startswith", 15, "str((found.group(1))).startswith(str((answer)))"),
        ("equal_to_endswith", 15, "str((found.group(1))).endswith(str((answer)))"),
        ("set_for_list", 15, "(set((found.group(1))) == set((answer)))"),
        ("at_least_for_count", 15, 'count(":") >= 1'),
        ("widen_tolerance", 3, "TOL = 0.2"),
        ("widen_tolerance", 16, "float(answer)) < 0.2"),
        ("drop_strip", 10, "fullmatch(completion.lower())"),
        ("drop_lower", 10, "fullmatch(completion.strip())"),
        ("subclasses_too", 18, "isinstance(answer, str)"),
        ("drop_and", 18, "1.0 if (same and near and type(answer) is str) else"),
        ("drop_length_check", 7, 'if ("?" in completion):'),
        ("ignore_guard", 13, "if False:"),
        ("any_for_all", 17, "any(a == b"),
        ("zip_not_strict", 17, "strict=False"),
        ("exception_as_success", 12, "except TypeError:\n        return 1.0"),
    ],
)
def test_an_edit_is_made_at_its_line(operator: str, line: int, text: str) -> None:
    found = [one for one in made(REWARD) if one.operator == operator and text in one.text]
    assert [one.line for one in found] == [line]


def test_every_weakened_text_is_a_program_of_its_own_and_names_a_flaw() -> None:
    found = made(REWARD)
    shapes = {ast.dump(ast.parse(one.text)) for one in found}
    assert len(shapes) == len(found) > 60
    assert ast.dump(ast.parse(REWARD)) not in shapes
    assert {one.family for one in found} <= set(FLAWS)


def test_the_first_edits_are_of_as_many_kinds_as_there_are() -> None:
    families = [one.operator for one in made(REWARD)[:12]]
    assert len(set(families)) == 12


def test_an_anchor_that_is_escaped_or_in_a_set_is_none() -> None:
    text = 'import re\n\ndef f(a, b):\n    return re.search(r"[^$]\\$\\\\$", a)\n'
    [found] = [one for one in made(text) if "anchor" in one.operator]
    assert found.operator == "drop_tail_anchor"
    assert r"'[^$]\\$\\\\'" in found.text


def test_a_body_that_may_raise_can_be_taken_for_success() -> None:
    text = "def f(a, b):\n    value = int(a)\n    return value == int(b)\n"
    found = [one for one in made(text) if one.operator == "exception_as_success"]
    [one] = found
    scope: dict[str, object] = {}
    exec(one.text, scope)
    assert scope["f"]("no number", "1") is True  # type: ignore[operator]
    assert scope["f"]("2", "1") is False  # type: ignore[operator]


def test_what_is_no_python_has_no_weakenings() -> None:
    assert made("#!/bin/sh\nif [ -f x ]; then exit 0; fi") == []


def test_lines_count_from_where_the_source_begins() -> None:
    text = "def f(a, b):\n    return a == b\n"
    found = weakenings(Source("rewards.py", text, first_line=11))
    assert {one.line for one in found} == {12}
