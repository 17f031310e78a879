"""Packages that only some of unhack needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.core.optional_dependencies import require


def test_what_is_missing_is_named_with_the_way_to_get_it() -> None:
    with pytest.raises(UsageError, match=r"a tournament needs nowhere: .*\[tournament\]"):
        require("tournament", "json", "nowhere", purpose="a tournament")


def test_what_is_there_passes() -> None:
    require("tournament", "json", purpose="a tournament")


def test_a_bare_folder_of_the_name_is_no_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no_such_package").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match="no_such_package"):
        require("ray", "no_such_package", purpose="a cluster")
