"""An exported task is a Harbor folder that loads again and judges as the task does."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.unit.environments.sources.mining.repositories import FIX_TESTS, FIXED, START

from unhack.core.errors import UsageError
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.judges.script_judge import ScriptJudge
from unhack.environments.judging import RepositoryJudge
from unhack.environments.sources.loaders.harbor import read_harbor
from unhack.environments.task import RepositoryTask
from unhack.integrations.harbor.repository_folder import export_repository
from unhack.verifiers.script import Mode

TASK = RepositoryTask(
    id="shapes/one",
    statement="The area is a sum.",
    files={path: text.encode() for path, text in START.items()} | {"run.sh": b"#!/bin/sh\n"},
    editable=("shapes/",),
    tests={"tests/test_core.py": FIX_TESTS},
    reference={"shapes/core.py": FIXED},
    fail_to_pass=("tests/test_core.py::test_area",),
    pass_to_pass=("tests/test_core.py::test_two",),
    executable=frozenset({"run.sh"}),
    mode=Mode.AS_WRITTEN,
)


def test_the_folder_holds_the_task_and_shows_no_hidden_test(tmp_path: Path) -> None:
    export_repository(TASK, tmp_path / "out")
    task = read_harbor(tmp_path / "out")
    assert (task.id, task.statement.strip()) == (TASK.id, TASK.statement)
    assert task.files == dict(TASK.files)
    assert task.artifacts == ("shapes",)
    assert task.solution["files/shapes/core.py"].decode() == FIXED
    assert task.tests["hidden/tests/test_core.py"].decode() == FIX_TESTS
    assert os.access(tmp_path / "out/environment/files/run.sh", os.X_OK)
    with pytest.raises(UsageError, match="not empty"):
        export_repository(TASK, tmp_path / "out")


@pytest.mark.sample
@pytest.mark.slow
def test_the_loaded_folder_judges_as_the_task_does(tmp_path: Path) -> None:
    export_repository(TASK, tmp_path / "out")
    exit_early = "import os\nos._exit(0)\n"
    skip = "import pytest\npytest.skip(allow_module_level=True)\n"
    submissions = (
        {"shapes/core.py": FIXED}, {"shapes/core.py": START["shapes/core.py"]},
        {"shapes/core.py": FIXED.replace("*", "-")}, {"shapes/core.py": exit_early},
        {"shapes/core.py": skip}, {"shapes/core.py": FIXED, "tests/test_core.py": "broken("},
    )  # fmt: skip

    async def work() -> list[tuple[float | None, float | None]]:
        mine, folder = RepositoryJudge(TASK), read_harbor(tmp_path / "out")
        async with RepositoryWorkshop(slots=1) as workshop:
            theirs, episode = workshop.judge(folder), workshop.begin(folder)
            assert isinstance(theirs, ScriptJudge)
            assert await theirs.check() == ""
            store = episode.parts.commands.states
            states = [
                store.edited(episode.state, {path: text.encode() for path, text in one.items()})
                for one in submissions
            ]
            return [
                ((await mine.outcome(one)).score, (await theirs.outcome(one)).score)
                for one in states
            ]

    found = asyncio.run(work())
    assert found == [(1.0, 1.0), *[(0.0, 0.0)] * 4, (1.0, 1.0)]
