"""The forward pass in numpy, held against the one in torch."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from unhack.models.config import Config, weight_shapes
from unhack_contests.quantization.model import numpy_qwen3

SMALL = Config(vocab=61, hidden=24, layers=2, heads=4, kv_heads=2, head_dim=8, ffn=40)


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
    @pytest.mark.parametrize("tied", [True, False])
    def test_numpy_gives_what_torch_gives(self, torch: Any, tied: bool) -> None:
        from unhack.models.qwen3 import from_weights

        config = Config(vocab=61, hidden=24, layers=2, heads=4, kv_heads=2, head_dim=8, ffn=40,
                        tied=tied)  # fmt: skip
        weights, tokens = _weights(config), _tokens(config, 3, 17)
        with torch.no_grad():
            expected = from_weights(config, weights)(torch.tensor(tokens)).numpy()
        found = numpy_qwen3.forward(weights, config, tokens_B_T=tokens)
        assert np.abs(found - expected).max() < 1e-4

    def test_a_logit_depends_on_earlier_tokens_only(self) -> None:
        weights, tokens = _weights(SMALL), _tokens(SMALL, 2, 20)
        other = tokens.copy()
        other[:, 12:] = (other[:, 12:] + 7) % SMALL.vocab
        first = numpy_qwen3.forward(weights, SMALL, tokens_B_T=tokens)
        second = numpy_qwen3.forward(weights, SMALL, tokens_B_T=other)
        assert np.allclose(first[:, :12], second[:, :12], atol=1e-6)
        assert not np.allclose(first[:, 12:], second[:, 12:], atol=1e-3)

    def test_asked_positions_are_those_of_the_whole_answer(self) -> None:
        weights, tokens = _weights(SMALL), _tokens(SMALL, 2, 20)
        whole = numpy_qwen3.forward(weights, SMALL, tokens_B_T=tokens)
        places = np.array([0, 7, 19])
        some = numpy_qwen3.forward(weights, SMALL, tokens_B_T=tokens, positions_P=places)
        assert np.allclose(some, whole[:, places], atol=1e-5)

    def test_log_softmax_sums_to_one(self) -> None:
        logits = np.random.default_rng(0).standard_normal((3, 9)) * 50
        assert np.allclose(np.exp(numpy_qwen3.log_softmax(logits)).sum(axis=-1), 1.0)


class TestTorchStaysOut:
    @pytest.mark.slow
    def test_the_forward_pass_in_numpy_needs_no_torch(self) -> None:
        code = (
            "import sys, unhack.models.programs, "
            "unhack_contests.quantization.contest; sys.exit('torch' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
