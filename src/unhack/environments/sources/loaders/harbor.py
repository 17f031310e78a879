"""Harbor and Terminal-Bench folders: read, and graded apart from where the agent worked.

    task = read_harbor(Path("task"))
    state = pool.states.load(task.files)              # the agent's workspace
    verdict = await HarborJudge(task).outcome(state)

    task.toml            limits, `artifacts`: what is handed to the judge
    instruction.md       the text that the agent reads
    environment/         a Dockerfile of FROM, WORKDIR and COPY, and what it copies
    solution/solve.sh    the reference
    tests/test.sh        writes /logs/verifier/reward.txt or reward.json

A folder's own `environment_mode` is not looked at: the judge always starts from fresh files. It
lays the declared artefacts that are regular files onto them, then its tests, and runs `test.sh` in
a sandbox of its own, without network. The reward is read from what that run has left, alone.

Covered: `/app` or another WORKDIR, `/tests`, `/logs` and `/solution` as absolute paths; a reward
between 0 and 1; no reward, or one that is no number, is a 0 unless the solution (without one, the
untouched start) gets none either; a declared folder is handed over whole, so that a file that is
gone from it is gone; hooks of pytest and of the interpreter are left out unless a path names them.
Not covered: a Dockerfile that does more than copy needs its image (`environments.image_judge`);
several steps, sidecars; code of the artefacts that forges a reward inside the judge's run, which
tests that import it cannot rule out: the verdict is marked weaker.
Source: the Harbor documentation, task structure and separate verifier.
"""

from __future__ import annotations

import json
import math
import shlex
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import TaskError
from unhack.core.verdict import Seal, Status, Verdict, unscored_verdict
from unhack.environments.sources.loaders.dockerfile import NeedsImageError, read_dockerfile
from unhack.sandbox.job import TIME_LIMITS
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command, CommandResult
from unhack.sandbox.workspace.layers import read_stored
from unhack.sandbox.workspace.states import WorkspaceState
from unhack.sandbox.workspace.tree import StoredFile

SOLUTION = ".solution"
"""Folder of an agent's workspace that `/solution` leads to; only a solver puts something there."""
_PLACE = ".harbor"
"""Folder of the judge's workspace that stands for `/tests`, `/logs` and `/solution`."""
_LINKED = ("tests", "logs", "solution")
_HOOKS = frozenset({
    "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", ".pytest.ini", "tox.ini",
    "setup.cfg", "pyproject.toml", ".bashrc", ".profile", ".bash_profile",
})  # fmt: skip
_HOOK_ENDS = (".pyc", ".pyo", ".pth", ".egg-link")
_HOOK_FOLDERS = frozenset({"__pycache__", ".git", ".pytest_cache"})
_RUNNERS = sys.stdlib_module_names | {"pytest", "_pytest", "pluggy", "iniconfig", "packaging"}
_MOST_FILES = 2000
_MOST_BYTES = 32 * MIB
_MOST_REWARD = 64 * 1024


@dataclass(frozen=True, slots=True)
class HarborTask:
    """A task of a Harbor folder."""

    id: str
    statement: str
    files: Mapping[str, bytes]
    """The start state, relative to `workdir`."""
    workdir: str
    """Absolute path of the workspace in the agent's eyes, such as `/app`."""
    artifacts: tuple[str, ...]
    """Paths handed to the judge, relative to `workdir`; a folder stands for the files below it."""
    tests: Mapping[str, bytes]
    """The judge's folder, with `test.sh`."""
    solution: Mapping[str, bytes]
    """The reference's folder, with `solve.sh`; empty for none."""
    timeout_s: float = 600.0
    """Wall seconds of `test.sh`."""
    environment: Path | None = None
    """The folder whose Dockerfile makes its image; None where this host's programs do."""
    build_s: float = 1800.0
    """Seconds that making the image may take."""
    memory_bytes: int = 2048 * MIB
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of `test.sh`, beside the image's."""

    @property
    def dev_tests(self) -> Mapping[str, str]:
        """No tests: a folder has none by which steps could be paid."""
        return {}

    @property
    def declared(self) -> tuple[str, ...]:
        """The declared paths of a task with an image, relative to its root directory."""
        return () if self.artifacts == ("",) else self.artifacts

    def may_change(self, path: str) -> bool:
        """True for a path that is handed to the judge."""
        return self.declares(path) and not _is_hook(path, self)

    def declares(self, path: str) -> bool:
        """True for a path that is handed to the judge."""
        return path.partition("/")[0] != _PLACE and any(
            one in ("", path) or path.startswith(f"{one}/") for one in self.artifacts
        )


