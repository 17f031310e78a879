"""The Qwen3 block in torch, its weights on disk, and how it learns."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from unhack.models import config as shape
from unhack.models import tokenizer
from unhack.models.config import NANO, Config, weight_shapes

SMALL = Config(vocab=61, hidden=24, layers=2, heads=4, kv_heads=2, head_dim=8, ffn=40)
PACKAGE = Path(shape.__file__).parent


def _weights(config: Config, *, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        name: (1.0 + 0.1 * rng.standard_normal(shape) if len(shape) == 1
               else rng.standard_normal(shape) * shape[-1] ** -0.5).astype(np.float16)
        for name, shape in weight_shapes(config).items()
    }  # fmt: skip


def _tokens(config: Config, *shape: int) -> Any:
    return np.random.default_rng(1).integers(0, config.vocab, shape)


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch")
    found.set_num_threads(1)
    return found


class TestTheForwardPass:
    @pytest.mark.slow
    def test_torch_gives_what_the_published_implementation_gives(self, torch: Any) -> None:
        transformers = pytest.importorskip("transformers")
        from unhack.models.qwen3 import from_weights

        model = from_weights(SMALL, _weights(SMALL))
        fields = {k: v for k, v in SMALL.to_huggingface().items() if k != "architectures"}
        published = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**fields)).eval()
        published.load_state_dict(model.state_dict())
        tokens = torch.tensor(_tokens(SMALL, 2, 19))
        with torch.no_grad():
            theirs = published.float()(input_ids=tokens).logits
            assert float((model(tokens) - theirs).abs().max()) < 1e-4


class TestTheShape:
    def test_the_package_model_has_its_parameters(self) -> None:
        assert NANO.parameters == 820_608

    def test_a_shape_survives_its_published_form(self) -> None:
        assert Config.from_huggingface(json.loads(json.dumps(SMALL.to_huggingface()))) == SMALL

    def test_text_survives_the_tokenizer(self) -> None:
        assert tokenizer.decode(tokenizer.encode("naïve – 数")) == "naïve – 数"
        assert tokenizer.encode("a").dtype == np.uint8


class TestWeightsOnDisk:
    def test_the_shipped_checkpoint_is_that_of_its_manifest(self) -> None:
        data = (PACKAGE / "nano.safetensors").read_bytes()
        manifest = json.loads((PACKAGE / "nano.json").read_text())
        assert hashlib.sha256(data).hexdigest() == manifest["sha256"]
        assert len(data) == manifest["bytes"] < 2_000_000
        found = load_file(PACKAGE / "nano.safetensors")
        assert {name: array.shape for name, array in found.items()} == weight_shapes(NANO)


class TestTraining:
    @pytest.mark.slow
    def test_a_model_learns_a_text_that_repeats(self, torch: Any) -> None:
        from unhack.models.pretrain import PretrainingRecipe, crops, nats_per_token, pretrain
        from unhack.models.qwen3 import Qwen3

        torch.manual_seed(0)
        model = Qwen3(SMALL)
        data = torch.arange(3000) % 13
        recipe = PretrainingRecipe(steps=60, rate=1e-2, warmup=5)
        assert pretrain(model, crops(data, batch=8, length=33, seed=0), recipe=recipe) == 60
        windows = data[: 33 * 8].view(8, 33)
        assert nats_per_token(model, windows) < 0.1 * math.log(SMALL.vocab)

    def test_exported_weights_make_the_same_model(self, torch: Any) -> None:
        from unhack.models.qwen3 import Qwen3, export_weights, from_weights

        torch.manual_seed(0)
        weights = export_weights(Qwen3(SMALL))
        assert {name: array.shape for name, array in weights.items()} == weight_shapes(SMALL)
        again = export_weights(from_weights(SMALL, weights))
        assert all(np.array_equal(again[name], weights[name]) for name in weights)

    @pytest.mark.slow
    def test_the_checkpoint_is_built_by_one_command(self, tmp_path: Path, torch: Any) -> None:
        from unhack.models import train_nano

        out = tmp_path / "nano.safetensors"
        arguments = ["--out", str(out), "--steps", "3", "--batch", "4", "--generated-mb", "0.1"]
        assert train_nano.main(arguments) == 0
        manifest = json.loads(out.with_suffix(".json").read_text())
        assert manifest["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
        assert manifest["bytes_seen"] == 3 * 4 * 256
