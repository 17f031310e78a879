"""The calibration text that stage 2 is given, and the strategies that tune on it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")

from unhack.core.errors import UsageError  # noqa: E402
from unhack.tournament.contest import DataPool, Terms  # noqa: E402
from unhack_contests.quantization.data import text as programs  # noqa: E402
from unhack_contests.quantization.tensors import honest, stages, text  # noqa: E402
from unhack_contests.quantization.tensors.contest import load  # noqa: E402
from unhack_contests.quantization.tensors.settings import TensorSettings, parse  # noqa: E402
from unhack_contests.submission import RefusedError  # noqa: E402

SHAPES = {"seen": [8]}
TOKENS = np.arange(100, 108)
PROGRAMS = {
    "by its name": ("def decompress(folder, shapes, calibration):\n    text = calibration", TOKENS),
    "by keyword alone": ("def decompress(folder, shapes, *, calibration):\n    text = calibration",
                         TOKENS),
    "not asked for": ("def decompress(folder, shapes):\n    text = torch.zeros(8)", np.zeros(8)),
    "another parameter": (
        "def decompress(folder, shapes, text=torch.ones(8)):\n    pass", np.ones(8)
    ),
    "its type": (
        "def decompress(folder, shapes, calibration):\n"
        "    text = torch.full([8], float(calibration.dtype is torch.int64))", np.ones(8),
    ),
    "what lies in the folder": (
        "def decompress(folder, shapes, calibration):\n"
        "    assert os.listdir(folder) == ['calibration.npy']\n"
        "    text = torch.full([8], float(os.path.getsize(folder + '/calibration.npy')))",
        np.full(8, 3.0),
    ),
}  # fmt: skip


def _decompressed(program: str, place: Path) -> np.ndarray[Any, Any]:
    (place / "entry").mkdir()
    source = f"import os\nimport torch\n{program}\n    return {{'seen': text.float()}}\n"
    (place / "entry/solution.py").write_text(source)
    model: Any = SimpleNamespace(shapes=SHAPES, parameters=8)
    found = stages.decompress(
        place / "entry", {"calibration.npy": b"own"}, model, calibration=TOKENS,
        scratch=place, settings=TensorSettings(),
    )  # fmt: skip
    return found["seen"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_stage_two_is_given_the_text_where_it_asks_for_it(name: str, tmp_path: Path) -> None:
    program, expected = PROGRAMS[name]
    assert _decompressed(program, tmp_path).tolist() == expected.tolist()


@pytest.mark.slow
def test_other_arguments_are_refused_with_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"'words': write decompress\(folder, shapes\), or"):
        _decompressed("def decompress(folder, shapes, words):\n    text = words", tmp_path)


class TestTheText:
    @pytest.mark.parametrize("size", ["demo", "default", "large"])
    def test_no_size_gives_less_text_than_stage_two_reads_twice(self, size: str) -> None:
        # 512 tokens a step, fifty milliseconds each, for the model of the package
        steps = parse({"size": size}).stage_two(820_608).cpu_s / 0.05
        assert parse({"size": size}).calibration * 2 > 512 * steps
        with pytest.raises(UsageError, match="calibration is at least 65536"):
            parse({"size": size, "calibration": "16384"})

    @pytest.mark.slow
    def test_it_holds_no_window_of_check_and_none_that_is_scored(self) -> None:
        texts = text.open_texts("", "", vocab=256, needed=0)
        given = text.calibration_tokens(texts, most=10**9).astype(np.uint8).tobytes()
        assert programs.given().startswith(given)
        assert len(given) == programs.DEV_BYTES // 2
        for pool in (DataPool.DEV, DataPool.JUDGE, DataPool.AUDIT, DataPool.CONFIRM):
            for row in texts.windows(pool, seed=11, count=24, length=128):
                assert row.astype(np.uint8).tobytes() not in given

    def test_a_short_text_of_ones_own_keeps_its_second_half_for_check(self, tmp_path: Path) -> None:
        words = "".join(f"line {number} is like no other\n" for number in range(9000))
        (tmp_path / "text").write_text(words)
        texts = text.FileTexts(tmp_path / "text", text.ByteCoder(), needed=100)
        given = text.calibration_tokens(texts, most=10**9)
        assert len(given) == len(texts.given()) // 2
        rows = texts.windows(DataPool.DEV, seed=1, count=20, length=64)
        whole = given.astype(np.uint8).tobytes()
        assert not [row for row in rows if row.astype(np.uint8).tobytes() in whole]

    @pytest.mark.slow
    def test_the_statement_says_how_many_tokens_there_are(self) -> None:
        contest = load({"calibration": "90000", "size": "demo"})
        page = contest.workspace(Terms(1))["STATEMENT.md"].decode()
        assert "int64 tensor [65536]" in page
        assert "def decompress(folder, shapes, calibration)" in page


def _program() -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(honest.PROGRAM.source({"TUNED": 12, "RATE": 3e-3}), space)
    return space


def _model(kind: str) -> Any:
    torch.manual_seed(4)
    sizes: dict[str, Any] = {
        "vocab_size": 256, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256,
    }  # fmt: skip
    match kind:
        case "qwen3":
            config = transformers.Qwen3Config(**sizes, head_dim=16, tie_word_embeddings=True)
        case "llama":
            config = transformers.LlamaConfig(**sizes, rms_norm_eps=1e-5, tie_word_embeddings=False)
        case "biased":
            config = transformers.LlamaConfig(**sizes, attention_bias=True)
        case _:
            config = transformers.GPT2Config(
                vocab_size=256, n_embd=32, n_layer=1, n_head=2, n_positions=256
            )
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    for name, values in model.named_parameters():
        if "norm" in name or "bias" in name:
            values.data += 0.3 * torch.randn_like(values)
        else:
            values.data *= 8
    return model


class TestTuning:
    @pytest.mark.parametrize(
        ("kind", "known"), [("qwen3", True), ("llama", True), ("biased", False), ("gpt2", False)]
    )
    def test_only_a_block_that_is_computed_right_is_tuned(self, kind: str, known: bool) -> None:
        space, model = _program(), _model(kind)
        tokens = torch.arange(200) * 7 % 256
        block = space["block_of"](model, tokens)
        assert (block is not None) == known
        if known:
            w = {name: values.detach() for name, values in model.named_parameters()}
            with torch.no_grad():
                wanted = model(input_ids=tokens[None]).logits
                assert torch.allclose(space["logits"](w, block, tokens[None]), wanted, atol=1e-2)

    @pytest.mark.slow
    def test_steps_on_a_text_lower_its_loss_and_come_out_the_same_again(self) -> None:
        torch.set_num_threads(1)
        space, model = _program(), _model("qwen3")
        text_ = torch.arange(4000) % 50 + 60
        block = space["block_of"](model, text_)
        w = {name: values.detach() for name, values in model.named_parameters()}

        def loss(weights: dict[str, Any]) -> float:
            said = space["logits"](weights, block, text_[None, :128])
            return float(torch.nn.functional.cross_entropy(said[0], text_[1:129]))

        found, again = (space["tuned"](w, block, text_) for _ in range(2))
        assert all(torch.equal(found[name], again[name]) for name in w)
        assert loss(found) < loss(w) - 0.1

    def test_a_program_that_does_not_tune_has_nothing_of_it(self) -> None:
        plain = honest.PROGRAM.source({})
        assert "TUNED" not in plain
        assert "calibration)" in honest.PROGRAM.source({"TUNED": 9}).split("def decompress")[-1]
