"""Images are built by a tool that is there, and what was not built is told by its reason."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
from pathlib import Path

import pytest

from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.images.build import BuildError, BuildFailure, ImageBuilder, base_map
from unhack.sandbox.images.layout import ImageError, read_layout
from unhack.sandbox.images.source import ImageSource
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.linux.processes import command_lines
from unhack.sandbox.workspace.tree import StoredFile

from .layouts import entry, shell_image, tar_of

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
    bases = {"base:1": base}
    maker = ImageBuilder(
        ImageStore(tmp_path / "images"), bases=bases, builder="buildah", network=False
    )
    return maker.make(ImageSource(folder(tmp_path, dockerfile)), **more)


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
    assert (
        ImageStore(tmp_path / "images").load(ImageSource(tmp_path / "environment").key) is not None
    )


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
        ("FROM base:1\nRUN : wget -q x; exit 4\n", BuildFailure.NETWORK),
        ("FROM base:1\nRUN : wget -q x; exit 8\n", BuildFailure.STEP),
        ("FROM base:1\nCOPY none /x\n", BuildFailure.STEP),
        ("RUN nothing\n", BuildFailure.STEP),
    ],
    ids=["base", "step", "package", "network", "quiet", "refused", "copy", "no base"],
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
def test_the_error_of_a_package_manager_is_told_before_its_status(
    tmp_path: Path, base: str
) -> None:
    with pytest.raises(BuildError) as raised:
        built(tmp_path, base, "FROM base:1\nRUN echo 'E: broken packages'; echo more; exit 100\n")
    assert "E: broken packages" in raised.value.detail


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
    from unhack.sandbox.images.build import ImageBuilder
    from unhack.sandbox.images.source import ImageSource
    from unhack.sandbox.images.store import ImageStore
    top = Path({str(tmp_path)!r})
    maker = ImageBuilder(ImageStore(top / "images"), bases={{"base:1": {base!r}}}, network=False)
    maker.make(ImageSource(top / "environment"))
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
    assert ImageSource(made).key == ImageSource(other).key
    assert ImageSource(made, target="first").key != ImageSource(made).key
    (other / "given").chmod(0o755)
    assert ImageSource(made).key != ImageSource(other).key


def test_a_missing_builder_is_told_with_its_remedy(tmp_path: Path) -> None:
    maker = ImageBuilder(ImageStore(tmp_path / "images"), builder="kaniko")
    with pytest.raises(SandboxUnavailableError, match="no kaniko is installed"):
        maker.make(ImageSource(folder(tmp_path)))


@needs_buildah
@pytest.mark.slow
def test_a_stage_and_arguments_are_built(tmp_path: Path, base: str) -> None:
    text = "FROM base:1 AS one\nARG WORD=a\nRUN echo $WORD > /word\nFROM one\nRUN false\n"
    maker = ImageBuilder(ImageStore(tmp_path / "images"), bases={"base:1": base}, network=False)
    source = ImageSource(folder(tmp_path, text), target="one", arguments={"WORD": "b"})
    node = maker.make(source).tree.find("word")
    assert isinstance(node, StoredFile)
    assert Path(node.place).read_text() == "b\n"


@needs_buildah
@pytest.mark.slow
def test_a_second_build_hands_over_its_own_layers_alone(tmp_path: Path, base: str) -> None:
    built(tmp_path, base)
    kept = list((tmp_path / "images").glob("layout-*/blobs/sha256/*"))
    assert kept
    assert all(blob.read_text().startswith("sha256-") for blob in kept)
    made = built(tmp_path, base, "FROM base:1\nRUN echo > /other\n")
    assert made.tree.find("other") is not None
    assert made.tree.find("usr/bin/bash") is not None
    for layer in (tmp_path / "images" / "layers").iterdir():
        shutil.rmtree(layer)
    again = built(tmp_path, base, "FROM base:1\nRUN echo > /third\n")
    assert again.tree.find("usr/bin/bash") is not None


@needs_buildah
@pytest.mark.slow
def test_what_a_builder_keeps_is_removed_where_it_is_too_much(tmp_path: Path, base: str) -> None:
    def kept(cache_bytes: int) -> int:
        place = tmp_path / str(cache_bytes)
        place.mkdir()
        store = ImageStore(place / "images")
        maker = ImageBuilder(
            store, bases={"base:1": base}, builder="buildah", network=False, cache_bytes=cache_bytes
        )
        made = maker.make(ImageSource(folder(place)))
        assert isinstance(made.tree.find("opt/word"), StoredFile)
        [images] = (place / "images" / "builder").glob("*/*-images/images.json")
        return sum(not one.get("names") for one in json.loads(images.read_text()))

    assert kept(0) == 0
    assert kept(1 << 30) > 0


def saved_by_docker(layout: Path, file: Path, name: str) -> Path:
    """The image of an OCI layout as `docker save` wrote it before version 25."""
    found = read_layout(layout)
    config = json.dumps(found.config).encode()
    manifest = [{"Config": "c.json", "RepoTags": [name], "Layers": ["0/layer.tar", "1/layer.tar"]}]
    with tarfile.open(file, "w") as archive:
        for place, data in (
            ("c.json", config),
            ("manifest.json", json.dumps(manifest).encode()),
            *((f"{at}/layer.tar", blob.read_bytes()) for at, blob in enumerate(found.blobs)),
        ):
            info, content = entry(place, data)
            archive.addfile(info, io.BytesIO(content))
    return file


def test_an_image_that_somebody_built_is_taken_without_a_builder(tmp_path: Path) -> None:
    layout = shell_image(tmp_path / "layout", tar_of([entry("work/given", b"g\n")]))
    file = saved_by_docker(layout, tmp_path / "saved.tar", "a/b:1")
    with tarfile.open(tmp_path / "oci.tar", "w") as archive:
        archive.add(layout, ".")
    bases = {"one": f"oci:{layout}", "two": f"docker-archive:{file}",
             "three": f"docker-archive:{file}:a/b:1", "four": f"oci-archive:{tmp_path}/oci.tar",
             "five": f"docker-archive:{file}:c"}  # fmt: skip
    maker = ImageBuilder(ImageStore(tmp_path / "images"), bases=bases)
    for name in ("one", "two", "three", "four"):
        assert maker.make(ImageSource(name=name)).tree.find("work/given") is not None
    assert len(list((tmp_path / "images" / "layers").iterdir())) == 3
    with pytest.raises(ImageError, match="0 images fit"):
        maker.make(ImageSource(name="five"))


def test_an_archive_that_leads_out_of_itself_is_refused(tmp_path: Path) -> None:
    layout = shell_image(tmp_path / "layout", tar_of([entry("x", b"")]))
    file = saved_by_docker(layout, tmp_path / "saved.tar", "a")
    other = tmp_path / "other.tar"
    with tarfile.open(file) as old, tarfile.open(other, "w") as new:
        for info in old:
            data = old.extractfile(info)
            assert data is not None
            text = data.read()
            if info.name == "manifest.json":
                text = text.replace(b"0/layer.tar", b"../../../x")
                info.size = len(text)
            new.addfile(info, io.BytesIO(text))
    maker = ImageBuilder(ImageStore(tmp_path / "images"), bases={"a": f"docker-archive:{other}"})
    with pytest.raises(ImageError, match="lies outside"):
        maker.make(ImageSource(name="a"))


@pytest.mark.skipif(shutil.which("skopeo") is None, reason="needs skopeo")
@pytest.mark.slow
def test_other_transports_are_read_by_skopeo(tmp_path: Path) -> None:
    layout = shell_image(tmp_path / "layout", tar_of([entry("work/given", b"g\n")]))
    subprocess.run(["skopeo", "copy", "-q", f"oci:{layout}", f"dir:{tmp_path}/dir"], check=True)
    bases = {"a": f"dir:{tmp_path}/dir", "b": f"dir:{tmp_path}/none"}
    maker = ImageBuilder(ImageStore(tmp_path / "images"), bases=bases)
    for _ in range(2):
        assert maker.make(ImageSource(name="a")).tree.find("work/given") is not None
    with pytest.raises(BuildError):
        maker.make(ImageSource(name="b"))
    with pytest.raises(BuildError) as raised:
        maker.make(ImageSource(name="nowhere.invalid/x:1"))
    assert raised.value.kind is BuildFailure.BASE


@needs_buildah
@pytest.mark.slow
def test_a_name_that_is_not_to_be_had_is_built_where_its_folder_is_there(
    tmp_path: Path, base: str
) -> None:
    maker = ImageBuilder(ImageStore(tmp_path / "images"), bases={"base:1": base}, network=False)
    made = maker.make(ImageSource(folder(tmp_path), name="nowhere.invalid/x:1"))
    assert made.workdir == "/opt"


def test_bases_are_read_from_words_and_files(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"c:1": "oci:d"}')
    found = base_map(["a:1=oci:b", f"@{tmp_path}/b.json"])
    assert found == {"a:1": "oci:b", "c:1": "oci:d"}
    with pytest.raises(UsageError, match="NAME=IMAGE"):
        base_map(["a"])
