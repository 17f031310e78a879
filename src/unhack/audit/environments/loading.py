"""The environment that a user's target names.

    environment_of("repos")                       a suite, `repos:SEED`, a task's id or folder
    environment_of("tasks.py:make")               a function that returns RepositoryTask objects
    environment_of("harbor-task")                 a folder with tests/test.sh: its own grader
    environment_of("1_matmul.py")                 a KernelBench problem
    environment_of("rows.jsonl")                  SWE-bench rows, the clones beside the file
    environment_of("repos", grader="log.py:parse")    graded by a log that a function parses

Covered: what is an environment is told from the target alone, without running anything of it.
A folder's image has to be there, or is built where a `builder` is given.
Not covered: a folder of several Harbor folders. A function of tasks runs in this process, as it
does in a trainer; graders and log parsers run in the sandbox.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unhack.audit.environments.attacks.kernels import KERNEL_ATTACKS
from unhack.audit.environments.attacks.named_files import named_file_attacks
from unhack.audit.environments.foreign.grader import EpisodeEnd, ForeignGrader, LogParser, Reading
from unhack.audit.environments.in_image import task_in_image
from unhack.audit.environments.runner import EnvironmentSubject
from unhack.audit.subjects.target import find_target
from unhack.core.errors import UnhackError, UsageError
from unhack.environments.episode import COMMAND_LIMITS
from unhack.environments.sources.loaders.harbor import HarborTask, read_harbor
from unhack.environments.sources.loaders.kernelbench import is_kernelbench, kernelbench_task
from unhack.environments.sources.loaders.swebench import load_swebench
from unhack.environments.suites import find_repository_tasks, is_repository_suite
from unhack.environments.task import RepositoryTask
from unhack.sandbox.images.build import TIMEOUT_S, ImageBuilder
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import shell

_ROWS = (".jsonl", ".json")
_LOG_SCRIPT = """
export PYTHONPATH="src:.:$PYTHONPATH"
git checkout -q -f $(cat /dev/shm/base) -- {known} 2>/dev/null
cp -r /tests/. tests/
python3 -m pytest -q -rA {files}
"""
_SETUP = """
git init -q . && git config user.name base && git config user.email base@localhost
git add -A && git commit -qm base && git rev-parse HEAD > /dev/shm/base
"""


def is_environment(target: str) -> bool:
    """True for a target that `environment_of` takes."""
    path = Path(target)
    if path.is_dir():
        return (path / "tests" / "test.sh").is_file() or (path / "task.json").is_file()
    if is_repository_suite(target) or is_kernelbench(path):
        return True
    if path.suffix in _ROWS and path.is_file():
        return True
    return ":" in target and _returns_tasks(target)


def environment_of(
    target: str | Path, *, grader: str | None = None, builder: ImageBuilder | None = None
) -> EnvironmentSubject:
    """The tasks of a target and what grades them; `builder` makes the images of a folder.

    Raises UsageError for a target that is none, TaskError for a folder whose image is not built,
    BuildError where it cannot be, SandboxUnavailableError.
    """
    target, path = str(target), Path(target)
    if (path / "tests" / "test.sh").is_file():
        if grader is not None:
            raise UsageError(f"{target} has a grader of its own: tests/test.sh")
        folder = read_harbor(path)
        if folder.image is not None:
            return _in_image(target, folder, builder)
        if builder is not None:
            raise UsageError(f"{target} has no image to build")
        task = asyncio.run(_task_of(folder))
        tests = dict(folder.tests)
        own = ForeignGrader(
            "tests/test.sh", "bash /tests/test.sh", Reading.REWARD_FILE, files=tests,
            missing=EpisodeEnd.UNSCORED, grader_s=min(folder.timeout_s, 60.0),
            workdir=folder.workdir,
        )  # fmt: skip
        attacks = named_file_attacks(task, base=folder.workdir, given=folder.files.__contains__)
        return EnvironmentSubject(target, (task,), own, attacks=attacks)
    if builder is not None:
        raise UsageError(f"{target} has no image to build")
    if path.suffix in _ROWS and path.is_file():
        tasks = _of_rows(path)
    elif is_kernelbench(path):
        return EnvironmentSubject(target, (kernelbench_task(path),), attacks=KERNEL_ATTACKS)
    elif ":" in target and not is_repository_suite(target):
        tasks = _made(target)
    else:
        tasks = tuple(find_repository_tasks(target))
    return EnvironmentSubject(target, tasks, log_grader(grader, tasks) if grader else None)


def log_grader(target: str, tasks: tuple[RepositoryTask, ...]) -> ForeignGrader:
    """The grader that lays the tests over the workspace, as SWE-bench does, and parses the log with
    the function FILE.py:FUNCTION. Raises UsageError."""
    place, _, function = target.rpartition(":")
    if not place.endswith(".py") or not Path(place).is_file():
        raise UsageError(f"--grader: {target} is not FILE.py:FUNCTION of a log parser")
    hidden = sorted({path for task in tasks for path in task.tests})
    known = " ".join(sorted({path.split("/")[0] for path in hidden}))
    script = _LOG_SCRIPT.format(known=known, files=" ".join(hidden))
    parser = LogParser(Path(place).read_text(encoding="utf-8"), function)
    return ForeignGrader(target, script, Reading.LOG, setup=_SETUP, parser=parser)


def _of_rows(path: Path) -> tuple[RepositoryTask, ...]:
    """The tasks of SWE-bench rows, whose clones lie beside the file. Raises UsageError with the
    first reason where no row can be used."""
    loaded = load_swebench(path, clones=path.parent)
    if not loaded.tasks:
        reasons = "; ".join(f"{one.where}: {one.reason}" for one in loaded.refused[:3])
        raise UsageError(f"{path}: no row can be used: {reasons or 'it has none'}")
    return loaded.tasks


def _returns_tasks(target: str) -> bool:
    """True where the function's return type names RepositoryTask."""
    try:
        found = find_target(target)
        tree = ast.parse(found.module.text)
    except (UnhackError, SyntaxError):
        return False
    name = target.rpartition(":")[2]
    return any(
        isinstance(node, ast.FunctionDef)
        and node.name == name
        and node.returns is not None
        and "RepositoryTask" in ast.unparse(node.returns)
        for node in tree.body
    )