class HarborJudge:
    """Judges states of one task, each in fresh files."""

    def __init__(self, task: HarborTask) -> None:
        """Raises TaskError for a task that needs its image (`environments.image_judge`)."""
        refuse_image(task)
        self.task = task
        links = [(f"/{name}", f"/workspace/{_PLACE}/{name}") for name in _LINKED]
        if task.workdir != "/workspace":
            links.append((task.workdir, "/workspace"))
        self._pool = CommandPool(slots=1, links=tuple(links))
        wall = task.timeout_s
        self._limits = Limits(
            wall_s=wall, cpu_s=wall, memory_bytes=1024 * MIB, processes=128, open_files=256,
            file_bytes=32 * MIB, output_bytes=64 * 1024, disk_bytes=128 * MIB,
        )  # fmt: skip
        self._right: Verdict | None = None

    def close(self) -> None:
        """End the sandbox."""
        self._pool.close()

    async def outcome(self, state: WorkspaceState) -> Verdict:
        """The verdict on a state: its artefacts, laid onto fresh files."""
        found = artifacts_of(self.task, state)
        if found is None:
            most = f"more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB"
            return self._verdict(0.0, f"the artefacts are {most}", Status.INVALID)
        verdict = await self._graded(found)
        if verdict.scored:
            return verdict
        control = await (self.reference() if self.task.solution else self._untouched())
        if control.scored:
            return self._verdict(0.0, f"{verdict.reason}; a control gets a reward")
        return verdict

    async def progress(self, state: WorkspaceState) -> Verdict | None:
        """None: a folder has no tests by which steps could be paid."""
        del state
        return None

    async def left_out(self, state: WorkspaceState) -> Mapping[str, str]:
        """The paths that are not handed in of a state, with the reasons."""
        changed = (path for path, one in state.changes().items() if isinstance(one, StoredFile))
        return {path: "a hook, or not declared" for path in changed
                if not self.task.may_change(path)}  # fmt: skip

    async def _untouched(self) -> Verdict:
        """The verdict on the start state."""
        start = self._pool.states.load(self.task.files)
        return await self._graded(artifacts_of(self.task, start) or {})

    async def reference(self) -> Verdict:
        """The verdict on the folder's own solution, run once in a fresh workspace.

        Raises TaskError where the folder has none."""
        if self._right is None:
            self._right = await self._graded(await self.solved() or {})
        return self._right

    async def solved(self) -> dict[str, bytes] | None:
        """The artefacts that the folder's own solution leaves in a fresh workspace; None for too
        much of them.

        Raises TaskError where the folder has none."""
        if not self.task.solution:
            raise TaskError(f"{self.task.id}: there is no solution/solve.sh")
        files = {**self.task.files, **_below("solution", self.task.solution)}
        start = self._pool.states.load(files)
        command = Command(("bash", f"{_PLACE}/solution/solve.sh"))
        _, after = await self._pool.run(start, command, limits=self._limits)
        return artifacts_of(self.task, after)

    async def _graded(self, artifacts: Mapping[str, bytes]) -> Verdict:
        """Unscored where `test.sh` has left no reward."""
        kept = {
            path: data
            for path, data in self.task.files.items()
            if not self.task.declares(path) or _is_hook(path, self.task)
        }
        files = {**kept, **artifacts, **_below("tests", self.task.tests)}
        files[f"{_PLACE}/logs/verifier/.keep"] = b""
        files[f"{_PLACE}/logs/artifacts/.keep"] = b""
        start = self._pool.states.load(files)
        command = Command(("bash", f"{_PLACE}/tests/test.sh"))
        result, after = await self._pool.run(start, command, limits=self._limits)
        if result.limit:
            status = Status.TIMEOUT if result.limit in TIME_LIMITS else Status.LIMIT
            return self._verdict(0.0, f"the tests hit the limit {result.limit}", status)
        reward, reason = read_reward(after, f"{_PLACE}/logs/verifier")
        if reward is None:
            return unscored_verdict(f"{reason} ({_end_of(result)})")
        return self._verdict(reward, "" if reward == 1.0 else f"the reward is {reward:g}")

    def _verdict(self, score: float, reason: str, status: Status | None = None) -> Verdict:
        known = Status.PASSED if score == 1.0 else Status.FAILED
        details: dict[str, Any] = {"mode": "graded apart", "artifacts": list(self.task.artifacts)}
        return Verdict(status or known, score, reason, seal=Seal.AS_WRITTEN, details=details)


def refuse_image(task: HarborTask) -> None:
    """Raise TaskError for a task that needs its image, where only this host's programs are."""
    if task.environment is None:
        return
    try:
        read_dockerfile(task.environment)
    except NeedsImageError as error:
        raise TaskError(
            f"{error}; only episodes are played and judged in one: `unhack env build`, then"
            " `unhack env run`"
        ) from None


def artifacts_of(task: HarborTask, state: WorkspaceState) -> dict[str, bytes] | None:
    """The regular files of a state at or below the declared paths; None for too much of them."""
    found = {
        path: one
        for path, one in state.tree.files().items()
        if task.declares(path) and not _is_hook(path, task)
    }
    if len(found) > _MOST_FILES or sum(one.size for one in found.values()) > _MOST_BYTES:
        return None
    return {path: read_stored(one) for path, one in found.items()}


