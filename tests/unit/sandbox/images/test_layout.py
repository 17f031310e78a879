"""Layers are unpacked as an overlay wants them, and nothing of one leaves its directory."""

from __future__ import annotations

import os
import stat
import tarfile
from pathlib import Path

import pytest

from unhack.sandbox.images.layout import ImageError, _within
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.workspace.tree import Folder, StoredFile, StoredLink

from .layouts import entry, layout, tar_of

LINK, HARD = {"type": tarfile.SYMTYPE}, {"type": tarfile.LNKTYPE}


def taken(tmp_path: Path, *layers: list[tuple[tarfile.TarInfo, bytes]]) -> Folder:
    made = layout(tmp_path / "layout", [tar_of(one) for one in layers])
    return ImageStore(tmp_path / "images").take(made, key="it").tree


def test_a_layer_changes_removes_and_replaces_what_lies_below_it(tmp_path: Path) -> None:
    tree = taken(
        tmp_path,
        [entry("a", None), entry("a/x", b"1"), entry("a/y", b"2"), entry("b", None, mode=0o700),
         entry("b/old", b"3"), entry("k", b"9", mode=0o755)],
        [entry("a/.wh.x"), entry("a/y", b"4"), entry("b", None), entry("b/.wh..wh..opq"),
         entry("b/new", b"5")],
    )  # fmt: skip
    found = {path: node.size for path, node in tree.walk() if isinstance(node, StoredFile)}
    assert {"a/y", "b/new", "k"} <= found.keys()
    assert found.keys().isdisjoint({"a/x", "b/old"})
    assert isinstance(node := tree.find("a/y"), StoredFile)
    assert Path(node.place).read_bytes() == b"4"
    assert isinstance(node := tree.find("k"), StoredFile)
    assert node.mode == 0o755


def test_a_deletion_is_a_device_that_overlays_know(tmp_path: Path) -> None:
    taken(tmp_path, [entry("x", b"1")], [entry(".wh.x")])
    gone = [one for one in (tmp_path / "images").rglob("x") if not one.is_file()]
    assert len(gone) == 1
    found = gone[0].lstat()
    assert (stat.S_ISCHR(found.st_mode), found.st_rdev) == (True, 0)


def test_links_are_kept_and_not_followed(tmp_path: Path) -> None:
    tree = taken(
        tmp_path,
        [entry("f", b"1"), entry("g", **LINK, linkname="/etc"), entry("h", **HARD, linkname="f")],
    )
    assert tree.find("g") == StoredLink("/etc")
    assert isinstance(node := tree.find("h"), StoredFile)
    assert Path(node.place).read_bytes() == b"1"


@pytest.mark.parametrize(
    "entries",
    [
        [entry("../out", b"1")],
        [entry("a/../../out", b"1")],
        [entry("d", **LINK, linkname="/tmp"), entry("d/out", b"1")],
        [entry("d", **LINK, linkname=".."), entry("d/x/out", b"1")],
        [entry("h", **HARD, linkname="../../etc/passwd")],
        [entry("h", **HARD, linkname="/etc/passwd")],
        [entry("l", **LINK, linkname="/etc/passwd"), entry("h", **HARD, linkname="l")],
        [entry("d", None), entry("d", b"1")],
    ],
    ids=["climbs", "climbs later", "through a link", "through a link up", "hard link out",
         "absolute hard link", "hard link to a link", "folder and file"],
)  # fmt: skip
def test_a_layer_that_leaves_its_directory_is_refused(
    tmp_path: Path, entries: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    with pytest.raises(ImageError):
        taken(tmp_path, entries)
    assert not list(tmp_path.rglob("out"))
    assert [one.name for one in (tmp_path / "images" / "layers").iterdir()] == []


def test_devices_and_pipes_are_left_out(tmp_path: Path) -> None:
    tree = taken(tmp_path, [entry("p", type=tarfile.FIFOTYPE), entry("c", type=tarfile.CHRTYPE)])
    assert tree.find("p") is None
    assert tree.find("c") is None


def test_a_layer_with_another_content_is_refused(tmp_path: Path) -> None:
    made = layout(tmp_path / "layout", [tar_of([entry("a", b"1")])])
    blob = max((made / "blobs" / "sha256").iterdir(), key=lambda one: one.stat().st_size)
    blob.write_bytes(tar_of([entry("a", b"2")]))
    with pytest.raises(ImageError, match="does not hold"):
        ImageStore(tmp_path / "images").take(made, key="it")


def test_a_layer_is_unpacked_once_for_all_images(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images")
    low, high = tar_of([entry("a", b"1")]), tar_of([entry("b", b"2")])
    store.take(layout(tmp_path / "one", [low]), key="one")
    store.take(layout(tmp_path / "two", [low, high]), key="two")
    layers = [one for one in (tmp_path / "images" / "layers").iterdir() if "engine" not in one.name]
    assert len(layers) == 2


def test_what_killed_unpacking_has_left_goes(tmp_path: Path) -> None:
    left = tmp_path / "images" / "layers" / ".unpacking-999999999-1-x"
    left.mkdir(parents=True)
    taken(tmp_path, [entry("a", b"1")])
    assert not left.exists()


def test_no_layout_is_told(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="holds no image"):
        ImageStore(tmp_path / "images").take(tmp_path, key="it")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_owners_are_those_of_the_image_and_nobody_on_the_host(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images")
    made = layout(tmp_path / "layout", [tar_of([entry("a", b"1", uid=1000, gid=7)])])
    node = store.take(made, key="it").tree.find("a")
    assert isinstance(node, StoredFile)
    found = Path(node.place).stat()
    assert (found.st_uid - store.first_id, found.st_gid - store.first_id) == (1000, 7)
    assert store.first_id > 1_000_000


@pytest.mark.parametrize(
    "members",
    [[entry("../x")], [entry("/x")], [entry("a/../../x")], [entry("d", **LINK, linkname="/etc")],
     [entry("a/d", **LINK, linkname="../../x")], [entry("d", **LINK, linkname="."), entry("d/x")],
     [entry("h", **HARD, linkname="x")], [entry("p", type=tarfile.FIFOTYPE)]],
)  # fmt: skip
def test_an_old_python_takes_no_archive_that_leads_out(
    members: list[tuple[tarfile.TarInfo, bytes]],
) -> None:
    fine = [entry("1/layer.tar"), entry("2/layer.tar", **LINK, linkname="../1/layer.tar")]
    assert len(_within(Path("a.tar"), [one for one, _ in fine])) == 2
    with pytest.raises(ImageError, match="lies outside"):
        _within(Path("a.tar"), [one for one, _ in [*fine, *members]])
