"""What the doctor tries of Python and its packages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unhack.sandbox.doctor import installation
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.rootfs import interpreter, site_directories

pytestmark = pytest.mark.slow


def test_jobs_and_commands_find_this_installation(pool: Pool) -> None:
    found = installation.examine_installation(pool)
    assert found.fault == ""
    assert found.python == interpreter()
    assert found.packages == tuple(site_directories())


def test_what_stands_beside_the_packages_is_named(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    info = tmp_path / "site-packages/acme-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    source = {"url": "file:///work/acme", "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(source))
    (tmp_path / "own").mkdir()
    (tmp_path / "own/diary.py").touch()
    (tmp_path / "empty").mkdir()
    for name in ("site-packages", "own", "empty"):
        monkeypatch.syspath_prepend(tmp_path / name)
    beside = installation.examine_installation(pool).beside
    assert "acme (/work/acme)" in beside
    assert str(tmp_path / "own") in beside
    assert str(tmp_path / "empty") not in beside
