"""Build, lint and types, asked inside the sandbox: honest files, bad ones, hostile ones."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil

import pytest
from tests.unit.environments.steps.step_task import FIXED, START, step_task

from unhack.environments.steps.build import judge_build
from unhack.environments.steps.lint import find_ruff, judge_lint
from unhack.environments.steps.score import StepScore, arun_judge, run_judge
from unhack.environments.steps.typing_errors import judge_types
from unhack.sandbox.pool.pool import Pool

CORE = "src/pkg/core.py"
needs_ruff = pytest.mark.skipif(not find_ruff(), reason="ruff is not installed")
needs_pyright = pytest.mark.skipif(
    importlib.util.find_spec("pyright") is None or not shutil.which("node", path="/usr/bin"),
    reason="pyright, or node under /usr, is not installed",
)


class TestBuild:
    def build(self, pool: Pool, files: dict[str, bytes]) -> StepScore:
        return run_judge(judge_build(step_task(), START, START | files), pool)

    @pytest.mark.parametrize(
        "data",
        [
            FIXED,
            b"",
            b"\xef\xbb\xbfx = 1\n",
            b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
            b"match x:\n    case [1, *_]: ...\n",
            b"x = 1\r\ny = 2\r\n",
            b"async def f():\n    async with a() as b, c():\n        yield b\n",
            b"x = '\\d'\n",
            "größe = 1\n".encode(),
        ],
    )
    def test_what_python_takes_builds(self, pool: Pool, data: bytes) -> None:
        assert self.build(pool, {CORE: data}).score == 1.0

    @pytest.mark.parametrize(
        "data",
        [
            b"def f(:\n",
            b"x = 1\n  y = 2\n",
            b"return 1\n",
            b"x = '\xe9'\n",
            b"x = 1\x00\n",
            b"# coding: no-such-codec\nx = 1\n",
            b"(" * 100_000,
            b"x = " + b"-" * 200_000 + b"1\n",
            b"[" * 80 + b"lambda: " * 5000 + b"1" + b"]" * 80,
            b"x = " + b"f(" * 5000 + b")" * 5000 + b"\n",
            b"x = " + b"1 + " * 300_000 + b"1\n",
        ],
    )
    def test_what_python_refuses_or_dies_of_does_not_build(self, pool: Pool, data: bytes) -> None:
        found = self.build(pool, {CORE: data})
        assert found.score == 0.0
        assert list(found.evidence["problems"]) == [CORE]

    def test_a_file_that_kills_the_compiler_hides_no_other(self, pool: Pool) -> None:
        deadly = b"x = " + b"f(" * 100_000
        files = {"src/a.py": deadly, "src/b.py": b"x = 1\n", "src/c.py": b"def (\n"}
        assert list(self.build(pool, files).evidence["problems"]) == ["src/a.py", "src/c.py"]

    def test_files_that_never_compiled_and_were_left_alone_count_for_nothing(
        self, pool: Pool
    ) -> None:
        assert self.build(pool, {CORE: FIXED}).score == 1.0

    def test_a_printed_line_of_a_files_name_forges_nothing(self, pool: Pool) -> None:
        files = {'src/a\n[0, ""]\n.py': b"def (\n"}
        assert self.build(pool, files).score == 0.0

    def test_the_same_judge_runs_beside_an_event_loop(self, pool: Pool) -> None:
        judge = judge_build(step_task(), START, START | {CORE: b"def (\n"})
        assert asyncio.run(arun_judge(judge, pool)).score == 0.0


@needs_ruff
class TestLint:
    def lint(self, pool: Pool, files: dict[str, bytes]) -> StepScore:
        return run_judge(judge_lint(step_task(), START, START | files), pool)

    def test_findings_of_the_start_are_nobodys_fault(self, pool: Pool) -> None:
        assert self.lint(pool, {CORE: FIXED}).score == 1.0
        moved = b"# a comment\n\n" + FIXED
        assert self.lint(pool, {CORE: moved}).score == 1.0

    def test_new_findings_lower_the_score_by_their_number(self, pool: Pool) -> None:
        found = self.lint(pool, {CORE: FIXED + b"import sys, re\n\nprint(undefined)\n"})
        assert found.score == pytest.approx(1 / 4)
        assert {rule for _, rule, _ in found.evidence["new"]} == {"F401", "F821"}

    @pytest.mark.parametrize(
        "files",
        [
            {CORE: FIXED + b"import sys  # noqa\n"},
            {CORE: b"# ruff: noqa\n" + FIXED + b"import sys\n"},
            {CORE: b"# flake8: noqa\n" + FIXED + b"import sys\n"},
            {
                CORE: FIXED + b"import sys\n",
                "ruff.toml": b"lint.ignore = ['F401']\n",
                "src/ruff.toml": b"lint.ignore = ['F401']\n",
                "pyproject.toml": b"[tool.ruff]\nexclude = ['*']\n",
                ".gitignore": b"*.py\n",
            },
        ],
    )
    def test_a_silenced_finding_is_found_all_the_same(
        self, pool: Pool, files: dict[str, bytes]
    ) -> None:
        assert self.lint(pool, files).score == 0.5

    def test_a_mended_finding_costs_nothing(self, pool: Pool) -> None:
        assert self.lint(pool, {CORE: FIXED.removeprefix(b"import os\n\n\n")}).score == 1.0

    @pytest.mark.slow
    def test_a_syntax_error_and_a_deep_nest_are_findings_or_a_zero(self, pool: Pool) -> None:
        assert (self.lint(pool, {CORE: b"def (\n"}).score or 0.0) <= 0.5
        assert (self.lint(pool, {CORE: b"x = " + b"(" * 200_000}).score or 0.0) <= 0.5


def test_a_tool_that_is_not_installed_is_told_and_not_scored(pool: Pool) -> None:
    for judge in (judge_lint, judge_types):
        found = run_judge(judge(step_task(), START, START | {CORE: FIXED}, program=""), pool)
        assert found.score is None
        assert "pip install" in found.reason


@needs_pyright
@pytest.mark.slow
class TestTypes:
    def types(self, pool: Pool, files: dict[str, bytes]) -> StepScore:
        return run_judge(judge_types(step_task(), START, START | files), pool)

    @pytest.mark.sample
    def test_right_types_and_unknown_imports_are_no_errors(self, pool: Pool) -> None:
        extra = b"import not_installed\n\nx: int = add(1, 2)\ny = not_installed.z\n"
        assert self.types(pool, {CORE: FIXED + extra}).score == 1.0

    def test_errors_are_found_across_files_and_silence_counts_for_nothing(self, pool: Pool) -> None:
        user = b"from pkg.core import add\n\nx: str = add(1, 2)  # type: ignore\n"
        more = b"# pyright: basic, reportGeneralTypeIssues=false\n" + user + b"add('a', 'b')\n"
        found = self.types(
            pool, {"src/pkg/user.py": more, "pyrightconfig.json": b'{"exclude": ["**"]}'}
        )
        assert found.score == pytest.approx(1 / 4)
        assert {path for path, _, _ in found.evidence["new"]} == {"src/pkg/user.py"}
