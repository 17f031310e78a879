"""Commits without tests: calls that tell both sides apart become tests, or it is said why."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.unit.environments.sources.mining.repositories import START, Project

from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.sources.mining.calls import find_calls, near_calls
from unhack.environments.sources.mining.commit_parts import (
    CommitLimits,
    CommitSkippedError,
    take_apart,
)
from unhack.environments.sources.mining.miner import MinedCommit, MiningSettings, mine
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.git_objects import GitObjects
from unhack.verifiers.script import Mode

CORE = '''def _pad(text, width):
    return text.ljust(width)


def label(text, width=8):
    """Pad a text.

    >>> label("ab", 4)
    'ab  '
    """
    return _pad(text, width)


def area(a, b):
    return a * b


class Box:
    def __init__(self, *rows):
        self.rows = rows

    @classmethod
    def of(cls, text):
        return cls(*text.split())

    def shown(self, mark="-"):
        return mark.join(_pad(row, 3) for row in self.rows)
'''
FIXED = CORE.replace("text.ljust(width)", "text.rjust(width)")
TESTS = """from shapes.core import Box, area, label


def test_all():
    assert area(3, 5) == 15
    box = Box("a", "b")
    assert box.shown("+")
    assert Box.of("x y").shown()
"""


def project(top: Path, fixed: str | None = FIXED) -> Project:
    made = Project(top / "shapes")
    made.commit({**START, "shapes/core.py": CORE, "tests/test_core.py": TESTS,
                 "shapes/__init__.py": ""})  # fmt: skip
    made.commit({"shapes/core.py": fixed})
    return made


def mined(made: Project) -> MinedCommit:
    async def work() -> MinedCommit:
        settings = MiningSettings(most_commits=1, generate=True)
        [found] = [one async for one in mine(made.folder, settings=settings)]
        return found

    return asyncio.run(work())


def test_calls_are_read_from_code_docs_and_tests_and_varied(tmp_path: Path) -> None:
    made = project(tmp_path)
    with GitObjects(made.folder) as git:
        [commit] = git.commits("HEAD", most=1)
        with pytest.raises(CommitSkippedError, match="no test file is changed"):
            take_apart(git, commit, limits=CommitLimits())
        parts = take_apart(git, commit, limits=CommitLimits(), untested=True)
    calls = find_calls(parts)
    found = {text for module, text in calls if module == "shapes.core"}
    assert {"area(3, 5)", "label('ab', 4)", "Box('a', 'b').shown('+')",
            "Box.of('x y').shown()"} <= found  # fmt: skip
    assert "label('AB', 4)" in found
    assert not [text for text in found if text.startswith("_pad")]
    assert ("shapes.core", "area(4, 5)") in near_calls([("shapes.core", "area(3, 5)")])
    assert calls == find_calls(parts)


@pytest.mark.slow
def test_a_fix_without_tests_becomes_a_sealed_task(tmp_path: Path) -> None:
    found = mined(project(tmp_path))
    task = found.task
    assert task is not None, found.skipped
    assert task.mode is Mode.SEALED
    assert task.facts["generated"] is True
    assert len(task.fail_to_pass) >= 2
    text = "\n".join(task.tests.values())
    assert "rjust" not in task.statement
    assert "shapes.core." in task.statement
    shown = [line for line in task.statement.splitlines() if line.startswith("- `shapes.core.")]
    calls = [line.partition("`shapes.core.")[2].partition("` ")[0] for line in shown]
    assert calls
    assert not [call for call in calls if f"assert {call} ==" in text]
    assert scores(task, FIXED, CORE, CORE.replace("return a * b", "return a + b")) == [1, 0, 0]


def scores(task: RepositoryTask, *sources: str) -> list[float | None]:
    """The outcomes of some versions, steps paid by a split of the generated tests."""

    async def main() -> list[float | None]:
        async with RepositoryWorkshop(slots=1, rewards=StepRewards(progress=0.5)) as workshop:
            assert await workshop.check(task) == ""
            episodes = [workshop.begin(task) for _ in sources]
            ends: list[float | None] = []
            for episode, source in zip(episodes, sources, strict=True):
                first = await episode.step(("write", {"path": "shapes/core.py", "text": source}))
                assert "progress" in first.process
                outcome = (await episode.step(("submit", {}))).outcome
                ends.append(outcome.score if outcome is not None else None)
            return ends

    return asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fixed", "reason"),
    [
        (CORE.replace("return a * b", "return b * a"), "0 of [0-9]+ calls tell the sides apart"),
        (
            CORE.replace("return a * b", "import random\n    return random.random()"),
            "tell the sides",
        ),
        (CORE.replace("return a * b", "import time\n    return time.tzname"), "tell the sides"),
        (CORE.replace("return a * b", "while True: pass"), "tell the sides"),
        (CORE.replace("return a * b", "import os\n    os._exit(0)"), "tell the sides"),
        ("import nowhere\n" + FIXED, "No module named 'nowhere'"),
        (FIXED.split("def area")[0].replace("label", "_label"), "no call of what it changes"),
    ],
    ids=["the same", "random", "the zone", "endless", "ends", "no import", "private"],
)
def test_a_commit_for_which_nothing_is_found_says_so(
    tmp_path: Path, fixed: str, reason: str
) -> None:
    found = mined(project(tmp_path, fixed))
    assert found.task is None
    assert re.search(reason, found.skipped), found.skipped
