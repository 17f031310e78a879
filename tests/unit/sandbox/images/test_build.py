"""Images are built by a tool that is there, and what was not built is told by its reason."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.images import build as building
from unhack.sandbox.images.build import BuildError, BuildFailure, base_map, find_builder, folder_key
from unhack.sandbox.images.layout import ImageError
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.linux.processes import command_lines
from unhack.sandbox.workspace.tree import StoredFile

from .layouts import shell_image

needs_buildah = pytest.mark.skipif(
    shutil.which("buildah") is None or os.geteuid() != 0, reason="needs buildah, as root"
)
DOCKERFILE = """
FROM base:1 AS first
RUN echo made > /work/made
FROM first
COPY given /work/given
RUN rm /work/made; mkdir /opt && echo $WORD > /opt/word
ENV WORD=hello
USER ann
WORKDIR /opt
"""


def folder(tmp_path: Path, dockerfile: str = DOCKERFILE) -> Path:
    made = tmp_path / "environment"
    made.mkdir(exist_ok=True)
    (made / "Dockerfile").write_text(dockerfile)
    (made / "given").write_text("given\n")
    return made


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"oci:{shell_image(tmp_path_factory.mktemp('base') / 'layout')}:"


def built(tmp_path: Path, base: str, dockerfile: str = DOCKERFILE, **more: float):
    store = ImageStore(tmp_path / "images")
    builder = find_builder("buildah", bases={"base:1": base}, network=False)
    return building.build(folder(tmp_path, dockerfile), store=store, builder=builder, **more)


@needs_buildah
@pytest.mark.sample
@pytest.mark.slow
def test_a_dockerfile_becomes_a_root_directory(tmp_path: Path, base: str) -> None:
    root = built(tmp_path, base)
    assert isinstance(node := root.tree.find("work/given"), StoredFile)
    assert Path(node.place).read_text() == "given\n"
    assert root.tree.find("work/made") is None
    assert root.tree.find("opt/word") is not None
    assert (root.workdir, root.user, root.environ["WORD"]) == ("/opt", (1000, 1000, (50,)), "hello")
    assert ImageStore(tmp_path / "images").load(folder_key(tmp_path / "environment")) is not None


@needs_buildah
@pytest.mark.slow
@pytest.mark.parametrize(
    ("dockerfile", "kind"),
    [
        ("FROM nowhere.invalid/x:1\nRUN true\n", BuildFailure.BASE),
        ("FROM base:1\nRUN false\n", BuildFailure.STEP),
        ("FROM base:1\nRUN echo 'E: Unable to locate package x'; exit 100\n", BuildFailure.PACKAGE),
        (
            "FROM base:1\nRUN echo 'Temporary failure resolving x'; exit 1\n",
            BuildFailure.NETWORK,
        ),
        ("FROM base:1\nCOPY none /x\n", BuildFailure.STEP),
        ("RUN nothing\n", BuildFailure.STEP),
    ],
    ids=["base", "step", "package", "network", "copy", "no base"],
)
def test_what_is_not_built_has_its_reason(
    tmp_path: Path, base: str, dockerfile: str, kind: BuildFailure
) -> None:
    with pytest.raises(BuildError) as raised:
        built(tmp_path, base, dockerfile)
    assert raised.value.kind is kind, raised.value
    assert not list((tmp_path / "images").glob(".layout-*"))


@needs_buildah
@pytest.mark.slow
def test_a_build_that_takes_too_long_is_ended_with_all_that_it_started(
    tmp_path: Path, base: str
) -> None:
    with pytest.raises(BuildError) as raised:
        built(tmp_path, base, "FROM base:1\nRUN sleep 3217\n", timeout_s=20.0)
    assert raised.value.kind is BuildFailure.TIME
    assert ended("3217")


@needs_buildah
@pytest.mark.slow
def test_a_killed_build_leaves_nothing_and_the_next_one_goes_on(tmp_path: Path, base: str) -> None:
    source = f"""
    from pathlib import Path
    from unhack.sandbox.images.build import build, find_builder
    from unhack.sandbox.images.store import ImageStore
    builder = find_builder("buildah", bases={{"base:1": {base!r}}}, network=False)
    top = Path({str(tmp_path)!r})
    build(top / "environment", store=ImageStore(top / "images"), builder=builder)
    """
    folder(tmp_path, "FROM base:1\nRUN sleep 3218\n")
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(source)])
    try:
        while not sleepers("3218"):
            assert process.poll() is None
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert ended("3218")
    assert built(tmp_path, base).workdir == "/opt"
    assert not list((tmp_path / "images").glob(".layout-*"))


def sleepers(word: str) -> list[int]:
    """The processes that sleep for so many seconds."""
    found = command_lines().items()
    return [pid for pid, line in found if line == f"sleep\0{word}\0".encode()]


def ended(word: str) -> bool:
    """Wait for their end."""
    while sleepers(word):
        time.sleep(0.1)
    return True


def test_equal_folders_have_equal_keys(tmp_path: Path) -> None:
    made = folder(tmp_path)
    other = shutil.copytree(made, tmp_path / "other")
    assert folder_key(made) == folder_key(other)
    (other / "given").chmod(0o755)
    assert folder_key(made) != folder_key(other)


def test_a_missing_builder_is_told_with_its_remedy() -> None:
    with pytest.raises(SandboxUnavailableError, match="no kaniko is installed"):
        find_builder("kaniko")


def test_bases_are_read_from_words_and_files(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"c:1": "oci:d"}')
    found = base_map(["a:1=oci:b", f"@{tmp_path}/b.json"])
    assert found == {"a:1": "oci:b", "c:1": "oci:d"}
    with pytest.raises(ImageError, match="NAME=IMAGE"):
        base_map(["a"])
