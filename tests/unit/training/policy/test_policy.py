"""Policies: what is sampled is what is scored, in the knob state in which it was sampled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.models.config import Config

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
torch.set_num_threads(1)

from unhack.models.qwen3 import Qwen3  # noqa: E402
from unhack.training.adapters import attach  # noqa: E402
from unhack.training.config.settings import AdapterSettings, ModelSettings, Settings  # noqa: E402
from unhack.training.policy.policy import HuggingFacePolicy, TinyPolicy, load_policy  # noqa: E402
from unhack.training.policy.rollouts import Rollouts  # noqa: E402

CONFIG = Config(vocab=31, hidden=24, layers=2, heads=4, kv_heads=2, head_dim=8, ffn=40)
ALIKE: list[list[int]] = [[5, 6, 7, 8], [9, 10, 11, 12], [1, 2, 3, 4]]
RAGGED: list[list[int]] = [[5], [6, 7, 8, 9, 10, 11, 12], [1, 2, 4]]
PAD, STOP = 0, 3


def _moved(adapters: Any, *, seed: int = 3) -> None:
    """Give both blocks an effect, each its own."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for block in ("deployed", "quarantine"):
            for parameters in adapters.parameters(block).values():
                for parameter in parameters:
                    noise = torch.randn(parameter.shape, generator=generator)
                    parameter.add_(noise.to(parameter.dtype) * 0.05)


def _weights(model: Any) -> Any:
    torch.manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, mean=float(parameter.dim() == 1), std=0.2)
    return model


def _tiny(**adapter: Any) -> TinyPolicy:
    model = _weights(Qwen3(CONFIG))
    adapters = attach(model, AdapterSettings(rank=4, **adapter), seed=0)
    return TinyPolicy(model, adapters, pad=PAD, stop=STOP, device="cpu")


def _hugging_face(**adapter: Any) -> HuggingFacePolicy:
    fields = {
        k: v for k, v in CONFIG.to_huggingface().items() if k not in ("architectures", "dtype")
    }
    torch.manual_seed(0)
    model = _weights(transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**fields)))
    adapters = attach(model, AdapterSettings(rank=4, **adapter), seed=0)
    return HuggingFacePolicy(model, adapters, pad=PAD, stop=STOP, device="cpu")


MAKERS: list[Callable[..., Any]] = [_tiny, _hugging_face]


def _drawn(
    policy: Any, prompts: list[list[int]], *, seed: int = 1, quarantine: bool = True, **chosen: Any
) -> Rollouts:
    asked: dict[str, Any] = {"group": 4, "max_new": 10, "temperature": 1.0}
    generators = {quarantine: torch.Generator().manual_seed(seed)}
    return policy.sample(prompts, generators=generators, **(asked | chosen))


def _stacked(first: Rollouts, second: Rollouts) -> Rollouts:
    """Two batches of one width as one."""
    length = max(first.tokens_B_T.shape[1], second.tokens_B_T.shape[1])
    columns = {}
    for field in dataclasses.fields(Rollouts)[:-1]:
        parts = [getattr(item, field.name) for item in (first, second)]
        if field.name in ("tokens_B_T", "mask_B_T", "logprobs_B_T"):
            parts = [torch.nn.functional.pad(part, (0, length - part.shape[1])) for part in parts]
        columns[field.name] = torch.cat(parts)
    return Rollouts(**columns, group=first.group)


