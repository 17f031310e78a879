"""Arms: settings that hold together, and controls that run with every routed arm."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import override
from unhack.training.experiment import arms
from unhack.training.experiment.arms import (
    ARMS,
    CONTROLS,
    ROUTED,
    Arm,
    all_arms,
    apply_arm,
    controls_of,
    find_arm,
)

INSTALLED = all_arms()
MINE = Arm("mine", {"gate.kind": "cosine"}, (), "Routes.")


class TestArms:
    @pytest.mark.parametrize("name", INSTALLED)
    def test_every_arm_is_a_set_of_valid_overrides(self, name):
        settings = apply_arm(Settings(), name)
        assert INSTALLED[name].name == name
        assert INSTALLED[name].purpose.endswith(".") or INSTALLED[name].purpose.endswith(").")
        assert settings != Settings() or name in {"vanilla", "shrink"}

    def test_no_two_arms_are_the_same(self):
        settings = [
            (apply_arm(Settings(), arm.name).model_dump_json(), arm.needs)
            for arm in INSTALLED.values()
        ]
        assert len(set(settings)) == len(settings)

    def test_what_an_arm_needs_is_an_arm_that_routes(self):
        assert INSTALLED
        for arm in INSTALLED.values():
            assert set(arm.needs) <= set(ROUTED)
            replays = arm.overrides.get("gate.kind") == "replay" or arm.name == "shrink"
            assert bool(arm.needs) is replays

    def test_the_capacity_control_is_as_big_as_both_blocks(self):
        settings = apply_arm(Settings(), "capacity")
        assert settings.adapter.rank == 2 * Settings().adapter.rank
        assert settings.gate.kind == "none"
        smaller = override(Settings(), {"adapter.rank": "8"})
        assert apply_arm(smaller, "capacity").adapter.rank == 16

    def test_there_is_no_capacity_control_without_a_rank(self):
        with pytest.raises(UsageError, match="twice the rank"):
            apply_arm(override(Settings(), {"adapter.kind": "svd"}), "capacity")

    def test_every_control_that_the_question_needs_runs_by_default(self):
        assert {"vanilla", "random", "replay", "placebo", "shrink", "capacity", "ceiling"} <= set(
            controls_of("real")
        )
        assert controls_of("oracle") == ("real", *CONTROLS)
        assert controls_of("vanilla") == ()

    def test_lists_of_arms_name_arms(self):
        for names in (CONTROLS, ROUTED):
            assert set(names) <= set(ARMS)
        assert set(ARMS) == {*CONTROLS, *ROUTED, "filter", "reverse", "detector_penalty"}

    def test_a_distribution_adds_arms_and_takes_none_away(self, monkeypatch):
        point = EntryPoint("mine", f"{__name__}:MINE", "unhack.arms")
        monkeypatch.setattr(arms, "entry_points", lambda _: {"mine": point})
        assert find_arm("mine") is MINE
        assert list(arms.all_arms()) == [*ARMS, "mine"]
        assert apply_arm(Settings(), "mine").gate.kind == "cosine"
        monkeypatch.setattr(arms, "entry_points", lambda _: {"real": point})
        with pytest.raises(UsageError, match="names: real"):
            find_arm("vanilla")

    def test_without_the_study_an_arm_of_it_names_what_to_install(self, monkeypatch):
        monkeypatch.setattr(arms, "entry_points", lambda _: {})
        with pytest.raises(UnknownNameError, match="install unhack-study"):
            find_arm("decoys")

    def test_an_unknown_arm_is_answered_with_a_near_name(self):
        with pytest.raises(UnknownNameError, match="placebo_ranked"):
            controls_of("placebo_rankd")

    def test_only_arms_that_say_so_read_the_oracle(self):
        assert INSTALLED
        for arm in INSTALLED.values():
            settings = apply_arm(Settings(), arm.name)
            reads = "oracle" in (settings.gate.kind + settings.baseline.kind)
            assert reads is ("oracle" in arm.name)
