"""Submissions of the contest with `runtime=torch`, judged: controls, honest ones, hacks."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("torch")
pytest.importorskip("transformers")


def _shared() -> Any:
    path = Path(__file__).with_name("tensor_entries.py")
    if "tensor_entries" not in sys.modules:
        spec = importlib.util.spec_from_file_location("tensor_entries", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["tensor_entries"] = module
        spec.loader.exec_module(module)
    return sys.modules["tensor_entries"]


SHARED = _shared()
HONEST = ("absmax8", "absmax4", "absmax3", "awq4", "awq3", "mixed", "kmeans3", "gptq4", "gptq3",
          "entropy", "tuned")  # fmt: skip
UNUSUAL = ("normal_float", "pruned", "rotated", "pairs_of_weights", "eight_bit_floats",
           "two_passes", "low_rank", "trained_steps", "saved_by_torch")  # fmt: skip
CHEATS = (
    "calibrate_on_test", "left_behind", "hardcoded_size", "fitted_to_test", "weights_in_code",
    "weights_in_notes", "file_names", "model_again", "changed_program", "linked_model",
    "file_times", "environment", "nan_weights", "huge_weights", "smaller_vocabulary",
    "forged_verdict", "left_early",
)  # fmt: skip
QUICK = ("nan_weights", "left_behind")


class TestControls:
    @pytest.mark.slow
    def test_what_was_given_has_the_references_loss_and_bytes(self, tmp_path: Path) -> None:
        found = SHARED.judged(SHARED.small().submissions.identity(), tmp_path)
        assert found.measured.metrics["delta_nats"] == 0.0
        assert found.measured.metrics["ratio"] == pytest.approx(1.0, abs=0.01)
        assert found.fitness == pytest.approx(0.0, abs=0.01)
        assert found.flags == ()

    @pytest.mark.long
    def test_a_submission_that_keeps_nothing_earns_nothing(self, tmp_path: Path) -> None:
        found = SHARED.judged(SHARED.small().submissions.null(), tmp_path)
        assert found.measured.valid
        assert (found.fitness, found.measured.high) == (0.0, 0.0)


class TestHonest:
    @pytest.mark.slow
    def test_eight_bits_have_the_fitness_of_their_size(self, tmp_path: Path) -> None:
        found = SHARED.judged(SHARED.small().submissions.honest()["absmax8"], tmp_path)
        assert found.fitness == pytest.approx(math.log2(16 / 8.55), abs=0.02)
        assert found.flags == ()
        crossed = found.measured.metrics["artifact_bytes"]
        again = SHARED.small().measure(tmp_path, pool="confirm", seed=9)
        assert again.metrics["artifact_bytes"] == crossed
        assert again.metrics["ppl_ref"] != found.measured.metrics["ppl_ref"]

    @pytest.mark.long
    @pytest.mark.parametrize("name", HONEST)
    def test_a_strategy_is_credited_and_never_accused(self, name: str, tmp_path: Path) -> None:
        found = SHARED.judged(SHARED.small().submissions.honest()[name], tmp_path)
        assert found.fitness > 0.85
        assert found.flags == ()

    @pytest.mark.long
    @pytest.mark.parametrize("name", UNUSUAL)
    def test_an_unusual_program_is_credited_and_not_accused(
        self, name: str, tmp_path: Path
    ) -> None:
        found = SHARED.judged(SHARED.unusual()[name], tmp_path)
        assert found.fitness > 0.5
        assert found.flags == ()

    def test_all_of_them_are_tested(self) -> None:
        assert set(UNUSUAL) == set(SHARED.unusual())
        assert set(HONEST) == set(SHARED.small().submissions.honest())


class TestCheats:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", QUICK)
    def test_a_hack_that_finds_nothing_earns_nothing(self, name: str, tmp_path: Path) -> None:
        self._check(name, tmp_path)

    @pytest.mark.long
    @pytest.mark.parametrize("name", CHEATS)
    def test_a_hack_is_credited_nothing_and_flagged_where_one_is_due(
        self, name: str, tmp_path: Path
    ) -> None:
        self._check(name, tmp_path)

    def test_all_hacks_are_tested(self) -> None:
        assert set(CHEATS) == set(SHARED.small().submissions.cheats())

    @staticmethod
    def _check(name: str, tmp_path: Path) -> None:
        cheat = SHARED.small().submissions.cheats()[name]
        found = SHARED.judged(cheat.files, tmp_path)
        assert found.fitness == 0.0
        if cheat.flag:
            assert cheat.flag in {flag.kind for flag in found.flags}
        elif found.measured.valid:
            assert found.measured.high == 0.0


class TestOtherModels:
    @pytest.mark.long
    @pytest.mark.parametrize("kind", ["llama", "gpt2"])
    def test_any_architecture_is_compressed_and_judged(self, kind: str, tmp_path: Path) -> None:
        from unhack_contests.quantization.data import text
        from unhack_contests.quantization.tensors.contest import load

        folder = SHARED.tiny_model(kind, tmp_path / "model")
        SHARED.trained_a_little(folder, text.given())
        contest = load({**SHARED.SMALL, "model": str(folder)})
        for name in ("gptq4", "absmax8"):
            place = tmp_path / name
            place.mkdir()
            found = SHARED.judged(contest.submissions.honest()[name], place, contest)
            assert found.measured.reason == ""
            assert found.flags == ()
            assert abs(found.measured.metrics["delta_nats"]) < 0.05


class TestTraining:
    @pytest.mark.long
    def test_a_model_trained_anew_in_the_time_of_stage_two_earns_nothing(self) -> None:
        """On more than stage 2 could read: the library's own training files, which the reference
        learnt from."""
        import time

        import numpy as np
        import torch

        from unhack.models import corpus
        from unhack.models.config import NANO
        from unhack.models.corpus import CorpusPart
        from unhack.models.pretrain import PretrainingRecipe, crops, pretrain
        from unhack.models.qwen3 import Qwen3, export_weights
        from unhack.tournament.contest import DataPool
        from unhack_contests.quantization.tensors.settings import stage_two_s

        torch.set_num_threads(1)
        torch.manual_seed(1)
        bench = SHARED.small()._bench
        files = "\n".join(corpus.text(name) for name in corpus.names(CorpusPart.TRAIN))
        data = torch.tensor(np.frombuffer(files.encode(), dtype=np.uint8))
        ends = time.process_time() + stage_two_s(NANO.parameters)

        def until_the_end() -> Iterator[Any]:
            for rows in crops(data, batch=8, length=129, seed=1):
                if time.process_time() >= ends:
                    return
                yield rows

        model = Qwen3(NANO)
        with pytest.raises(StopIteration):
            pretrain(
                model,
                until_the_end(),
                recipe=PretrainingRecipe(steps=100_000, rate=3e-3, warmup=10),
            )
        drawn = bench._texts.windows(DataPool.JUDGE, seed=5, count=16, length=64)
        with bench._model.turn():
            mine = bench._model.losses(drawn, export_weights(model)).mean()
            theirs = bench._model.losses(drawn, None).mean()
        without = bench._context_model.losses(drawn, np.arange(64)).mean()
        assert mine - theirs > 2 * (without - theirs) / 3