@pytest.mark.parametrize("maker", MAKERS)
class TestBothPolicies:
    @pytest.mark.parametrize("prompts", [ALIKE, RAGGED])
    @pytest.mark.parametrize("quarantine", [True, False])
    def test_scores_equal_the_log_probabilities_of_sampling(
        self, maker: Callable[..., Any], prompts: list[list[int]], quarantine: bool
    ) -> None:
        policy = maker()
        _moved(policy.adapters)
        rollouts = _drawn(policy, prompts, quarantine=quarantine)
        with torch.no_grad():
            found = policy.score(rollouts)
        assert rollouts.quarantine_B.tolist() == [quarantine] * 12
        assert (found - rollouts.logprobs_B_T).abs().max() < 1e-5
        assert bool((found[~rollouts.mask_B_T] == 0).all())

    @pytest.mark.parametrize("kind", ["lora_frozen_b", "lora_split", "svd"])
    def test_halves_draw_what_two_calls_draw(self, maker: Callable[..., Any], kind: str) -> None:
        policy = maker(kind=kind)
        _moved(policy.adapters)
        asked: dict[str, Any] = {"group": 8, "max_new": 14, "temperature": 1.0}
        before = {name: item.clone() for name, item in policy.model.state_dict().items()}
        prompts = [*RAGGED, [2], [8, 9], [4, 5, 6]]
        generators = {state: torch.Generator().manual_seed(int(state)) for state in (True, False)}
        found = policy.sample(prompts, generators=generators, **asked)
        assert found.quarantine_B.tolist() == [True] * 24 + [False] * 24
        for state, rows in ((True, slice(0, 24)), (False, slice(24, 48))):
            own = prompts[:3] if state else prompts[3:]
            alone = _drawn(policy, own, seed=int(state), quarantine=state, **asked)
            length = alone.tokens_B_T.shape[1]
            assert torch.equal(found.tokens_B_T[rows, :length], alone.tokens_B_T)
            assert torch.equal(found.mask_B_T[rows, :length], alone.mask_B_T)
            assert not found.mask_B_T[rows, length:].any()
            gap = found.logprobs_B_T[rows, :length] - alone.logprobs_B_T
            assert gap.abs().max() < 1e-5
        assert found.mask_B_T.sum(1).unique().numel() > 5, "rows have to end at different places"
        for name, item in policy.model.state_dict().items():
            assert torch.equal(item, before[name])
        with pytest.raises(UsageError, match="no two halves"):
            policy.sample(RAGGED, generators=generators, **asked)

    def test_each_rollout_is_scored_in_its_own_knob_state(self, maker: Callable[..., Any]) -> None:
        policy = maker()
        _moved(policy.adapters)
        mixed = _stacked(
            _drawn(policy, RAGGED, quarantine=True), _drawn(policy, RAGGED, quarantine=False)
        )
        with torch.no_grad():
            right = policy.score(mixed)
            wrong = policy.score(dataclasses.replace(mixed, quarantine_B=~mixed.quarantine_B))
        assert (right - mixed.logprobs_B_T).abs().max() < 1e-5
        assert (wrong - mixed.logprobs_B_T).abs().amax(1).min() > 1e-3

    def test_the_reference_is_the_base(self, maker: Callable[..., Any]) -> None:
        policy = maker()
        before = policy.reference(_drawn(policy, RAGGED))
        rollouts = _drawn(policy, RAGGED)
        _moved(policy.adapters)
        assert torch.equal(policy.reference(rollouts), before)
        assert (policy.score(rollouts) - before).abs().max() > 1e-3
        assert not policy.reference(rollouts).requires_grad

    def test_gradients_can_be_captured_over_prompt_and_completion(
        self, maker: Callable[..., Any]
    ) -> None:
        """The sum of captured gradients is what autograd gives, padding included."""
        policy = maker()
        _moved(policy.adapters)
        rollouts = _drawn(policy, RAGGED)
        weights_B = torch.linspace(-1.0, 1.0, 12)
        (policy.score(rollouts).sum(1) * weights_B).sum().backward()
        expected = {
            name: torch.cat([item.grad.flatten() for item in parameters])
            for name, parameters in policy.adapters.parameters("deployed").items()
        }
        positions = rollouts.prompt_B_P.shape[1] + rollouts.tokens_B_T.shape[1]
        with policy.adapters.capture(12) as gradients:
            (policy.score(rollouts).sum(1) * weights_B).sum().backward()
        found = gradients.sums(torch.ones(12, 1, 1), block="deployed")
        tokens = gradients.sums(torch.ones(12, positions, 1), block="deployed")
        assert expected
        for name, flat in expected.items():
            scale = float(flat.abs().max())
            assert (found[name] - flat).abs().max() < 1e-4 * scale
            assert (tokens[name] - flat).abs().max() < 1e-4 * scale

    def test_one_seed_gives_the_same_bits(self, maker: Callable[..., Any]) -> None:
        first, second = (_drawn(maker(), RAGGED) for _ in range(2))
        assert torch.equal(first.tokens_B_T, second.tokens_B_T)
        assert torch.equal(first.logprobs_B_T, second.logprobs_B_T)

    def test_logits_of_a_narrow_model_are_wide(self, maker: Callable[..., Any]) -> None:
        policy = maker()
        policy.model.to(torch.bfloat16)
        rollouts = _drawn(policy, RAGGED)
        scores = policy.score(rollouts)
        assert scores.dtype == torch.float32
        assert not torch.equal(scores, scores.to(torch.bfloat16).float())
        gap = (scores - rollouts.logprobs_B_T).abs()[rollouts.mask_B_T]
        assert gap.mean() < 0.1


