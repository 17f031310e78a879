"""Compose files of one service say how a task's image is made; others are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from unhack.core.errors import TaskError
from unhack.environments.sources.loaders.task_image import (
    COMPOSE,
    TaskImage,
    read_compose,
    read_environ,
)
from unhack.sandbox.images.source import ImageSource
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.tree import EMPTY


def read(folder: Path, text: str) -> TaskImage:
    (folder / COMPOSE).write_text(text)
    return read_compose(folder / COMPOSE, TaskImage(ImageSource(folder, name="given")))


def test_a_build_with_its_settings_is_read(tmp_path: Path) -> None:
    text = """
services:
  main:
    build:
      context: ./app
      dockerfile: docker/File
      target: dev
      args: [A=1, "B=${C:-2}"]
    environment: {X: 1, EMPTY: null}
    working_dir: /srv
    command: sleep infinity
"""
    found = read(tmp_path, text)
    assert found.source == ImageSource(
        tmp_path / "app", name="given", dockerfile="docker/File", target="dev",
        arguments={"A": "1", "B": "2"},
    )  # fmt: skip
    root = found.over(ImageRoot("id", (), EMPTY, environ={"X": "0", "Y": "2"}))
    assert (root.workdir, root.environ) == ("/srv", {"X": "1", "Y": "2", "EMPTY": ""})


@pytest.mark.parametrize(("service", "name"), [
    ("image: python:3.12-slim", "python:3.12-slim"),
    ("image: ${T_BENCH_IMAGE}", "given"),
    ("environment: [A=1]", "given"),
    ("build: .", "given"),
    ("build: ${CONTEXT_DIR}", "given"),
])  # fmt: skip
def test_the_image_is_named_or_that_of_the_folder(tmp_path: Path, service: str, name: str) -> None:
    assert read(tmp_path, f"services:\n  main:\n    {service}\n").source.name == name


@pytest.mark.parametrize(("text", "said"), [
    ("services: {main: {}, db: {image: postgres}}", "one service is supported.*main, db"),
    ("services: {}", "there are: none"),
    ("services: [", "docker-compose.yaml"),
    ("services: {main: {build: ../x}}", "lies outside"),
    ("services: {main: {environment: {KEY: '${KEY}'}}}", "KEY wants KEY of this host"),
])  # fmt: skip
def test_another_file_is_refused_with_its_reason(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(TaskError, match=said):
        read(tmp_path, text)


def test_no_variable_of_the_host_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s")
    assert read_environ({"A": "x${SECRET:-y}z"}, "here") == {"A": "xyz"}
    with pytest.raises(TaskError, match="stays here"):
        read_environ({"A": "${SECRET}"}, "here")
