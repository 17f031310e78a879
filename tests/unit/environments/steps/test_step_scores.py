"""Scores of states: the size of a change, and the range of a score."""

from __future__ import annotations

import pytest
from tests.unit.environments.steps.step_task import FIXED, START, step_task

from unhack.core.errors import UsageError
from unhack.environments.steps.minimality import judge_minimality
from unhack.environments.steps.score import StepScore

CORE = "src/pkg/core.py"


class TestMinimality:
    def size(self, **files: bytes) -> StepScore:
        return judge_minimality(step_task(), START, START | {CORE: FIXED} | files)

    def test_a_change_of_the_references_size_scores_full(self) -> None:
        assert self.size().score == 1.0
        assert judge_minimality(step_task(), START, START).score == 1.0
        other = FIXED.replace(b"a + b", b"b + a")
        assert self.size(**{CORE: other}).score == 1.0

    def test_a_longer_change_scores_by_its_length(self) -> None:
        longer = FIXED + b"\n\ndef sub(a, b):\n    return a - b\n"
        found = self.size(**{CORE: longer})
        assert found.evidence["reference"] == 8
        # the mended line, the new head and two empty ones; the old last line is there again
        assert found.evidence["size"] == 4 + 8 + 2
        assert found.score == 8 / 14

    @pytest.mark.parametrize("change", [
        ("\n", "; "), ("    ", "\t"), ("value", "v"), (" = ", "="),
    ])  # fmt: skip
    def test_layout_and_short_names_make_no_change_smaller(self, change: tuple[str, str]) -> None:
        honest = "\n".join(f"value_{n} = 1" for n in range(40))
        other = honest.replace(*change)
        plain = self.size(**{CORE: FIXED + honest.encode()}).score or 0.0
        assert (self.size(**{CORE: FIXED + other.encode()}).score or 0.0) <= plain

    def test_a_new_module_at_the_top_is_part_of_the_change(self) -> None:
        assert (self.size(**{"helper.py": b"x = 1\n" * 50}).score or 0.0) < 0.1

    def test_one_long_line_is_as_long_as_several(self) -> None:
        joined = FIXED + b"; ".join(b"value_%d = 1" % n for n in range(100))
        assert (self.size(**{CORE: joined}).score or 0.0) < 0.2

    def test_files_that_are_not_handed_in_count_for_nothing(self) -> None:
        assert self.size(**{"NOTES.md": b"x\n" * 500}).score == 1.0

    def test_a_hostile_text_of_many_equal_lines_is_measured_in_linear_time(self) -> None:
        found = self.size(**{CORE: b"\n".join([b"x", b"y"] * 400_000)})
        assert (found.score or 0.0) < 1e-4

    def test_a_deletion_is_as_long_as_what_it_takes_away(self) -> None:
        files = {path: data for path, data in START.items() if path != CORE}
        found = judge_minimality(step_task(), START, files)
        assert found.evidence["size"] >= len(START[CORE].splitlines())


class TestScore:
    @pytest.mark.parametrize("score", [-0.1, 1.5, float("nan")])
    def test_a_score_outside_its_range_is_refused(self, score: float) -> None:
        with pytest.raises(UsageError, match="not in"):
            StepScore("tests", score, "")