class TestBothAreOne:
    def test_our_model_and_the_library_give_the_same_rollouts(self) -> None:
        ours, theirs = _tiny(), _hugging_face()
        theirs.model.load_state_dict(ours.model.state_dict(), strict=False)
        for prompts in (ALIKE, RAGGED):
            first, second = _drawn(ours, prompts), _drawn(theirs, prompts)
            assert torch.equal(first.tokens_B_T, second.tokens_B_T)
            assert (first.logprobs_B_T - second.logprobs_B_T).abs().max() < 1e-4


@dataclasses.dataclass
class World:
    vocabulary: int = 31
    pad: int = PAD
    stop: int = STOP
    name: str = "fake"


class TestLoading:
    @pytest.mark.slow
    def test_a_folder_of_the_library_becomes_a_policy(self, tmp_path: Path) -> None:
        _plain(tmp_path)
        settings = Settings(model=ModelSettings(path=str(tmp_path)))
        policy = load_policy(settings, World())  # type: ignore[arg-type]
        assert isinstance(policy, HuggingFacePolicy)
        assert len(policy.adapters.names) == 14
        assert _drawn(policy, RAGGED).count == 12

    def test_a_bfloat16_base_trains_wide_adapters(self, tmp_path: Path) -> None:
        _plain(tmp_path)
        settings = Settings(model=ModelSettings(path=str(tmp_path), precision="bfloat16"))
        policy = load_policy(settings, World())  # type: ignore[arg-type]
        assert policy.model.lm_head.weight.dtype == torch.bfloat16
        rollouts = _drawn(policy, RAGGED)
        policy.score(rollouts).sum().backward()
        for parameters in policy.adapters.parameters("deployed").values():
            for parameter in parameters:
                assert parameter.dtype == torch.float32
                assert parameter.grad is not None
                assert bool(parameter.grad.isfinite().all())

    def test_a_size_becomes_our_own_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Any] = []

        def base(settings: ModelSettings, world: Any) -> Qwen3:
            asked.append((settings.size, world.name))
            return _weights(Qwen3(CONFIG))

        monkeypatch.setattr("unhack.training.policy.policy.base_model", base)
        settings = Settings(model=ModelSettings(size="small"))
        policy = load_policy(settings, World())  # type: ignore[arg-type]
        assert isinstance(policy, TinyPolicy)
        assert asked == [("small", "fake")]
        rollouts = _drawn(policy, RAGGED)
        with torch.no_grad():
            assert torch.equal(policy.score(rollouts), policy.reference(rollouts))

    def test_one_seed_attaches_one_set_of_adapters(self, tmp_path: Path) -> None:
        _plain(tmp_path)
        settings = Settings(model=ModelSettings(path=str(tmp_path)))
        first, second = (load_policy(settings, World()) for _ in range(2))  # type: ignore[arg-type]
        theirs = second.adapters.state()
        assert all(torch.equal(own, theirs[n]) for n, own in first.adapters.state().items())

    @pytest.mark.parametrize("device", ["banana", "cuda:99"])
    def test_a_device_that_is_not_there_is_named(self, device: str) -> None:
        settings = Settings(model=ModelSettings(device=device))
        with pytest.raises(UsageError, match=f"model.device.*{device}"):
            load_policy(settings, World())  # type: ignore[arg-type]

    def test_a_model_with_too_few_tokens_is_refused(self, tmp_path: Path) -> None:
        _plain(tmp_path)
        settings = Settings(model=ModelSettings(path=str(tmp_path)))
        with pytest.raises(UsageError, match=r"31 tokens.*has 99"):
            load_policy(settings, World(vocabulary=99))  # type: ignore[arg-type]

    def test_an_empty_folder_is_refused(self, tmp_path: Path) -> None:
        settings = Settings(model=ModelSettings(path=str(tmp_path)))
        with pytest.raises(UsageError, match=r"no config\.json"):
            load_policy(settings, World())  # type: ignore[arg-type]


