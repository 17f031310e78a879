r"""Forms of right completions, from sources and prompts alone."""

from __future__ import annotations

import ast

import pytest

from unhack.audit.subjects.inputs.written_forms import fill, forms_in, separators_in


@pytest.mark.parametrize(
    ("source", "form"),
    [
        (r"re.search(r'<final>\s*(-?\d+)\s*</final>', t)", "<final>{answer}</final>"),
        (r"re.findall(r'```sql\s*(.*?)```', t, re.S)", "```sql\n{answer}```"),
        (r"re.search(r'Date:\s*(\d{4})-(\d\d)-(\d\d)', t)", "Date:{answer}"),
        (r"re.match(r'(?:Total|Sum) = (\S+)', t)", "Total = {answer}"),
        (
            r"re.match(r'<think>(.*?)</think><answer>(.*?)</answer>', t)",
            "<think>It can be worked out.</think><answer>{answer}</answer>",
        ),
        ("t.split('Result:')[-1]", "Result: {answer}"),
        ("t.split('<sum>')[-1]", "<sum>{answer}</sum>"),
        ("'Score =' in t", "Score = {answer}"),
        ("json.loads(t)['total']", '{"total": {json}}'),
    ],
)
def test_a_form_is_read_out_of_a_source(source: str, form: str) -> None:
    assert form in forms_in(ast.parse(source), "How many?", {})


@pytest.mark.parametrize(
    ("prompt", "form"),
    [
        ("When? Reply 'Date: YYYY-MM-DD'.", "Date: {answer}"),
        ("Put it in <result> tags.", "<result>{answer}</result>"),
        ("End with Answer: <letter>", "Answer: {answer}"),
    ],
)
def test_a_form_is_read_out_of_a_prompt(prompt: str, form: str) -> None:
    assert form in forms_in(ast.parse(""), prompt, {})


def test_groups_take_the_columns_that_they_match() -> None:
    tree = ast.parse(r"re.search(r'(-?\d+\.\d+)\s*(?:±|in)\s*(\d+)\s*([a-z]+)', t)")
    [form] = [one for one in forms_in(tree, "", {"ref": 2.5, "unit": "s"}) if "column:" in one]
    assert fill(form, "", {"ref": 2.5, "unit": "s"}) == "2.5±1s"


def test_an_answer_that_is_json_stays_json_in_its_form() -> None:
    assert fill('{"x": {json}}', '{"a": 1}', {}) == '{"x": {"a": 1}}'
    assert fill('{"x": {json}}', "Rome", {}) == '{"x": "Rome"}'


def test_separators_are_those_at_which_a_source_splits() -> None:
    tree = ast.parse("t.split('>'); re.split(r'[,;]', t); t.rsplit('|', 1); t.split('a sentence')")
    assert separators_in(tree) == [">", ",", ";", "|"]


@pytest.mark.parametrize(
    ("pattern", "forms"),
    [
        ("(", []),
        ("(a{2000})(b)", ["{answer}b", "{answer}", "It can be worked out.{answer}"]),
        ("(?P<x>a)(?P=x)", ["{answer}"]),
        (r"\d+", []),
        ("(a)" * 9, []),
    ],
)
def test_an_odd_pattern_gives_what_can_be_written_and_no_error(
    pattern: str, forms: list[str]
) -> None:
    found = forms_in(ast.parse(f"re.search({pattern!r}, t)"), "", {})
    assert sorted(found) == sorted(forms)
