"""The distributions that bring contents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.sandbox.distributions import (
    content_folders,
    content_packages,
    installed_contents,
    load_all,
    missing_error,
    version_conflict,
    versions,
)
from unhack.training.config.settings import Settings
from unhack.training.config.toml import override
from unhack.training.experiment.arms import find_arm
from unhack.training.experiment.report.claims import find_claims
from unhack.training.worlds.registry import make_world

BROKEN = {"world.name": "broken"}


def install(site: Path, *, version: str, package: str) -> None:
    """What a wheel of contents leaves in a site-packages directory."""
    folder = site / f"acme_boxes-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-boxes\nVersion: {version}")
    (folder / "entry_points.txt").write_text(f"[unhack.acme]\nboxes = {package}:BOXES\n")
    (folder / "RECORD").write_text(f"{package}/__init__.py,,\nacme_module.py,,\n")
    (site / "acme_module.py").touch()  # since Python 3.12 a file that is not there is not listed
    (site / package).mkdir()
    (site / package / "__init__.py").write_text("raise SystemExit\n")


@pytest.fixture
def sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """Two site-packages directories with two versions of a distribution."""
    first, second = tmp_path / "first", tmp_path / "second"
    install(first, version="2", package="acme_new")
    install(second, version="1", package="acme_old")
    monkeypatch.setattr(sys, "path", [str(first), str(second), *sys.path])
    installed_contents.cache_clear()
    yield first, second
    installed_contents.cache_clear()


def test_the_packages_of_an_overlaid_version_are_contents_too(sites: tuple[Path, Path]) -> None:
    assert {"acme_new", "acme_old", "acme_module"} <= content_packages()
    [found] = [one for one in installed_contents() if one.name == "acme-boxes"]
    assert found.version == "2"


def test_another_machine_conflicts_where_both_have_it_in_other_versions() -> None:
    mine = versions()
    assert mine["unhack"]
    assert version_conflict({**mine, "acme": "9"}) == ""
    assert version_conflict({"unhack": mine["unhack"]}) == ""
    other = dict.fromkeys(mine, "0.0.0")
    assert version_conflict(other, here="node a").count(" 0.0.0 (node a: ") == len(mine)


@pytest.mark.parametrize(
    ("group", "ask"),
    [
        ("unhack.arms", lambda: find_arm("broken")),
        (
            "unhack.worlds",
            lambda: make_world(override(Settings(), BROKEN), Path()),
        ),
        ("unhack.claims", find_claims),
    ],
)
def test_a_broken_entry_point_is_named(
    group: str, ask: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, version="1", package="acme_broken")
    points = tmp_path / "acme_boxes-1.dist-info" / "entry_points.txt"
    points.write_text(f"[{group}]\nbroken = acme_broken:GONE\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    installed_contents.cache_clear()
    try:
        with pytest.raises(
            UsageError, match=rf"'broken' of {group} cannot be loaded from acme_bro"
        ):
            ask()
    finally:
        installed_contents.cache_clear()


@pytest.mark.parametrize("line", ["boxes", "boxes ="])
def test_entry_points_that_cannot_be_read_are_an_error_that_names_the_distribution(
    line: str, sites: tuple[Path, Path]
) -> None:
    (sites[0] / "acme_boxes-2.dist-info" / "entry_points.txt").write_text(
        f"[unhack.acme]\n{line}\n"
    )
    with pytest.raises(UsageError, match="the entry points of acme-boxes cannot be read"):
        content_packages()


def test_a_distribution_without_metadata_is_hidden_too(sites: tuple[Path, Path]) -> None:
    (sites[0] / "acme_boxes-2.dist-info" / "METADATA").write_text("")
    assert {"acme_new", "acme_old", "acme_module"} <= content_packages()


def test_their_folders_are_found_without_an_import(sites: tuple[Path, Path]) -> None:
    expected = {str(sites[0] / "acme_new"), str(sites[1] / "acme_old")}
    assert expected <= {*content_folders()}
    assert not {"acme_new", "acme_old"} & {*sys.modules}


def test_what_is_broken_is_left_out_with_a_warning_that_names_it(sites: tuple[Path, Path]) -> None:
    with pytest.warns(UserWarning, match=r"left out: 'boxes' .* acme_new:BOXES: SystemExit"):
        assert "boxes" not in load_all("unhack.acme")
    error = missing_error("contest", "boxes", group="unhack.acme", packages=("contests",))
    assert "acme_new:BOXES is broken" in str(error)


def test_an_object_of_another_kind_is_left_out_too(sites: tuple[Path, Path]) -> None:
    (sites[0] / "acme_new" / "__init__.py").write_text("BOXES = 1\n")
    with pytest.warns(UserWarning, match="an int, not a Path"):
        assert "boxes" not in load_all("unhack.acme", kind=Path)
    del sys.modules["acme_new"]