def _plain(folder: Path) -> None:
    fields = {
        k: v for k, v in CONFIG.to_huggingface().items() if k not in ("architectures", "dtype")
    }
    transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**fields)).save_pretrained(folder)


SMALL = {
    "vocab_size": 31, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1,
    "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
}  # fmt: skip
OTHERS: dict[str, dict[str, Any]] = {
    "OPT": {
        "vocab_size": 31, "hidden_size": 16, "ffn_dim": 32, "num_hidden_layers": 1,
        "num_attention_heads": 2, "max_position_embeddings": 64, "word_embed_proj_dim": 16,
    },
    "GPTNeoX": {
        "vocab_size": 31, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1,
        "num_attention_heads": 2, "max_position_embeddings": 64,
    },
    "Phi3": {**SMALL, "pad_token_id": 0},
    "Gemma2": SMALL,
    "Cohere": {**SMALL, "logit_scale": 0.25},
    "Mamba": {"vocab_size": 31, "hidden_size": 16, "num_hidden_layers": 1, "state_size": 4},
    "GPT2": {"vocab_size": 31, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64},
}  # fmt: skip


def _saved(family: str, folder: Path) -> Settings:
    """Settings whose model is a random one of a family, in a folder."""
    fields = {name: item for name, item in OTHERS[family].items() if name != "head_dim"}
    fields = OTHERS[family] if family in ("Gemma2",) else fields
    made = getattr(transformers, f"{family}Config")(**fields)
    kind = "GPT2LMHeadModel" if family == "GPT2" else f"{family}ForCausalLM"
    _weights(getattr(transformers, kind)(made)).save_pretrained(folder)
    return Settings(model=ModelSettings(path=str(folder)))


class TestOtherFamilies:
    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("family", ["OPT", "GPTNeoX", "Phi3"])
    def test_all_maps_have_adapters_and_what_is_sampled_is_what_is_scored(
        self, family: str, tmp_path: Path
    ) -> None:
        policy = load_policy(_saved(family, tmp_path), World())  # type: ignore[arg-type]
        found = {name.rpartition(".")[2] for name in policy.adapters.names}
        assert (
            found
            == {
                "OPT": {"q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"},
                "GPTNeoX": {"query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"},
                "Phi3": {"qkv_proj", "o_proj", "gate_up_proj", "down_proj"},
            }[family]
        )
        _moved(policy.adapters)
        rollouts = policy.sample(
            RAGGED, group=2, max_new=5, temperature=1.0,
            generators={True: torch.Generator().manual_seed(1)},
        )  # fmt: skip
        scores = policy.score(rollouts)
        wanted = rollouts.logprobs_B_T * rollouts.mask_B_T
        torch.testing.assert_close(scores * rollouts.mask_B_T, wanted, rtol=1e-3, atol=1e-4)

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize(
        ("family", "words"),
        [
            ("Gemma2", "Gemma2ForCausalLM scales or caps its logits"),
            ("Cohere", "CohereForCausalLM scales or caps its logits"),
            ("Mamba", "MambaForCausalLM keeps no cache of keys and values"),
            ("GPT2", "take no merged adapter"),
        ],
    )
    def test_what_would_be_trained_as_another_model_is_refused(
        self, family: str, words: str, tmp_path: Path
    ) -> None:
        with pytest.raises(UsageError, match=words):
            load_policy(_saved(family, tmp_path), World())  # type: ignore[arg-type]
