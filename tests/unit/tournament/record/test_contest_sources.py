"""The hash over the files that decide what is measured."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from unhack.tournament.record import settings


@pytest.mark.parametrize("name", ["measure.py", "runs/ladder.json", "cheats/tricks.txt"])
def test_a_changed_file_of_a_contests_package_changes_the_hash(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme_ladder"
    changed = package / "contests" / name
    changed.parent.mkdir(parents=True)
    for folder in (package, package / "contests"):
        (folder / "__init__.py").write_text("")
    (package / "contests" / "contest.py").write_text("class Ladder: pass\n")
    changed.write_text("1")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    contest: Any = importlib.import_module("acme_ladder.contests.contest").Ladder()
    hashes: list[str] = []
    for text in ("1", "2", "1"):
        changed.write_text(text)
        settings._hashed.cache_clear()  # pyright: ignore[reportPrivateUsage]
        hashes.append(settings._sources(contest))  # pyright: ignore[reportPrivateUsage]
    settings._hashed.cache_clear()  # pyright: ignore[reportPrivateUsage]
    for module in [one for one in sys.modules if one.partition(".")[0] == "acme_ladder"]:
        del sys.modules[module]
    assert hashes[0] != hashes[1]
    assert hashes[0] == hashes[2]
