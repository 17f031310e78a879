from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.supported import check_schedule, recipe
from unhack.training.config.toml import (
    differences,
    make_settings,
    override,
    override_of,
    read_settings,
    read_toml,
    settings_toml,
)


class TestFiles:
    def test_settings_come_back_from_their_file(self, tmp_path: Path) -> None:
        settings = make_settings(
            {
                "world": {"modes": ["run_tests"], "known": ["run_tests"], "path": 'a "b" \\ é\n'},
                "optimiser": {"rate": 1e-05, "betas": [0.5, 0.9]},
                "run": {"stop_on_alarm": True},
            }
        )
        path = tmp_path / "config.toml"
        path.write_text(settings_toml(settings), "utf-8")
        assert read_settings(path) == settings

    @pytest.mark.slow
    @given(text=st.text(), rate=st.floats(1e-12, 1.0, exclude_min=True))
    def test_any_text_and_number_comes_back(self, text: str, rate: float) -> None:
        tables = {"world": {"path": text}, "optimiser": {"rate": rate}, "gate": {"replay": text}}
        settings = make_settings(tables)
        assert make_settings(tomllib.loads(settings_toml(settings))) == settings

    def test_what_is_left_out_has_its_default(self, tmp_path: Path) -> None:
        path = tmp_path / "config.toml"
        path.write_text("[run]\nsteps = 7\n")
        assert read_settings(path).run.steps == 7
        assert read_settings(path).optimiser == Settings().optimiser

    @pytest.mark.parametrize("text", ["[run", "run = 3"])
    def test_a_file_that_is_no_settings_is_an_error(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "config.toml"
        path.write_text(text)
        with pytest.raises(UsageError):
            read_settings(path)

    def test_a_file_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="No such file"):
            read_settings(tmp_path / "nothing.toml")


class TestOverrides:
    def test_each_kind_of_field_is_read(self) -> None:
        found = override(
            Settings(),
            {
                "gate.kind": "cosine", "optimiser.rate": "3e-4", "run.stop_on_alarm": "true",
                "world.known": "run_tests,sentinel", "adapter.targets": '["q_proj"]',
                "gate.replay": "out/real/b0-s0", "run.seed": "4",
            },
        )  # fmt: skip
        assert (found.gate.kind, found.optimiser.rate) == ("cosine", 3e-4)
        assert (found.run.stop_on_alarm, found.run.seed) == (True, 4)
        assert found.world.known == ("run_tests", "sentinel")
        assert found.adapter.targets == ("q_proj",)
        assert found.gate.replay == "out/real/b0-s0"

    @pytest.mark.parametrize(
        ("name", "near"), [("gate.knd", "gate.kind"), ("runs.seed", "run.seed"), ("seed", "seed")]
    )
    def test_an_unknown_name_is_answered_with_the_nearest(self, name: str, near: str) -> None:
        with pytest.raises(UnknownNameError, match=near):
            override(Settings(), {name: "1"})

    @pytest.mark.parametrize(
        ("name", "value"), [("run.steps", "many"), ("run.steps", "0"), ("gate.kind", "gradient")]
    )
    def test_a_wrong_value_names_its_field(self, name: str, value: str) -> None:
        with pytest.raises(UsageError, match=name.replace(".", r"\.")):
            override(Settings(), {name: value})

    def test_an_override_without_a_value_is_an_error(self) -> None:
        with pytest.raises(UsageError, match=r"table\.field=value"):
            override_of("gate.kind")
        assert override_of("gate.replay=a=b") == ("gate.replay", "a=b")

    def test_differences_name_fields_and_both_values(self) -> None:
        other = override(Settings(), {"run.seed": "1", "gate.kind": "oracle"})
        assert differences(Settings(), other) == {
            "gate.kind": ("none", "oracle"), "run.seed": (0, 1),
        }  # fmt: skip


RECENTRED = {"gate.kind": "cosine", "objective.per_knob": "true"}


class TestSettingsThatGoTogether:
    @pytest.mark.parametrize(
        "broken",
        [
            {"objective.recipe": "grpo"},
            {"objective.recipe": "ppo"},
            {"objective.recipe": "real"},
        ],
    )
    def test_advantages_that_are_not_linear_in_the_loss_are_not_recentred(
        self, broken: dict[str, str]
    ) -> None:
        with pytest.raises(UsageError, match=r"^--set: .*proportion to the advantage"):
            override(Settings(), {**RECENTRED, **broken})
        assert override(Settings(), {**broken, "objective.per_knob": "true"})

    def test_a_penalty_in_the_reward_is_linear(self) -> None:
        given = {"objective.kl_beta": "0.1", "objective.kl_in_reward": "true"}
        assert override(Settings(), {**RECENTRED, **given}).objective.per_knob


class TestRetiredSettings:
    @pytest.mark.parametrize(
        ("name", "same", "other"),
        [
            ("gate.seed", "157", "3"),
            ("baseline.strength", "3.0", "2.0"),
            ("objective.entropy_bonus", "0.0", "0.01"),
            ("objective.value_rate", "0.001", "0.02"),
            ("optimiser.weight_decay", "0.0", "0.1"),
        ],
    )
    def test_a_setting_that_nothing_used_says_where_it_can_be_had(
        self, tmp_path: Path, name: str, same: str, other: str
    ) -> None:
        table, _, field = name.partition(".")
        path = tmp_path / "config.toml"
        path.write_text(f"[{table}]\n{field} = {same}\n")
        assert read_settings(path) == Settings()
        path.write_text(f"[{table}]\n{field} = {other}\n")
        with pytest.raises(UsageError, match=rf"{name} = .* is gone.*commit dd52dedb"):
            read_settings(path)

    def test_what_changed_nothing_is_left_out(self, tmp_path: Path) -> None:
        path = tmp_path / "config.toml"
        path.write_text(
            '[gate]\nkind = "none"\ncalibration = "p75"\nscope = "global"\nmemory = 0.0\n'
        )
        assert read_settings(path) == Settings()

    @pytest.mark.parametrize(
        "text",
        [
            '[gate]\nmemory = 0.8\n', '[gate]\nkind = "absorb"\n',
            '[gate]\nkind = "cosine"\ncalibration = "p75"\n',
            '[baseline]\nkind = "screening"\n',
        ],
    )  # fmt: skip
    def test_what_changed_a_run_is_refused_but_for_a_report(
        self, tmp_path: Path, text: str
    ) -> None:
        path = tmp_path / "config.toml"
        path.write_text(text)
        with pytest.raises(UsageError, match=r"is gone.*commit"):
            read_settings(path)
        assert isinstance(read_settings(path, reading=True), Settings)


class TestTheSupportedRecipe:
    def test_it_is_the_gate_of_the_plans_that_support_it(self) -> None:
        root = Path(__file__).resolve().parents[4] / "experiments"
        for name in ("powered", "matrix", "matrix-shared"):
            plan = read_toml(root / f"{name}.toml")["settings"]
            found = recipe("top_rewarded").model_dump()
            for table in ("gate", "objective", "optimiser"):
                assert plan[table]
                for field, value in plan[table].items():
                    wanted = tuple(value) if isinstance(value, list) else value
                    assert found[table][field] == wanted, (name, table, field)

    def test_a_run_past_the_end_of_its_rate_is_refused(self) -> None:
        with pytest.raises(UsageError, match=r"optimiser\.cooldown"):
            check_schedule(override(recipe("top_rewarded"), {"run.steps": "300"}))
