"""The image of a task, and compose files of one service, which say more of it.

    image = read_compose(Path("environment/docker-compose.yaml"), TaskImage(ImageSource(folder)))

Covered: `build` with a context within the folder, a Dockerfile, a stage and arguments; `image`;
`environment` as a list or a table; `working_dir`; `${NAME:-text}` for text.
Not covered: several services, which are refused by name; `command`, `entrypoint` and `healthcheck`,
since nothing runs between commands; `user` and mounts.
Source: the Compose Specification, services and build.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import TaskError
from unhack.sandbox.images.source import ImageSource
from unhack.sandbox.workspace.image_root import ImageRoot

COMPOSE = "docker-compose.yaml"
_NAME = re.compile(r"[^=\0]{1,400}")
_VARIABLE = re.compile(r"\$\{(\w{1,64})(?::?-([^}]{0,400}))?\}")


@dataclass(frozen=True, slots=True)
class TaskImage:
    """An image, and the settings of a task over its own.

    Example:

        TaskImage(ImageSource(name="python:3.12"), environ={"LANG": "C.UTF-8"}).over(root).workdir
    """

    source: ImageSource
    build_s: float = 600.0
    """Seconds that making it may take."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    workdir: str = ""
    """Absolute; empty for the image's own."""

    def over(self, root: ImageRoot) -> ImageRoot:
        """The root directory with these settings."""
        environ = {**root.environ, **self.environ}
        return replace(root, environ=environ, workdir=self.workdir or root.workdir)


def read_compose(path: Path, image: TaskImage) -> TaskImage:
    """The image of the only service. Raises TaskError for another file."""
    try:
        import yaml  # an extra: few folders have such a file
    except ImportError:
        raise TaskError(f"{path} is read by PyYAML: `pip install pyyaml`") from None
    try:
        found: Any = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise TaskError(f"{path}: {error}") from None
    services = _table(_table(found).get("services"))
    if len(services) != 1:
        names = ", ".join(map(str, services)) or "none"
        raise TaskError(f"{path}: one service is supported, and there are: {names}")
    service = _table(next(iter(services.values())))
    workdir = _text(service, "working_dir", path)
    if workdir and (not workdir.startswith("/") or ".." in workdir.split("/")):
        raise TaskError(f"{path}: working_dir {workdir} is no absolute path")
    environ = read_environ(_table(service.get("environment")), f"{path}: environment")
    return replace(
        image,
        source=_source(path, service, image.source),
        environ={**image.environ, **environ},
        workdir=workdir or image.workdir,
    )


def _source(path: Path, service: Mapping[str, Any], given: ImageSource) -> ImageSource:
    """The source of a service's image: its `build`, or else its `image`, or the folder's own."""
    build = service.get("build")
    if build is None:
        name = _text(service, "image", path)
        return ImageSource(name=name) if name and "${" not in name else given
    table = {"context": build} if isinstance(build, str) else _table(build)
    context = _text(table, "context", path) or "."
    if "${" in context:  # Harbor's own name of the folder
        context = "."
    dockerfile = _text(table, "dockerfile", path) or "Dockerfile"
    top, folder = path.parent.resolve(), (path.parent / context).resolve()
    for place in (folder, (folder / dockerfile).resolve()):
        if not place.is_relative_to(top):
            raise TaskError(f"{path}: the context {context} or its file lies outside the folder")
    return ImageSource(
        folder,
        name=given.name,
        dockerfile=dockerfile,
        target=_text(table, "target", path),
        arguments=read_environ(_table(table.get("args")), f"{path}: args"),
    )


def read_environ(given: Mapping[Any, Any], where: str) -> dict[str, str]:
    """Variables with the defaults of `${NAME:-text}`. Raises TaskError for a variable of this host
    without one: a sandbox gets none of them."""
    found: dict[str, str] = {}
    for key, value in given.items():
        if not isinstance(key, str) or not _NAME.fullmatch(key):
            raise TaskError(f"{where}: {str(key)[:40]!r} is no name of a variable")
        text = _text(given, key, where) if value is not None else ""
        if "\0" in text:
            raise TaskError(f"{where}: {key} holds a NUL character")
        for match in _VARIABLE.finditer(text):
            if match[2] is None:
                raise TaskError(f"{where}: {key} wants {match[1]} of this host, which stays here")
        found[key] = _VARIABLE.sub(lambda match: match[2] or "", text)
    return found


def _text(table: Mapping[Any, Any], name: str, where: object) -> str:
    """The text or the number of an entry. Raises TaskError for another value: that of an alias
    upon aliases would be too long to print."""
    value = table.get(name)
    if isinstance(value, str | int | float | None):
        return "" if value is None or value is False else str(value)
    raise TaskError(f"{where}: {name} is no text")


def _table(value: Any) -> dict[str, Any]:
    """A table, which may be written as a list of `NAME=value`."""
    if isinstance(value, list):
        listed = (row for row in cast("list[Any]", value) if isinstance(row, str))
        rows = (row.partition("=") for row in listed)
        return {name: text for name, _, text in rows}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
