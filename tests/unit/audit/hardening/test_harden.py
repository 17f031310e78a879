"""Hardening: the hole is open before and closed after, and right answers still pass."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest

from unhack.audit.hardening.edits import apply
from unhack.audit.hardening.harden import advice, changes
from unhack.audit.subject import Source


def source_of(text: str, entry: str = "score") -> Source:
    return Source("verifier.py", textwrap.dedent(text).lstrip("\n"), entry=entry)


def hardened(source: Source) -> tuple[str, list[str]]:
    """The text after every change, and what the changes are."""
    text, made = source.text, list[str]()
    for _ in range(4):
        text, done = apply(text, changes(Source(source.path, text, entry=source.entry)))
        made += [change.what for change in done]
    return text, made


def run(text: str, *args: object) -> float:
    space: dict[str, Any] = {}
    exec(compile(text, "verifier.py", "exec"), space)
    try:
        return float(space["score"](*args))
    except Exception:
        return 0.0


HOLES: dict[str, tuple[str, tuple[object, ...], tuple[object, ...]]] = {
    "containment": (
        """
        def score(completion, gold):
            # keep this comment
            return 1.0 if gold in completion else 0.0
        """,
        ("1 2 3 4", "3"),
        (" 3\n", "3"),
    ),
    "containment, the other way": (
        """
        def score(completion, gold):
            if completion not in gold:
                return 0.0
            return 1.0
        """,
        ("", "Paris"),
        ("Paris", "Paris"),
    ),
    "the answer as a pattern": (
        """
        import re

        def score(completion, gold):
            return float(bool(re.search(re.escape(gold), completion)))
        """,
        ("not 7", "7"),
        (" 7 ", "7"),
    ),
    "beginning": (
        """
        def score(completion, gold):
            return float(completion.strip().startswith(gold))
        """,
        ("120", "12"),
        ("12", "12"),
    ),
    "end": (
        """
        def score(completion, gold):
            return float(completion[-len(gold):] == gold)
        """,
        ("112", "12"),
        ("12", "12"),
    ),
    "zip": (
        """
        def score(completion, gold):
            said, wanted = completion.split(), gold.split()
            return float(all(a == b for a, b in zip(said, wanted)))
        """,
        ("", "1 2 3"),
        ("1 2 3", "1 2 3"),
    ),
    "zip in a loop": (
        """
        def score(completion, gold):
            for a, b in zip(completion.split(), gold.split()):
                if a != b:
                    return False
            return True
        """,
        ("1", "1 2 3"),
        ("1 2 3", "1 2 3"),
    ),
    "NaN": (
        """
        def score(completion, gold):
            value = float(completion)
            if abs(value - float(gold)) > 1e-6:
                return 0.0
            return 1.0
        """,
        ("nan", "3"),
        ("3.0", "3"),
    ),
    "min": (
        '''
        """A docstring."""
        from __future__ import annotations

        def score(completion, gold):
            return max(0.0, min(1.0, 1 / (1e-9 + abs(float(completion) - float(gold)))))
        ''',
        ("nan", "3"),
        ("3", "3"),
    ),
    "an exception": (
        """
        def score(completion, gold):
            try:
                return float(int(completion) == int(gold))
            except Exception:
                return 1.0
        """,
        ("x", "3"),
        ("3", "3"),
    ),
    "a dropped exception": (
        """
        def score(completion, gold):
            try:
                if int(completion) != int(gold):
                    return False
            except ValueError:
                pass
            return True
        """,
        ("x", "3"),
        ("3", "3"),
    ),
    "a branch": (
        """
        def score(completion, gold):
            if not completion:
                return True
            return completion == gold
        """,
        ("", "3"),
        ("3", "3"),
    ),
    "a gold that cannot be read": (
        """
        def score(completion, gold):
            if not gold.isdigit():
                return 1.0
            return float(completion == gold)
        """,
        ("x", "three"),
        ("3", "3"),
    ),
    "a floor": (
        """
        def score(completion, gold):
            if completion == gold:
                return 1.0
            return 0.1
        """,
        ("x", "3"),
        ("3", "3"),
    ),
    "form": (
        """
        def score(completion, gold):
            reward = 0.0
            if "<answer>" in completion:
                reward += 0.2
            if completion == f"<answer>{gold}</answer>":
                reward += 1.0
            return reward
        """,
        ("<answer>", "3"),
        ("<answer>3</answer>", "3"),
    ),
    "eval": (
        """
        def score(completion, gold):
            return float(eval(completion) == gold)
        """,
        ("gold", [1, 2]),
        ("[1, 2]", [1, 2]),
    ),
    "likeness": (
        """
        from difflib import SequenceMatcher

        def score(completion, gold):
            return float(SequenceMatcher(None, completion, gold).ratio() > 0.8)
        """,
        ("the cat sat on the mat", "the cat sat on the hat"),
        ("the cat", "the cat"),
    ),
    "sets": (
        """
        def score(completion, gold):
            return float(set(completion.split(",")) == set(gold.split(",")))
        """,
        ("1,2", "1,1,2"),
        ("1,1,2", "1,1,2"),
    ),
    "the first of several": (
        """
        import re

        def score(completion, gold):
            found = re.search(r"<answer>(.*?)</answer>", completion)
            return 1.0 if found and found.group(1) == gold else 0.0
        """,
        ("<answer>3</answer> no: <answer>4</answer>", "3"),
        ("so <answer>3</answer>", "3"),
    ),
    "a pattern that takes any part": (
        r"""
        import re

        def score(completion, gold):
            found = re.match(r"(-?\d+)", completion)
            return 1.0 if found and found.group(1) == gold else 0.0
        """,
        ("3 or 4", "3"),
        ("3", "3"),
    ),
    "nothing to check": (
        """
        def score(completion, gold):
            steps = completion.split()
            return float(all(step.isdigit() for step in steps))
        """,
        ("", "3"),
        ("1 2", "3"),
    ),
}


class TestHoles:
    @pytest.mark.parametrize("name", HOLES)
    def test_the_hole_is_closed_and_right_answers_pass(self, name: str) -> None:
        text, wrong, right = HOLES[name]
        source = source_of(text)
        assert run(source.text, *wrong) > 0
        assert run(source.text, *right) > 0
        stricter, made = hardened(source)
        assert made
        assert run(stricter, *wrong) == 0
        assert run(stricter, *right) > 0

    @pytest.mark.parametrize("name", HOLES)
    def test_hardening_again_changes_nothing(self, name: str) -> None:
        text, _ = hardened(source_of(HOLES[name][0]))
        assert changes(source_of(text)) == ()

    def test_a_change_names_its_flaw(self) -> None:
        [change] = changes(source_of(HOLES["zip"][0]))
        assert change.flaw == "zip_truncation"

    def test_the_rest_of_the_text_is_kept(self) -> None:
        source = source_of(HOLES["containment"][0])
        text, made = hardened(source)
        before, after = source.text.splitlines(), text.splitlines()
        assert before[:2] == after[:2]
        assert len(before) == len(after) == 3
        assert "equality" in made[0]

    def test_imports_come_behind_the_docstring_and_the_future(self) -> None:
        text, _ = hardened(source_of(HOLES["min"][0]))
        lines = [line for line in text.splitlines() if line]
        assert lines[:3] == [
            '"""A docstring."""',
            "from __future__ import annotations",
            "import math",
        ]
        assert ast.get_docstring(ast.parse(text)) == "A docstring."

    def test_signs_beyond_ascii_do_not_shift_an_edit(self) -> None:
        text = (
            "def score(completion, gold):\n    'é'; return float(('ü' * 0 + gold) in completion)\n"
        )
        stricter, _ = hardened(Source("v.py", text, entry="score"))
        assert run(stricter, "1 2", "1") == 0
        assert run(stricter, "1", "1") == 1

    def test_items_in_a_batch_that_have_no_partner_count(self) -> None:
        text = """
            def score(completions, answers):
                rewards = []
                for completion, answer in zip(completions, answers):
                    pairs = [a == b for a, b in zip(completion.split(), answer.split())]
                    rewards.append(float(all(pairs)))
                return rewards[0]
            """
        stricter, made = hardened(source_of(text))
        assert any("unpaired items" in one for one in made)
        assert run(stricter, ["1"], ["1 2"]) == 0
        assert run(stricter, ["1 2"], ["1 2"]) == 1

    def test_an_object_that_equals_everything_has_the_wrong_type(self) -> None:
        text = """
            import runpy

            def score(solution_path, expected):
                got = runpy.run_path(solution_path)["solve"]()
                return float(got == expected)
            """
        stricter, made = hardened(source_of(text))
        assert any("exact type" in one for one in made)
        assert "float((type(got) is type(expected) and got == expected))" in stricter


class TestWhatIsLeft:
    @pytest.mark.parametrize(
        "text",
        [
            "def score(completion, gold):\n    return float(completion.strip() == gold)\n",
            "def score(completion, gold):\n    return float(len(completion) > 3)\n",
            "def broken(:\n",
            "",
        ],
    )
    def test_nothing_to_fix_gives_nothing(self, text: str) -> None:
        assert changes(Source("v.py", text, entry="score")) == ()

    def test_a_batch_is_not_left_in_the_middle(self) -> None:
        source = source_of(
            """
            def score(completions, answer):
                rewards = []
                for said, gold in zip(completions, answer):
                    value = float(said)
                    rewards.append(0.0 if abs(value - gold) > 1e-6 else 1.0)
                return rewards
            """
        )
        assert changes(source) == ()

    def test_a_solution_in_process_is_left_and_spoken_of(self) -> None:
        source = source_of(
            """
            import importlib.util

            def score(solution_path, expected):
                spec = importlib.util.spec_from_file_location("solution", solution_path)
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                try:
                    return float(module.solve() == expected)
                except Exception:
                    return 1.0
            """
        )
        [word] = advice(source)
        assert "ScriptVerifier" in word
        text, made = hardened(source)
        assert made
        assert text.count("exec_module") == 1
        assert advice(source_of(HOLES["zip"][0])) == ()
