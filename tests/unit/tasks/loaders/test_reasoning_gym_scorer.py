"""What an answer may make the library evaluate."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest

from unhack.tasks.loaders.reasoning_gym_scorer import (
    guarded_eval,
    guarded_parser,
    is_formula,
    strings_in,
)


@pytest.mark.parametrize(
    "text",
    ["x**2 + 3*x - 1", "-2.5", "3*(4 + 8) / 2", "sin(x) + C", "log(sqrt(x + 1))", " 4*x ", "x^2"],
)
def test_a_formula_is_read(text: str):
    assert is_formula(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').getpid()",
        "open('/etc/passwd')",
        "().__class__.__bases__",
        "x.diff",
        "x[0]",
        "lambda: 1",
        "[x for x in (1,)]",
        "sin('print(1)')",
        "eval(x)",
        "getattr(x, y)",
        "f'{x}'",
        "'text'",
        "(y := 3)",
        "_x",
        "sin(x, evaluate=y)",
        "sin(*x)",
        "1 if x else 2",
        "x; y",
        "x +",
        "",
        "(" * 500,
        "9" * 5000,
        "True",
    ],
)
def test_what_could_run_code_is_no_formula(text: str):
    assert not is_formula(text)


def test_the_guarded_eval_runs_nothing_but_text_of_the_entry(tmp_path: Path):
    hostile = f"__import__('os').mkdir({str(tmp_path / 'made')!r})"
    evaluate = guarded_eval({"3 * 4"})
    assert evaluate("3 * 4") == 12
    assert evaluate("[[1, 0], ['a']]") == [[1, 0], ["a"]]
    for text in (hostile, "3 * 5", " 3 * 4  # x" + hostile):
        with pytest.raises((ValueError, SyntaxError)):
            evaluate(text)
    assert not (tmp_path / "made").exists()


def test_the_guarded_parser_hands_on_formulas_and_text_of_the_entry_only():
    seen: list[str] = []
    parse = guarded_parser(lambda text, **_: seen.append(text), {"f(x).doit()"})
    parse("x + 1", local_dict={})
    parse("f(x).doit()")
    for text in ("g(x)", "x.y", types.SimpleNamespace()):
        with pytest.raises(ValueError, match="formula"):
            parse(text)
    assert seen == ["x + 1", "f(x).doit()"]


def test_a_text_subclass_is_not_taken_for_text():
    class Text(str):
        __slots__ = ()

    with pytest.raises(ValueError, match="formula"):
        guarded_parser(lambda text: text, {"x"})(Text("x"))


def test_the_strings_of_an_entry_are_found_at_any_depth():
    entry: Any = {"a": "1", "b": {"c": ["2", ("3",)], "d": 4}}
    assert strings_in(entry) == {"1", "2", "3"}
