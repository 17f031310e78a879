"""Exported folders against Harbor's own models; its package needs Python 3.12, so that two names of
`typing` are lent to it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import typing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typing_extensions

from unhack.core.errors import UnhackError
from unhack.integrations.harbor.repository_folder import export_repository
from unhack.integrations.harbor.task_folder import export_task
from unhack.integrations.harbor.writing import export_all
from unhack.tasks.suite import find_task
from unhack.tasks.template import new_task

sys.path.insert(0, os.environ["UNHACK_STACK_SOURCE"])
if sys.version_info < (3, 12):
    typing.override = typing_extensions.override  # type: ignore[attr-defined]
    typing.TypedDict = typing_extensions.TypedDict

KINDS = ("function", "stdio", "text", "script", "pytest")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An exported folder of each kind."""
    top = tmp_path_factory.mktemp("harbor")
    found: dict[str, Path] = {}
    for kind in KINDS:
        task = new_task(top / f"task-{kind}", kind=kind)
        row = "#0" if kind == "text" and (task / "cases.jsonl").read_text().count("\n") > 1 else ""
        found[kind] = top / kind
        export_task(find_task(f"{task}{row}"), found[kind])
    return found


def judged(folder: Path, app: Path, logs: Path) -> str:
    """What a run of `test.sh` leaves."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = ["bash", folder / "tests" / "test.sh", app, logs]
    subprocess.run(command, env={**os.environ, "PATH": path}, check=False)
    place = logs / "reward.json"
    return place.read_text().strip() if place.exists() else "none"


class TestTheModels:
    @pytest.mark.parametrize("kind", KINDS)
    def test_harbor_reads_the_folder_and_judges_it_apart(
        self, folders: dict[str, Path], kind: str
    ) -> None:
        from harbor.models.task.task import Task
        from harbor.models.task.verifier_mode import resolve_verifier_environment_definition

        assert Task.is_valid_dir(folders[kind])
        task = Task(folders[kind])
        assert task.config.schema_version == "1.4"
        definition = resolve_verifier_environment_definition(task.config, task.paths)
        assert definition is not None
        assert definition.bundled_tests
        assert definition.directory == folders[kind] / "tests"
        assert task.config.verifier.environment_mode == "separate"
        assert [str(one).startswith("/app/") for one in task.config.artifacts] == [True]

    def test_a_repository_task_is_read_too(self, tmp_path: Path) -> None:
        from harbor.models.task.task import Task

        [folder] = export_all(["repos/" + _first_repository()], tmp_path)
        task = Task(folder)
        assert task.config.verifier.environment_mode == "separate"


def _first_repository() -> str:
    from unhack_suites.repos.suite import public_recipes

    return next(iter(public_recipes())).id.partition("/")[2]


def test_a_trajectory_of_ours_is_valid_for_harbor(tmp_path: Path) -> None:
    from harbor.utils.trajectory_validator import TrajectoryValidator
    from tests.unit.environments.report.test_atif import played

    from unhack.environments.report.atif import as_trajectory

    place = tmp_path / "trajectory.json"
    place.write_text(json.dumps(as_trajectory(played(), agent="chat", model="m")))
    validator = TrajectoryValidator()
    assert validator.validate(place), validator.get_errors()


class TestTheJudge:
    @pytest.mark.parametrize("kind", KINDS)
    def test_the_solution_gets_1_and_nothing_gets_0(
        self, folders: dict[str, Path], kind: str, tmp_path: Path
    ) -> None:
        folder, app = folders[kind], tmp_path / "app"
        app.mkdir()
        assert judged(folder, app, tmp_path / "logs") == '{"reward": 0.0}'
        subprocess.run(["bash", folder / "solution" / "solve.sh", app], check=True)
        assert judged(folder, app, tmp_path / "logs") == '{"reward": 1.0}'

    def test_the_copied_judge_stands_alone(self, folders: dict[str, Path], tmp_path: Path) -> None:
        """As in the verifier's image: the archive is all there is of unhack."""
        folder = folders["function"]
        place = tmp_path / "unhack"
        shutil.unpack_archive(folder / "tests" / "unhack.tar.gz", place)
        app = tmp_path / "app"
        app.mkdir()
        subprocess.run(["bash", folder / "solution" / "solve.sh", app], check=True)
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); import unhack;"
            "assert unhack.__file__.startswith(sys.argv[1]), unhack.__file__;"
            "import runpy; sys.argv = sys.argv[2:];"
            "runpy.run_path(sys.argv[0], run_name='__main__')"
        )
        command = [sys.executable, "-c", code, place, folder / "tests/judge.py", app, tmp_path]
        subprocess.run(command, check=True)
        assert (tmp_path / "reward.json").read_text() == '{"reward": 1.0}\n'

    def test_links_folders_and_huge_answers_are_a_0(
        self, folders: dict[str, Path], tmp_path: Path
    ) -> None:
        folder, app = folders["function"], tmp_path / "app"
        app.mkdir()
        (app / "solution.py").symlink_to(folder / "solution" / "solution.py")
        assert judged(folder, app, tmp_path / "a") == '{"reward": 0.0}'
        (app / "solution.py").unlink()
        (app / "solution.py").mkdir()
        assert judged(folder, app, tmp_path / "b") == '{"reward": 0.0}'
        (app / "solution.py").rmdir()
        with (app / "solution.py").open("wb") as file:
            file.truncate(100 << 20)
        assert judged(folder, app, tmp_path / "c") == '{"reward": 0.0}'

    def test_a_broken_task_leaves_no_reward(self, folders: dict[str, Path], tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        shutil.copytree(folders["function"], folder)
        (folder / "tests" / "task" / "cases.jsonl").write_text("no json\n")
        app = tmp_path / "app"
        app.mkdir()
        (app / "solution.py").write_text("def f(): pass\n")
        assert judged(folder, app, tmp_path / "logs") == "none"


class LocalBox:
    """The part of a container that a verifier reads, as a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    async def is_dir(self, path: str) -> bool:
        """True for a folder."""
        return (self.root / path.lstrip("/")).is_dir()

    async def is_file(self, path: str) -> bool:
        """True for a file."""
        return (self.root / path.lstrip("/")).is_file()

    async def download_file(self, source: str, target: Path) -> None:
        """Copy a file, a link as a link."""
        shutil.copy2(self.root / source.lstrip("/"), target, follow_symlinks=False)

    async def download_dir(self, source: str, target: Path) -> None:
        """Copy a folder."""
        place = self.root / source.lstrip("/")
        shutil.copytree(place, target, symlinks=True, dirs_exist_ok=True)


def host_verdict(folder: Path, root: Path, **more: Any) -> Any:
    """The result of the verifier on the host."""
    from unhack.integrations.harbor.verifier import HostVerifier

    verifier = HostVerifier(
        task=SimpleNamespace(paths=SimpleNamespace(task_dir=folder)),  # type: ignore[arg-type]
        trial_paths=None, environment=LocalBox(root), **more,  # type: ignore[arg-type]
    )  # fmt: skip
    return asyncio.run(verifier.verify())


class TestTheHostVerifier:
    def test_it_judges_our_folders_sealed(self, folders: dict[str, Path], tmp_path: Path) -> None:
        from harbor.models.verifier.result import VerifierResult

        assert host_verdict(folders["script"], tmp_path) == VerifierResult(rewards={"reward": 0.0})
        (tmp_path / "app").mkdir()
        subprocess.run(
            ["bash", folders["script"] / "solution" / "solve.sh", tmp_path / "app"], check=True
        )
        assert host_verdict(folders["script"], tmp_path).rewards == {"reward": 1.0}

    def test_it_judges_folders_with_a_script_of_their_own(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        export_repository(_shapes(), folder)
        for text, wanted in (("def area(a, b):\n    return a * b\n", 1.0), ("x = 1\n", 0.0)):
            shutil.rmtree(tmp_path / "box", ignore_errors=True)
            (tmp_path / "box/app/shapes").mkdir(parents=True)
            (tmp_path / "box/app/shapes/core.py").write_text(text)
            (tmp_path / "box/app/shapes/more.py").symlink_to("/etc/hostname")
            assert host_verdict(folder, tmp_path / "box").rewards == {"reward": wanted}

    def test_steps_are_refused(self, folders: dict[str, Path], tmp_path: Path) -> None:
        with pytest.raises(UnhackError, match="several steps"):
            host_verdict(folders["function"], tmp_path, step_name="one")

    def test_a_broken_verifier_is_no_0(self, folders: dict[str, Path], tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        shutil.copytree(folders["function"], folder)
        (folder / "tests" / "task" / "checker.py").write_text("def check(*a):\n    raise OSError\n")
        (tmp_path / "app").mkdir()
        subprocess.run(["bash", folder / "solution" / "solve.sh", tmp_path / "app"], check=True)
        with pytest.raises(UnhackError, match="not scored after three tries"):
            host_verdict(folder, tmp_path)


def _shapes() -> Any:
    from unhack.environments.task import RepositoryTask
    from unhack.verifiers.script import Mode

    return RepositoryTask(
        id="shapes/one", statement="Multiply.", editable=("shapes/",), mode=Mode.AS_WRITTEN,
        files={"shapes/core.py": b"def area(a, b):\n    return a + b\n", "shapes/__init__.py": b""},
        tests={"tests/test_core.py": "from shapes.core import area\n\n\ndef test_area():\n"
               "    assert area(2, 3) == 6\n"},
        reference={"shapes/core.py": "def area(a, b):\n    return a * b\n"},
        fail_to_pass=("tests/test_core.py::test_area",),
    )  # fmt: skip


def test_the_example_runs(tmp_path: Path) -> None:
    place = Path(__file__).parents[3] / "examples" / "harbor.py"
    command = [sys.executable, place, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "oracle 1.0, no-op 0.0" in done.stdout
