"""Harbor folders as tasks. `environments.judges.script_judge` grades them.

    task = read_harbor(Path("task"))

    task.toml            limits, `artifacts`: what is handed to the judge
    instruction.md       the text that the agent reads
    environment/         a Dockerfile, a docker-compose.yaml of one service, or the image's name in
                         task.toml
    solution/solve.sh    the reference
    tests/test.sh        writes /logs/verifier/reward.txt or reward.json
    tests/Dockerfile     the judge's own image, where `environment_mode` is "separate"

A Dockerfile that only copies files needs no image: this host's programs stand for those of FROM.
The judge always starts from fresh files, whatever the mode.

Covered: `/app` or another WORKDIR, `/tests`, `/logs` and `/solution` as absolute paths; a reward
between 0 and 1; variables of the environment, the verifier and the solution.
Not covered, and refused by name: several steps, several services, what has to keep running
(healthcheck, mcp_servers), GPUs, Windows, variables of this host.
Source: the Harbor documentation, task structure and separate verifier.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import TaskError
from unhack.environments.sources.loaders.dockerfile import NeedsImageError, read_dockerfile
from unhack.environments.sources.loaders.task_image import (
    COMPOSE,
    TaskImage,
    read_compose,
    read_environ,
)
from unhack.sandbox.images.source import ImageSource
from unhack.sandbox.limits import MIB
from unhack.sandbox.workspace.states import WorkspaceState

OWN = ".harbor"
"""Folder of a workspace of this host that stands for /tests, /logs and /solution."""
_LOGGED = "logs/artifacts"
ODD_INPUT = (ValueError, OverflowError, RecursionError, AttributeError, TypeError, OSError)
"""The errors that input of a strange shape causes in those who read it."""
_MOST_REWARD = 64 * 1024


@dataclass(frozen=True, slots=True)
class HarborTask:
    """A task of a Harbor folder.

    Example:

        read_harbor(Path("tasks/hello")).artifacts       # ("out", "hello.txt")
    """

    id: str
    statement: str
    files: Mapping[str, bytes]
    """The start state of a task without an image, relative to `workdir`."""
    workdir: str
    """Absolute path of the workspace in the agent's eyes, such as `/app`; / with an image."""
    artifacts: tuple[str, ...]
    """Paths handed to the judge, relative to `workdir`; a folder stands for the files below it, and
    one that is empty for all."""
    tests: Mapping[str, bytes]
    """The judge's folder, with `test.sh`."""
    solution: Mapping[str, bytes]
    """The reference's folder, with `solve.sh`; empty for none."""
    timeout_s: float = 600.0
    """Wall seconds of `test.sh`."""
    image: TaskImage | None = None
    """None where this host's programs do."""
    needs: str = ""
    """Why it has an image."""
    judge_image: TaskImage | None = None
    """That of the tests; None where they run in that of the agent."""
    memory_bytes: int = 2048 * MIB
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of `test.sh`, beside the image's."""
    solution_environ: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def dev_tests(self) -> Mapping[str, str]:
        """No tests: a folder has none by which steps could be paid."""
        return {}

    @property
    def declared(self) -> tuple[str, ...]:
        """The declared paths; none where all is handed in."""
        return () if self.artifacts == ("",) else self.artifacts

    def may_change(self, path: str) -> bool:
        """True for a path that is handed to the judge."""
        return any(one in ("", path) or path.startswith(f"{one}/") for one in self.artifacts)


def read_harbor(folder: Path) -> HarborTask:
    """The task of a folder. Raises TaskError naming what is missing or not supported."""
    try:
        return _read(folder)
    except ODD_INPUT as error:
        raise TaskError(f"{folder} cannot be read: {type(error).__name__}: {error}") from None


def _read(folder: Path) -> HarborTask:
    settings = _settings(folder / "task.toml")
    tests = _files(folder / "tests")
    if settings.get("steps"):
        raise TaskError(f"{folder}/task.toml: tasks of several steps are not supported")
    image, needs, files, workdir = _environment(folder, settings)
    verifier = _table(settings, "verifier")
    apart = verifier.get("environment_mode") == "separate" or "environment" in verifier
    own = _judge_image(folder, verifier, image) if apart else None
    if "test.sh" not in tests and own is None:
        raise TaskError(f"{folder}: there is no tests/test.sh")
    timeout = verifier.get("timeout_sec", 600.0)
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not 0 < timeout < 1e6:
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
        artifacts=_artifacts(settings, folder, workdir, in_image=image is not None)
        or ((_LOGGED,) if apart and image else ("",)),
        tests=tests,
        solution=_files(folder / "solution"),
        timeout_s=float(timeout),
        image=image,
        needs=needs,
        judge_image=own,
        memory_bytes=_memory(_table(settings, "environment"), folder),
        environ=read_environ(_table(verifier, "env"), f"{folder}/task.toml: verifier.env"),
        solution_environ={
            key: str(one) for key, one in _table(_table(settings, "solution"), "env").items()
        },
    )