def _made(target: str) -> tuple[RepositoryTask, ...]:
    """The tasks that a function returns."""
    place, _, name = target.rpartition(":")
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        if spec is None or spec.loader is None:
            raise UsageError(f"{place} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    make: Callable[[], Any] = getattr(module, name)
    tasks = tuple(make())
    if not all(isinstance(one, RepositoryTask) for one in tasks):
        raise UsageError(f"{target} returned something other than RepositoryTask objects")
    return tasks


def _in_image(target: str, folder: HarborTask, builder: ImageBuilder | None) -> EnvironmentSubject:
    """The subject of a folder with an image, which is made where a builder is given."""
    for wanted in filter(None, (folder.image, folder.judge_image) if builder else ()):
        assert builder is not None
        builder.make(wanted.source, timeout_s=max(wanted.build_s, TIMEOUT_S))
    images = builder.store if builder else ImageStore()
    task, attacks = asyncio.run(task_in_image(folder, images))
    return EnvironmentSubject(target, (task,), folder=folder, images=images, attacks=attacks)


async def _task_of(folder: HarborTask) -> RepositoryTask:
    """A folder's task with what its solution changes as the reference."""
    links = ((folder.workdir, "/workspace"),) if folder.workdir != "/workspace" else ()
    async with CommandPool(slots=1, links=links) as pool:
        start = pool.states.load(folder.files)
        solution = {f".solution/{path}": data for path, data in folder.solution.items()}
        if "solve.sh" not in folder.solution:
            raise UsageError(
                f"{folder.id}: solution/solve.sh is missing, so there is no reference solution"
            )
        before = pool.states.edited(start, solution)
        _, after = await pool.run(before, shell("bash .solution/solve.sh"), limits=COMMAND_LIMITS)
        files = {path: after.read(path) or b"" for path in after.tree.files()}
    changed: dict[str, str | None] = {
        path: data.decode(errors="surrogateescape")
        for path, data in files.items()
        if not path.startswith(".solution/") and folder.files.get(path) != data
    }
    changed |= {path: None for path in folder.files if path not in files}
    if not changed:
        raise UsageError(f"{folder.id}: solution/solve.sh changes nothing")
    editable = {path.split("/")[0] + "/" if "/" in path else path for path in changed}
    return RepositoryTask(
        id=folder.id,
        statement=folder.statement,
        files=folder.files,
        editable=tuple(sorted(editable)),
        tests={path: data.decode(errors="replace") for path, data in folder.tests.items()},
        reference=changed,
        fail_to_pass=("test.sh::reward",),
    )