def _is_hook(path: str, task: HarborTask) -> bool:
    """True for a file that a test runner or an interpreter obeys by its name, unless declared."""
    if path in task.artifacts:
        return False
    *folders, name = path.split("/")
    shadows = not folders and name.removesuffix(".py") in _RUNNERS and path not in task.files
    return (
        shadows or name in _HOOKS or name.endswith(_HOOK_ENDS)
        or not _HOOK_FOLDERS.isdisjoint(folders)
    )  # fmt: skip


def read_harbor(folder: Path) -> HarborTask:
    """The task of a folder. Raises TaskError naming what is missing or not supported."""
    settings = _settings(folder / "task.toml")
    tests = _files(folder / "tests")
    if "test.sh" not in tests:
        raise TaskError(f"{folder}: there is no tests/test.sh")
    if settings.get("steps"):
        raise TaskError(f"{folder}/task.toml: tasks of several steps are not supported")
    environment: Path | None = folder / "environment"
    try:
        workdir, files = read_dockerfile(folder / "environment")
        environment = None
    except NeedsImageError:
        workdir, files = "/", {}
    verifier = _table(settings, "verifier")
    timeout = verifier.get("timeout_sec", 600.0)
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not timeout > 0:
        raise TaskError(f"{folder}/task.toml: verifier.timeout_sec is no positive number")
    try:
        statement = (folder / "instruction.md").read_text()
    except (OSError, UnicodeDecodeError):
        raise TaskError(f"{folder}: there is no instruction.md that can be read") from None
    name = _table(settings, "task").get("name") or folder.resolve().name
    return HarborTask(
        id=str(name),
        statement=statement,
        files=files,
        workdir=workdir,
        artifacts=_artifacts(settings, folder, workdir, whole=environment is not None),
        tests=tests,
        solution=_files(folder / "solution"),
        timeout_s=float(timeout),
        environment=environment,
        build_s=_number(_table(settings, "environment").get("build_timeout_sec"), 1800.0),
        memory_bytes=int(_number(_table(settings, "environment").get("memory_mb"), 2048.0)) * MIB,
        environ={name: str(one) for name, one in _table(verifier, "env").items()},
    )


def _number(value: Any, otherwise: float) -> float:
    fine = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if fine else otherwise


def _settings(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise TaskError(f"{path} is not there") from None
    except (OSError, ValueError) as error:
        raise TaskError(f"{path}: {error}") from None


def _table(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = settings.get(name, {})
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _artifacts(
    settings: Mapping[str, Any], folder: Path, workdir: str, *, whole: bool
) -> tuple[str, ...]:
    """Declared paths, relative to the workspace; the whole of it where none is declared. With
    `whole` that is the root directory of an image."""
    given = settings.get("artifacts", [])
    if not isinstance(given, list):
        raise TaskError(f"{folder}/task.toml: artifacts is no list")
    found: list[str] = []
    for one in cast("list[Any]", given):
        source = cast("dict[str, Any]", one).get("source") if isinstance(one, dict) else one
        if not isinstance(source, str) or not source:
            raise TaskError(f"{folder}/task.toml: an artifact is neither a path nor has a source")
        path = source.rstrip("/")
        inside = whole or path == workdir or path.startswith(f"{workdir}/")
        if whole and not path.startswith("/"):
            raise TaskError(f"{folder}/task.toml: the artifact {source} is no absolute path")
        if (path.startswith("/") and not inside) or ".." in path.split("/"):
            raise TaskError(f"{folder}/task.toml: the artifact {source} is not below {workdir}")
        found.append(path.removeprefix(workdir).strip("/"))
    return tuple(found) or ("",)


def _files(folder: Path) -> dict[str, bytes]:
    """The regular files below a folder; none where there is no folder."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }


def _below(name: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{_PLACE}/{name}/{path}": data for path, data in files.items()}


def read_reward(state: WorkspaceState, place: str) -> tuple[float | None, str]:
    """The reward that a judge's run has written below a folder, or why there is none."""
    for name in ("reward.txt", "reward.json"):
        data = state.read(f"{place}/{name}", max_bytes=_MOST_REWARD)
        if data is None:
            continue
        try:
            value: Any = json.loads(data)
        except ValueError:
            return None, f"{name} holds no number"
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            value = fields.get("reward", next(iter(fields.values()), None))
        if not isinstance(value, int | float) or not math.isfinite(value):
            return None, f"{name} holds no number"
        return min(1.0, max(0.0, float(value))), ""
    return None, "the tests wrote no reward"


def _end_of(result: CommandResult) -> str:
    lines = (result.stderr or result.stdout).strip().splitlines()
    return f"exit code {result.exit_code}" + (f": {shlex.quote(lines[-1][:160])}" if lines else "")
