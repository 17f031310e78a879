"""The gate: one reading of the final answer, found from what is right."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from unhack.audit.hardening.gate import gate, readings
from unhack.audit.hardening.reading import Hook, Reading, read, right, with_gate
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.problem_rows import read_problems
from unhack.audit.subjects.signatures import detect
from unhack.audit.subjects.target import find_target

BOXED = Reading("\\boxed{", "}")


class TestReading:
    @pytest.mark.parametrize(
        ("text", "how", "answer"),
        [
            ("so \\boxed{42}.", BOXED, "42"),
            ("so \\boxed{\\frac{1}{2}}", BOXED, "\\frac{1}{2}"),
            ("\\boxed{1} or \\boxed{42}", BOXED, None),
            ("\\boxed{42} or 43", BOXED, None),
            ("\\boxed{42} or 43", BOXED._replace(tail=True), "42"),
            ("6 * 7\n#### 42\n", Reading("####"), "42"),
            ("ANSWER: 42", Reading("answer:"), "42"),
            ("Answer: 42\nBye", Reading("answer:", last_line=True), None),
            ("so\nthe sum is: 42", Reading("the sum is:", begins=True), "42"),
            ("wrong: the sum is: 42", Reading("the sum is:", begins=True), None),
            ("it is 42", Reading(only=r"\d+"), "42"),
            ("42 or 43", Reading(only=r"\d+"), None),
            ("", Reading(), None),
            ("  ", Reading(last_line=True), None),
        ],
    )
    def test_there_is_one_final_answer_or_none(
        self, text: str, how: Reading, answer: str | None
    ) -> None:
        assert read(text, how) == answer

    @pytest.mark.parametrize(
        ("said", "answer", "same"),
        [
            ("1,200.0", "1200", True),
            ("-0", "0", True),
            ("-42", "42", False),
            ("٤٢", "42", False),
            ("Paris.", "paris", True),
            ("742", "42", False),
            ("nan", "42", False),
            ("1_2", "12", False),
        ],
    )
    def test_equal_is_what_differs_in_writing_only(
        self, said: str, answer: str, same: bool
    ) -> None:
        assert right(said, answer, [Reading()]) == same

    def test_items_are_compared_as_lists_or_without_order(self) -> None:
        assert right("[b, 'a']", "a, b", [Reading(items="in any order")])
        assert not right("[b, a]", "a, b", [Reading(items="in order")])
        assert not right("[a]", "a, b", [Reading(items="in order")])

    def test_the_first_way_that_reads_anything_decides(self) -> None:
        ways = [BOXED, Reading(only=r"\d+")]
        assert right("it is 42", "42", ways)
        assert not right("\\boxed{7}, not 42", "42", [BOXED._replace(tail=True), ways[1]])


class TestReadings:
    @pytest.mark.parametrize(
        ("texts", "marker"),
        [
            ([("42", "42"), ("7", "7")], ""),
            ([("a\n#### 42", "42"), ("b\n#### 7", "7")], "####"),
            ([("The result is: 42", "42"), ("My result is: x", "x")], "result is:"),
            ([("<r>42</r>", "42"), ("so <r>7</r>", "7")], "<r>"),
        ],
    )
    def test_the_marker_is_found_from_what_is_right(
        self, texts: list[tuple[str, str]], marker: str
    ) -> None:
        [how] = readings(texts)
        assert how.marker == marker
        assert all(right(text, answer, [how]) for text, answer in texts)

    def test_two_forms_give_two_readings(self) -> None:
        ways = readings([("#### 42", "42"), ("It is 7.", "7")])
        assert not right("#### 43, not 42", "42", ways)
        assert right("It is 42.", "42", ways)

    def test_where_no_reading_fits_there_is_none(self) -> None:
        assert readings([("it depends", "42")]) == ()
        assert readings([]) == ()


class TestGated:
    def test_a_single_verifier_sees_only_what_is_right(self) -> None:
        seen: list[str] = []

        def score(solution_str: str, ground_truth: str) -> dict[str, Any]:
            seen.append(solution_str)
            return {"score": 1.0, "acc": True, "pred": "x"}

        strict = with_gate(score, Hook("solution_str", ("ground_truth",)), [Reading()])
        assert strict("42", "42") == {"score": 1.0, "acc": True, "pred": "x"}
        assert strict(solution_str="__import__('os')", ground_truth="42") == {
            "score": 0.0,
            "acc": False,
            "pred": "x",
        }
        assert seen == ["42", ""]

    def test_a_batch_keeps_its_places(self) -> None:
        def score(completions: list[Any], **kwargs: Any) -> list[float]:
            return [1.0 if text else -1.0 for text in completions]

        strict = with_gate(score, Hook("completions", ("answer",), batch=True), [Reading()])
        assert strict(completions=["42", "7 42", "7"], answer=["42", "42", "7"]) == [1, -1, 1]

    def test_messages_and_rows_and_queries_are_read(self) -> None:
        def chat(completions: list[Any], answer: list[str]) -> list[float]:
            return [float(bool(one[0]["content"])) for one in completions]

        def row(answer: str, entry: dict[str, str]) -> float:
            return 1.0

        def queries(queries: list[str], prompts: list[str], labels: list[str]) -> dict[str, Any]:
            return {"rewards": [1.0] * len(queries)}

        hook = Hook("completions", ("answer",), batch=True)
        said = [[{"role": "assistant", "content": text}] for text in ("42", "43")]
        assert with_gate(chat, hook, [Reading()])(said, ["42", "42"]) == [1.0, 0.0]
        hook = Hook("answer", ("entry", "answer"))
        assert with_gate(row, hook, [Reading()])("43", {"answer": "42"}) == 0.0
        hook = Hook("queries", ("labels",), batch=True, prompt="prompts")
        given = with_gate(queries, hook, [Reading()])(["Q 42", "Q 43"], ["Q", "Q"], ["42", "42"])
        assert given == {"rewards": [1.0, 0.0]}

    def test_one_of_several_right_answers_is_enough(self) -> None:
        def score(completion: str, answers: list[str]) -> float:
            return 1.0

        strict = with_gate(score, Hook("completion", ("answers",)), [Reading()])
        assert (strict("b", ["a", "b"]), strict("c", ["a", "b"])) == (1.0, 0.0)

    def test_a_verifier_that_raises_for_the_empty_text_gives_nothing(self) -> None:
        def score(completion: str, answer: str) -> float:
            return float(completion) / 42

        assert with_gate(score, Hook("completion", ("answer",)), [Reading()])("x", "42") == 0.0


class TestText:
    def subject(self, folder: Path, text: str, entry: str = "score") -> FunctionSubject:
        path = folder / "reward.py"
        path.write_text(textwrap.dedent(text))
        rows = folder / "rows.jsonl"
        rows.write_text(json.dumps({"prompt": "x", "answer": "42", "correct": ["#### 42"]}))
        target = find_target(f"{path}:{entry}")
        return FunctionSubject("reward", target, detect(target), read_problems(rows))

    def test_it_stands_alone_behind_the_source(self, tmp_path: Path) -> None:
        text = "def score(completion, answer):\n    return float(answer in completion)\n"
        found = gate(self.subject(tmp_path, text), [("#### 42", "42")])
        assert not isinstance(found, str)
        assert "what follows the only `####`" in found.what
        space: dict[str, Any] = {}
        exec(compile(text + found.text, "reward.py", "exec"), space)
        assert [space["score"](one, "42") for one in ("#### 42", "42", "#### 742")] == [1, 0, 0]
        assert "unhack" not in found.text.replace("unhack audit --fix", "")
        assert {name for name in space if not name.startswith("_")} == {"score"}

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("async def score(completion, answer):\n    return 1.0\n", "plain functions"),
            (
                "from functools import cache\n@cache\ndef score(completion, answer):\n    pass\n",
                "plain func",
            ),
            ("def score(completion):\n    return 1.0\n", "no parameter"),
        ],
    )
    def test_where_it_does_not_fit_it_says_why(self, tmp_path: Path, text: str, why: str) -> None:
        found = gate(self.subject(tmp_path, text), [("#### 42", "42")])
        assert isinstance(found, str)
        assert why in found


class TestAlgebra:
    HOW = Reading(algebra=True)

    @pytest.mark.parametrize(
        ("said", "same"),
        [
            ("\\frac{3}{4}", True),
            ("3/4", True),
            ("0.750", True),
            ("75%", False),
            ("0.75 km", False),
            ("1 - 0.25", False),
            ("0.25 + 0.5", False),
            ("0.7", False),
        ],
    )
    def test_a_number_may_be_written_otherwise_but_not_left_to_be_computed(
        self, said: str, same: bool
    ) -> None:
        pytest.importorskip("math_verify")
        assert right(said, "0.75", [self.HOW]) == same
