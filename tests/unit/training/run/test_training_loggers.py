from __future__ import annotations

import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import make_settings
from unhack.training.run.loggers import Silent, make_logger, scalars

from .test_training_alarms import record


class TestLoggers:
    @pytest.mark.parametrize("name", ["tensorboard", "trackio", "wandb"])
    def test_a_missing_package_is_named_before_anything_runs(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(UsageError, match=rf'pip install "\.\[{name}\]"'):
            make_logger(make_settings({"run": {"logger": name}}), tmp_path)

    def test_by_default_nothing_is_logged(self, tmp_path: Path) -> None:
        logger = make_logger(Settings(), tmp_path)
        assert isinstance(logger, Silent)
        logger.log({"train/reward": 1.0}, step=0)
        logger.close()
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["trackio", "wandb"])
    def test_a_tracker_gets_scalars_and_changed_settings(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[Any] = []

        class Run:
            def log(self, values: dict[str, float], *, step: int) -> None:
                seen.append((step, values))

            def finish(self) -> None:
                seen.append("finished")

        package: Any = types.ModuleType(name)
        package.init = lambda **fields: seen.append(fields) or Run()
        monkeypatch.setitem(sys.modules, name, package)
        logger = make_logger(make_settings({"run": {"logger": name, "seed": 3}}), tmp_path / "run")
        logger.log({"train/reward": 1.0}, step=4)
        logger.close()
        assert seen[0]["name"] == "run"
        assert seen[0]["config"]["run.seed"] == 3
        assert seen[1:] == [(4, {"train/reward": 1.0}), "finished"]

    def test_scalars_hold_numbers_and_the_monitor(self) -> None:
        monitor = {"deployed": {"hack": {"rate": 0.25}, "solve": {"rate": 0.5}, "count": 9}}
        found = scalars(replace(record(3), monitor=monitor, gate={"lower": 0.1}))
        assert found["train/solved"] == 0.1
        assert found["gate/lower"] == 0.1
        assert found["monitor/deployed/hack"] == 0.25
        assert "train/hacked_on" not in found
        assert all(isinstance(value, float) for value in found.values())
