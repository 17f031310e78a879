"""Base models: pretrained from the seed alone, kept, and found again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import torch

from unhack.core.errors import UsageError
from unhack.models.pretrain import PretrainingRecipe
from unhack.training.config.settings import ModelSettings, WorldSettings
from unhack.training.worlds.programs import base, vocabulary
from unhack.training.worlds.programs.base import PLANS, base_model, pretrain_base, windows
from unhack.training.worlds.programs.world import ProgramsWorld

TINY = replace(
    PLANS["nano"],
    config=replace(PLANS["nano"].config, hidden=16, layers=1, heads=2, kv_heads=2, head_dim=8),
    recipe=PretrainingRecipe(steps=3, warmup=1),
    batch=4,
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramsWorld:
    monkeypatch.setitem(PLANS, "nano", TINY)
    return ProgramsWorld(WorldSettings(), folder=tmp_path)


class TestBases:
    def test_a_base_follows_from_its_seed(self) -> None:
        torch.random.manual_seed(5)  # pyright: ignore[reportUnknownMemberType]
        state = torch.random.get_rng_state()
        one, same, other = (pretrain_base(TINY, seed=seed).state_dict() for seed in (0, 0, 1))
        assert torch.equal(torch.random.get_rng_state(), state)
        assert all(torch.equal(one[name], same[name]) for name in one)
        assert any(not torch.equal(one[name], other[name]) for name in one)

    def test_a_base_is_made_once(
        self, world: ProgramsWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = base_model(ModelSettings(), world, folder=tmp_path)
        monkeypatch.setattr(base, "pretrain_base", None)
        again = base_model(ModelSettings(), world, folder=tmp_path)
        tokens = torch.tensor([world.encode(vocabulary.STARTER)])
        assert torch.equal(first(tokens), again(tokens))
        with pytest.raises(TypeError):
            base_model(ModelSettings(base_seed=1), world, folder=tmp_path)

    def test_a_damaged_file_of_the_cache_is_named(
        self, world: ProgramsWorld, tmp_path: Path
    ) -> None:
        base_model(ModelSettings(), world, folder=tmp_path)
        [path] = tmp_path.glob("*.safetensors")
        path.write_bytes(path.read_bytes()[:-4])
        with pytest.raises(UsageError, match=path.name):
            base_model(ModelSettings(), world, folder=tmp_path)

    def test_a_world_of_another_vocabulary_is_refused(
        self, world: ProgramsWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(world, "vocabulary", world.vocabulary - 1)
        with pytest.raises(ValueError, match="vocabulary"):
            base_model(ModelSettings(), world, folder=tmp_path)

    def test_nothing_is_learnt_from_prompts(self) -> None:
        model = pretrain_base(TINY, seed=0)
        [tokens_B_T] = [next(windows(0, plan=TINY))]
        starter = vocabulary.TOKEN[vocabulary.STARTER]
        logits_B_T_V = base._of_programs(model, tokens_B_T)  # pyright: ignore[reportPrivateUsage]
        rows = cast("list[list[int]]", tokens_B_T.tolist())  # pyright: ignore[reportUnknownMemberType]
        assert rows
        for row, logits_T_V in zip(rows, logits_B_T_V, strict=True):
            first, last = row.index(starter), row.index(vocabulary.STOP)
            silent = [place for place in range(len(row)) if not logits_T_V[place].any()]
            assert silent == [place for place in range(len(row)) if not first <= place < last]

    @pytest.mark.parametrize(
        ("size", "least", "most"),
        [
            ("nano", 8e4, 2e5),
            ("small", 8e5, 2e6),
            ("medium", 8e6, 2e7),
            ("large", 5e7, 9e7),
            ("huge", 3e8, 4e8),
        ],
    )
    def test_a_size_has_about_its_parameters(self, size: str, least: float, most: float) -> None:
        assert least <= PLANS[size].config.parameters <= most
