"""The parts of the contest with `runtime=torch`: options, models, texts, what agents get."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from unhack.core import optional_dependencies  # noqa: E402
from unhack.core.errors import SandboxUnavailableError, UnknownNameError, UsageError  # noqa: E402
from unhack.sandbox.gpu import cards  # noqa: E402
from unhack.tournament.contest import DataPool, Measurement, Terms  # noqa: E402
from unhack_contests import torch_card  # noqa: E402
from unhack_contests.quantization.contest import load  # noqa: E402
from unhack_contests.quantization.tensors import measure, model, stages, text  # noqa: E402
from unhack_contests.quantization.tensors.contest import TensorQuantization  # noqa: E402
from unhack_contests.quantization.tensors.settings import TensorSettings, parse, stage_two_s  # noqa: E402
from unhack_contests.submission import RefusedError  # noqa: E402

SMALL = {"runtime": "torch", "windows": "16", "length": "64"}


def _llama(folder: Path, **changes: Any) -> Path:
    torch.manual_seed(3)
    sizes: dict[str, Any] = {
        "vocab_size": 256, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256,
    }  # fmt: skip
    made = transformers.LlamaForCausalLM(transformers.LlamaConfig(**(sizes | changes)))
    made.save_pretrained(str(folder))
    return folder


class TestOptions:
    @pytest.mark.slow
    def test_a_model_asks_for_torch_and_the_size_of_ones_own(self, tmp_path: Path) -> None:
        contest = load({"model": str(_llama(tmp_path / "m"))})
        assert isinstance(contest, TensorQuantization)
        assert contest.settings["runtime"] == "torch"
        assert contest.settings["compress_s"] == 900.0

    @pytest.mark.parametrize(
        "options",
        [{"windows": "x"}, {"windows": "2"}, {"length": "8"}, {"device": "tpu"},
         {"text": "/nowhere"}, {"batch": "3"}, {"size": "huge"}, {"calibration": "16384"}],
    )  # fmt: skip
    def test_an_option_that_does_not_do_is_refused(self, options: dict[str, str]) -> None:
        with pytest.raises((UsageError, UnknownNameError)):
            parse(options)

    def test_a_card_that_is_not_there_is_said_before_anything_is_spent(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cards, "card_nodes", lambda: ())
        with pytest.raises(SandboxUnavailableError, match="there is no GPU here"):
            load({**SMALL, "device": "cuda:1"})

    def test_a_card_that_somebody_uses_is_said_before_a_model_is_read(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        card = cards.Card(0, "/dev/nvidia0", "a stand-in", "GPU-1")
        held = {1: 20 << 30}
        monkeypatch.setattr(torch_card, "choose_card", lambda device: card)
        monkeypatch.setattr(torch_card, "torch_with_cuda", lambda: torch)
        monkeypatch.setattr(torch_card, "torch_device", lambda torch, card: "cuda:0")
        monkeypatch.setattr(cards, "nvml", lambda: SimpleNamespace(processes=lambda index: held))
        with pytest.raises(SandboxUnavailableError, match="is busy: process 1"):
            load({**SMALL, "device": "cuda"})

    def test_a_missing_package_is_named_with_the_way_to_get_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(optional_dependencies, "_is_installed", lambda name: name != "torch")
        with pytest.raises(UsageError, match=r"runtime=torch needs torch: pip install"):
            load(SMALL)

    def test_stage_two_has_no_time_to_train_what_it_is_to_undo(self) -> None:
        # a step on one token costs 6 operations a parameter; a fast core does 1e11 a second
        tokens = stage_two_s(53_426_560) * 1e11 / (6 * 53_426_560)
        assert tokens < 53_426_560 / 1000
        assert TensorSettings().stage_two(1000).processes == 1


class TestTheModel:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("break_it", "said"),
        [
            (lambda folder: (folder / "config.json").unlink(), "no config.json"),
            (lambda folder: (folder / "model.safetensors").unlink(), "no .safetensors file"),
            (lambda folder: (folder / "config.json").write_text("{}"), "transformers cannot load"),
        ],
    )
    def test_a_folder_that_is_no_model_is_refused_with_what_is_missing(
        self, break_it: Any, said: str, tmp_path: Path
    ) -> None:
        folder = _llama(tmp_path / "m")
        break_it(folder)
        with pytest.raises(UsageError, match=said):
            load({**SMALL, "model": str(folder)})

    def test_a_folder_that_is_not_there_is_named(self) -> None:
        with pytest.raises(UsageError, match="no such folder"):
            load({"model": "/nowhere/at/all"})

    def test_a_model_that_sealed_processes_would_see_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = _llama(tmp_path / "m")
        assert model.check_folder(str(folder)) == folder
        monkeypatch.setattr(model, "_SHOWN", (str(tmp_path.resolve()),))
        with pytest.raises(UsageError, match="copy it elsewhere"):
            model.check_folder(str(folder))

    def test_windows_longer_than_the_model_looks_back_are_refused(self, tmp_path: Path) -> None:
        folder = _llama(tmp_path / "m", max_position_embeddings=48)
        with pytest.raises(UsageError, match="looks back on 48 tokens"):
            load({**SMALL, "model": str(folder)})

    def test_a_shared_matrix_counts_once_and_follows_the_given_weights(
        self, tmp_path: Path
    ) -> None:
        found = model.open_model(
            str(_llama(tmp_path / "m", tie_word_embeddings=True)), device="cpu"
        )
        assert "lm_head.weight" not in found.shapes
        assert found.nbytes == 2 * sum(int(np.prod(shape)) for shape in found.shapes.values())
        windows = np.arange(2 * 9).reshape(2, 9)
        zeros = {name: np.zeros(shape, np.float16) for name, shape in found.shapes.items()}
        with found.turn():
            before = found.losses(windows, None)
            flat = found.losses(windows, zeros)
            after = found.losses(windows, None)
        assert flat == pytest.approx(np.log(256), abs=1e-5)
        assert (before == after).all()
        assert not np.allclose(before, flat)

    def test_weights_that_float16_cannot_hold_stay_in_bfloat16(self, tmp_path: Path) -> None:
        folder = _llama(tmp_path / "m")
        made = transformers.AutoModelForCausalLM.from_pretrained(str(folder))
        made.model.norm.weight.data[0] = 1e6
        made.save_pretrained(str(folder))
        found = model.open_model(str(folder), device="cpu")
        kept = json.loads((found.staged / "config.json").read_text())
        assert kept["dtype"] == "bfloat16"

    def test_stage_one_is_given_copies_that_hold_nothing_else(self, tmp_path: Path) -> None:
        folder = _llama(tmp_path / "m")
        (folder / "notes.txt").write_text("the judge's")
        found = model.open_model(str(folder), device="cpu")
        names = {path.name for path in found.staged.iterdir()}
        assert names == {"config.json", "generation_config.json", "model.safetensors"}


class TestTensors:
    def test_a_tensor_is_taken_as_it_was_asked_for_or_not_at_all(self) -> None:
        good = np.ones((2, 3), np.float16)
        assert stages._checked("w", [2, 3], good) is good
        bad: list[Any] = [
            good.T, good.astype(np.int64), good.astype(np.float64), [[1.0]], None,
            np.full((2, 3), np.nan, np.float32), np.full((2, 3), 1e6, np.float32),
        ]  # fmt: skip
        for answer in bad:
            with pytest.raises(RefusedError) as caught:
                stages._checked("w", [2, 3], answer)
            assert caught.value.flags[0].kind == "forged_value"

    def test_a_loss_that_is_no_number_is_refused_and_never_the_references(self) -> None:
        assert measure.rounded(np.array([1.23456789, 2e-9])).tolist() == [1.23457, 2e-9]
        for value in (np.nan, np.inf, -np.inf):
            with pytest.raises(RefusedError) as caught:
                measure.rounded(np.array([1.0, value]))
            assert caught.value.flags[0].kind == "forged_value"


class TestTexts:
    def _tokenizer(self, folder: Path) -> Path:
        import tokenizers

        from unhack_contests.quantization.data import text as programs

        coder = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
        coder.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        coder.decoder = tokenizers.decoders.ByteLevel()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=400, special_tokens=["<unk>"],
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
        )  # fmt: skip
        coder.train_from_iterator([programs.given()[:30_000].decode("utf-8", "replace")], trainer)
        fast = transformers.PreTrainedTokenizerFast(tokenizer_object=coder, unk_token="<unk>")
        fast.save_pretrained(str(folder))
        return folder

    def test_more_than_256_tokens_need_a_tokenizer(self, tmp_path: Path) -> None:
        folder = _llama(tmp_path / "m", vocab_size=400)
        with pytest.raises(UsageError, match=r"tokenizer\.json"):
            load({**SMALL, "model": str(folder)})

    @pytest.mark.slow
    def test_a_tokenizers_windows_are_drawn_afresh_and_pools_differ(self, tmp_path: Path) -> None:
        folder = self._tokenizer(_llama(tmp_path / "m", vocab_size=400))
        found = text.open_texts(str(folder), "", vocab=400, needed=0)
        draw = {
            (pool, seed): found.windows(pool, seed=seed, count=3, length=40)
            for pool in (DataPool.JUDGE, DataPool.AUDIT, DataPool.DEV)
            for seed in (1, 2)
        }
        assert all(rows.shape == (3, 41) for rows in draw.values())
        assert all(rows.max() < 400 for rows in draw.values())
        assert len({rows.tobytes() for rows in draw.values()}) == len(draw)
        again = found.windows(DataPool.JUDGE, seed=1, count=3, length=40)
        assert (again == draw[DataPool.JUDGE, 1]).all()

    def test_a_text_of_ones_own_is_dealt_out_to_pools_without_overlap(self, tmp_path: Path) -> None:
        words = "".join(
            f"line {number} of a text that is like no other\n" for number in range(9000)
        )
        (tmp_path / "text").write_text(words)
        found = text.FileTexts(tmp_path / "text", text.ByteCoder(), needed=100)
        lines = {
            pool: set(found._coder.decode(tokens).decode().splitlines()[1:-1])
            for pool, tokens in found._pools.items()
        }
        parts = list(lines.values())
        shared = [one & other for one in parts for other in parts if one is not other]
        assert max(map(len, shared)) < 0.01 * min(map(len, parts))
        assert found.public().decode().splitlines()[1] in lines[DataPool.DEV]

    def test_a_text_that_is_too_short_is_refused_with_what_it_lacks(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("a few words")
        with pytest.raises(UsageError, match="too short"):
            load({**SMALL, "text": str(tmp_path / "text")})


class TestTheContest:
    @pytest.mark.slow
    def test_agents_get_the_statement_the_model_and_a_program(self, tmp_path: Path) -> None:
        contest = load({**SMALL, "model": str(_llama(tmp_path / "m"))})
        files = contest.workspace(Terms(number=1))
        page = files["STATEMENT.md"].decode()
        assert "{" not in page
        assert "16 windows of 64 tokens" in page
        assert set(files) == {
            "STATEMENT.md", "solution.py", "dev.bin", "reference/config.json",
            "reference/model.safetensors",
        }  # fmt: skip
        assert all(name not in page for name in contest.honeypots())

    def test_only_a_loss_that_no_compression_explains_is_beyond_the_bound(
        self, tmp_path: Path
    ) -> None:
        contest = load({**SMALL, "model": str(_llama(tmp_path / "m"))})

        def found(delta: float) -> Measurement:
            metrics = {"delta_nats": delta, "delta_se": 0.01, "limit_nats": 0.3}
            return Measurement(1.0, 1.0, 1.0, metrics=metrics)

        assert contest.bounds(found(-0.2)) == ()
        assert [flag.kind for flag in contest.bounds(found(-0.5))] == ["beyond_bound"]