def _environment(
    folder: Path, settings: Mapping[str, Any]
) -> tuple[TaskImage | None, str, dict[str, bytes], str]:
    """(image, why there is one, start files, working directory)."""
    table = _table(settings, "environment")
    for name in ("healthcheck", "mcp_servers", "gpus"):
        if table.get(name):
            raise TaskError(f"{folder}/task.toml: environment.{name} is not supported here")
    if table.get("os") == "windows":
        raise TaskError(f"{folder}/task.toml: environment.os is windows")
    place = folder / "environment"
    given = ImageSource(place, name=str(table.get("docker_image") or ""))
    build_s = _number(table.get("build_timeout_sec"), 600.0)
    environ = read_environ(_table(table, "env"), f"{folder}/task.toml: environment.env")
    image = TaskImage(given, build_s=build_s, environ=environ)
    if (place / COMPOSE).is_file():
        return read_compose(place / COMPOSE, image), COMPOSE, {}, "/"
    if given.name:
        return image, f"docker_image is {given.name}", {}, "/"
    try:
        workdir, files = read_dockerfile(place)
    except NeedsImageError as error:
        return image, str(error), {}, "/"
    if environ:
        return image, "environment.env", {}, "/"
    return None, "", files, workdir


def _judge_image(
    folder: Path, verifier: Mapping[str, Any], image: TaskImage | None
) -> TaskImage | None:
    """The image of a separate verifier: its own, or a fresh one of the agent's."""
    table = _table(verifier, "environment")
    name = str(table.get("docker_image") or "")
    if (folder / "tests" / COMPOSE).is_file():
        raise TaskError(f"{folder}/tests/{COMPOSE}: a compose file of tests is not supported")
    has_file = (folder / "tests" / "Dockerfile").is_file()
    if not name and not has_file:
        return None
    if image is None:
        raise TaskError(f"{folder}: the tests have an image of their own and the agent has none")
    environ = read_environ(_table(table, "env"), f"{folder}/task.toml: verifier.environment.env")
    source = ImageSource(folder / "tests" if has_file else None, name=name)
    return TaskImage(
        source, build_s=_number(table.get("build_timeout_sec"), 600.0), environ=environ
    )


def _memory(table: Mapping[str, Any], folder: Path) -> int:
    """Bytes of `memory_mb`, or of the older `memory`, such as "2G"."""
    text = str(table.get("memory") or "").strip().upper()
    if text:
        unit = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}.get(text[-1])
        try:
            size = int(float(text[:-1]) * (unit or math.nan))
        except (ValueError, OverflowError):
            size = 0
    else:
        size = int(min(_number(table.get("memory_mb"), 2048.0), 1e9))
    if not 0 < size <= 1 << 20:
        raise TaskError(f"{folder}/task.toml: the memory of the environment is no size up to 1 TiB")
    return size * MIB


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
    settings: Mapping[str, Any], folder: Path, workdir: str, *, in_image: bool
) -> tuple[str, ...]:
    """Declared paths, relative to the workspace, or to the root directory of an image."""
    given = settings.get("artifacts", [])
    if not isinstance(given, list):
        raise TaskError(f"{folder}/task.toml: artifacts is no list")
    found: list[str] = []
    for one in cast("list[Any]", given):
        source = cast("dict[str, Any]", one).get("source") if isinstance(one, dict) else one
        if not isinstance(source, str) or not source:
            raise TaskError(f"{folder}/task.toml: an artifact is neither a path nor has a source")
        path = "/".join(part for part in source.split("/") if part != ".").rstrip("/") or "/"
        if path.startswith(f"/{_LOGGED}") and not in_image:
            path = f"{workdir}/{OWN}{path}"
        inside = in_image or path == workdir or path.startswith(f"{workdir}/")
        if in_image and not path.startswith("/"):
            raise TaskError(f"{folder}/task.toml: the artifact {source} is no absolute path")
        if (path.startswith("/") and not inside) or ".." in path.split("/"):
            raise TaskError(f"{folder}/task.toml: the artifact {source} is not below {workdir}")
        found.append(path.removeprefix(workdir).strip("/"))
    return tuple(found)


def _files(folder: Path) -> dict[str, bytes]:
    """The regular files below a folder; none where there is no folder."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }


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
