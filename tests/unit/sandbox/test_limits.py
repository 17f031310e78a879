from __future__ import annotations

import dataclasses
import math

import pytest

from unhack.sandbox.limits import Limits

NAMES = [item.name for item in dataclasses.fields(Limits)]


class TestLimits:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("value", [0, -1, -0.5, math.nan])
    def test_every_limit_must_be_positive(self, name: str, value: float) -> None:
        with pytest.raises(ValueError, match=f"{name} must be positive"):
            Limits(**{name: value})

    @pytest.mark.parametrize("name", NAMES)
    def test_every_limit_has_a_positive_default(self, name: str) -> None:
        assert getattr(Limits(), name) > 0

    def test_a_copy_changes_only_what_is_named(self) -> None:
        changed = Limits(wall_s=3.0).with_(cpu_s=4.0)
        assert (changed.wall_s, changed.cpu_s) == (3.0, 4.0)
        assert changed.with_(wall_s=10.0, cpu_s=10.0) == Limits()

    def test_a_copy_is_checked_like_the_original(self) -> None:
        with pytest.raises(ValueError, match="wall_s"):
            Limits().with_(wall_s=0)

    def test_limits_cannot_be_changed(self) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            Limits().wall_s = 99.0  # type: ignore[misc]

    def test_equal_limits_are_one_key(self) -> None:
        assert len({Limits(), Limits(), Limits(wall_s=1.0)}) == 2
