"""Policies: a model with adapters that samples completions and scores them.

Sampling runs with the adapters merged into the
weights, on the static cache of `models.sampling` or the library's own cache; scoring is
teacher-forced, each rollout in its own knob state, over [prompt | completion], so it can stand
inside `adapters.capture`.

Covered: our Qwen3, a causal language model of the Qwen3 family in a local folder, logits in float32
whatever the model's type and at completion tokens only, mixed prompt lengths. Not covered: models
whose head does more than a linear map (soft-capped logits); a vocabulary cut into parts.

Axes: B rollouts, P prompt tokens, T completion tokens, S = P + T, D hidden, V vocabulary.

The warm-up of a pretrained model: supervised steps on completions in a world's own form.

A small instruct model rarely answers in the form that a verifier reads, so reinforcement has
nothing to begin from. `model.warmup_hacks` is the share of hacks among the completions of prompts
with a loophole; with 0 a policy has to find every hack by itself.

The warmed model is kept in the user's cache as a folder that `from_pretrained` reads. The key is a
hash of the weights, the settings, the seed and the first completions.

Covered: loss on completions alone, float32 weights with bfloat16 products on a GPU, several
processes at once. Not covered: worlds without `demonstrations`.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.models.nano import byte_model
from unhack.models.qwen3 import Qwen3
from unhack.models.sampling import Sampled, SamplingPlan, pad_left, sample
from unhack.models.tokenizer import VOCABULARY as BYTES
from unhack.training.adapters import attach
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.adapters.linears import linear_maps, plain_name
from unhack.training.config.settings import AdapterSettings, ModelSettings, Settings
from unhack.training.policy import huggingface
from unhack.training.policy.rollouts import Rollouts, given_rollouts
from unhack.training.worlds.programs.base import base_model, cache_folder
from unhack.training.worlds.world import World

BATCH, RATE, RISE = 64, 3e-5, 20
"""Completions of a step, the largest rate, and the steps over which it rises to it; from there it
falls in a line."""


def warmed(settings: ModelSettings, world: World) -> Path:
    """The folder of the warmed model of `settings.path`, from the cache or made now.

    Raises UsageError for a world that has nothing to show, or a folder without a model.
    """
    if not hasattr(world, "demonstrations"):
        raise UsageError(
            f"world {world.name} has no completions to warm up on: set model.warmup_steps=0"
        )
    out = cache_folder() / f"{world.name}-{_key(settings, world)}"
    if (out / "config.json").exists():
        return out
    model = huggingface.load(Path(settings.path), dtype=torch.float32).to(settings.device)
    _teach(model, settings, world)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, ignore_cleanup_errors=True) as made:
        model.save_pretrained(made)
        with contextlib.suppress(OSError):  # another process was quicker
            Path(made).rename(out)
    return out


def _teach(model: Any, settings: ModelSettings, world: World) -> None:
    """Supervised steps in place, on the mean negative log-likelihood of completion tokens."""
    steps, device = settings.warmup_steps, torch.device(settings.device)
    parameters: list[nn.Parameter] = list(model.requires_grad_(True).parameters())
    optimiser = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.0)
    for step in range(steps):
        rows = given_rollouts(_shown(settings, world, step), pad=world.pad, device=device)
        tokens_B_S = torch.cat([rows.prompt_B_P, rows.tokens_B_T], dim=1)
        mask_B_S = torch.cat([rows.prompt_mask_B_P, rows.mask_B_T], dim=1)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            hidden_B_S_D = huggingface.hidden(model, tokens_B_S, mask_B_S=mask_B_S)
            before_B_T_D = hidden_B_S_D[:, rows.prompt_B_P.shape[1] - 1 : -1]
            logits_N_V = huggingface.head(model)(before_B_T_D[rows.mask_B_T])
        loss = functional.cross_entropy(logits_N_V.float(), rows.tokens_B_T[rows.mask_B_T])
        loss.backward()  # pyright: ignore[reportUnknownMemberType]
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.param_groups[0]["lr"] = RATE * min((step + 1) / RISE, 1 - step / (steps + RISE))
        optimiser.step()  # pyright: ignore[reportUnknownMemberType]
        optimiser.zero_grad()
    model.requires_grad_(False)


def _shown(settings: ModelSettings, world: Any, step: int) -> list[Any]:
    """Tokens of the prompts of a step and of the completions that are taught."""
    order = f"{settings.base_seed} {step}"
    found = world.demonstrations(BATCH, hacks=settings.warmup_hacks, order=order)
    return [(prompt.tokens, taught) for prompt, taught in found]


def _key(settings: ModelSettings, world: World) -> str:
    marks: list[str] = []
    for path in sorted(Path(settings.path).glob("*.safetensors")):
        with path.open("rb") as file:
            marks.append(hashlib.file_digest(file, "sha256").hexdigest())
    shown = [_shown(settings, world, step) for step in range(4)]
    own = (settings.base_seed, settings.warmup_steps, settings.warmup_hacks, BATCH, RATE, RISE)
    return content_hash(*marks, repr(own), repr(shown))[:16]


TOKENS_PER_PASS = 1 << 15
"""Positions that a policy scores in one pass, padding included."""


class ModelPolicy(ABC):
    """A model with adapters that samples and scores, whatever its library."""

    tokens_per_pass = TOKENS_PER_PASS

    def __init__(
        self,
        model: Any,
        adapters: AttachedAdapters,
        *,
        pad: int,
        stop: int,
        device: torch.device | str,
    ) -> None:
        self.model, self.adapters = model.to(device).eval(), adapters
        self.pad, self.stop, self.device = pad, stop, torch.device(device)

    @property
    def vocabulary(self) -> int:
        """Logits of a position."""
        last = self.model.lm_head if isinstance(self.model, Qwen3) else huggingface.head(self.model)
        return int(last.weight.shape[0])

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        group: int,
        max_new: int,
        temperature: float,
        generators: Mapping[bool, Generator],
    ) -> Rollouts:
        """`group` completions of each prompt, with adapters merged into the weights.

        All prompts in the knob state of the one generator; with two, the first half in the first
        state and the second in the second: what two calls draw, in one loop. Draws depend on the
        generators alone, so a resumed run samples the same.
        """
        prompt_N_P, mask_N_P = pad_left(prompts, pad=self.pad, device=self.device)
        states = list(generators)
        if len(prompts) % len(states):
            raise UsageError(f"{len(prompts)} prompts have no two halves")
        merged = (
            self.adapters.merge(quarantine=states[0])
            if len(states) == 1
            else self.adapters.halves(quarantine_first=states[0])
        )
        plan = SamplingPlan(max_new, self.stop, self.pad, group, temperature, parts=len(states))
        drawn = list(generators.values())
        with merged:
            found = self._draw(prompt_N_P, mask_N_P=mask_N_P, plan=plan, generators=drawn)
        rows = found.tokens_B_T.shape[0]
        knobs = torch.tensor(states, device=prompt_N_P.device)
        return Rollouts(
            prompt_B_P=prompt_N_P.repeat_interleave(group, dim=0),
            prompt_mask_B_P=mask_N_P.repeat_interleave(group, dim=0),
            tokens_B_T=found.tokens_B_T,
            mask_B_T=found.mask_B_T,
            logprobs_B_T=found.logprobs_B_T,
            quarantine_B=knobs.repeat_interleave(rows // len(states)),
            group=group,
        )

    @property
    def samples_halves(self) -> bool:
        """True where one call of `sample` is quicker than one for each state: on a GPU, which waits
        for one position after the other, with weights that can be folded twice."""
        return self.device.type == "cuda" and self.adapters.halvable

    def score(self, rollouts: Rollouts) -> Tensor:
        """Teacher-forced log-probabilities [B, T], each rollout in its own knob state."""
        with self.adapters.knob(rollouts.quarantine_B):
            return self._score(rollouts)

    @torch.no_grad()
    def reference(self, rollouts: Rollouts) -> Tensor:
        """Log-probabilities [B, T] of the frozen base (adapters off), without gradient."""
        with self.adapters.off():
            return self._score(rollouts)

    @abstractmethod
    def _score(self, rollouts: Rollouts) -> Tensor:
        """Log-probabilities [B, T] in the knob states that are set."""

    @abstractmethod
    def _draw(self, prompt_N_P: Tensor, **given: Any) -> Sampled:
        """The decoder's `sample` of this model."""


class TinyPolicy(ModelPolicy):
    """Our Qwen3 with adapters."""

    model: Qwen3

    def _draw(self, prompt_N_P: Tensor, **given: Any) -> Sampled:
        return sample(self.model, prompt_N_P, **given)

    def _score(self, rollouts: Rollouts) -> Tensor:
        tokens_B_S = torch.cat([rollouts.prompt_B_P, rollouts.tokens_B_T], dim=1)
        # Padding on the right comes after everything that counts: the causal mask hides it.
        unpadded = bool(rollouts.prompt_mask_B_P.all())
        mask_B_T = None if unpadded else _present(rollouts)
        hidden_B_S_D = self.model.hidden(tokens_B_S, mask_B_T=mask_B_T)
        return score_tokens(hidden_B_S_D, self.model.lm_head, rollouts=rollouts)


class HuggingFacePolicy(ModelPolicy):
    """A Hugging Face causal language model with adapters."""

    def _draw(self, prompt_N_P: Tensor, **given: Any) -> Sampled:
        return huggingface.sample(self.model, prompt_N_P, **given)

    def _score(self, rollouts: Rollouts) -> Tensor:
        tokens_B_S = torch.cat([rollouts.prompt_B_P, rollouts.tokens_B_T], dim=1)
        hidden_B_S_D = huggingface.hidden(self.model, tokens_B_S, mask_B_S=_present(rollouts))
        return score_tokens(hidden_B_S_D, huggingface.head(self.model), rollouts=rollouts)


def load_policy(settings: Settings, world: World) -> TinyPolicy | HuggingFacePolicy:
    """The base model of the settings with fresh adapters; the built-in model over bytes in a world
    of bytes.

    Raises UsageError where the folder holds no causal language model, or one with fewer tokens than
    the world has, and for a device that this machine lacks.
    """
    chosen, device = settings.model, _device(settings.model.device)
    dtype = torch.bfloat16 if chosen.precision == "bfloat16" else torch.float32
    if chosen.path:
        folder = warmed(chosen, world) if chosen.warmup_steps else Path(chosen.path)
        model = huggingface.load(folder, dtype=dtype)
        _check_vocabulary(model.config.vocab_size, world)
        huggingface.check(model)
    else:
        made = byte_model() if world.vocabulary == BYTES else base_model(chosen, world)
        model = made.to(dtype=dtype)
        _check_vocabulary(model.config.vocab, world)
    model = model.to(device)
    adapters = attach(model, _fitted(settings.adapter, model), seed=settings.run.seed)
    if chosen.path and not adapters.mergeable:
        raise UsageError(
            f"{chosen.path}: maps of this model take no merged adapter (transposed, quantised or "
            "tied weights), by which `unhack train` samples; name others by adapter.targets, or "
            "route a loop of your own (unhack.routing)"
        )
    kind = HuggingFacePolicy if chosen.path else TinyPolicy
    return kind(model, adapters, pad=world.pad, stop=world.stop, device=device)


def _fitted(settings: AdapterSettings, model: Any) -> AdapterSettings:
    """The settings with all maps of a model but its output embedding as targets, where the targets
    are those by default and the model names its maps otherwise."""
    default: tuple[str, ...] = AdapterSettings.model_fields["targets"].default
    if settings.targets != default or not hasattr(model, "get_output_embeddings"):
        return settings
    last = model.get_output_embeddings()
    found = {plain_name(name) for name, item in linear_maps(model).items() if item is not last}
    if not found - set(default):
        return settings
    return settings.model_copy(update={"targets": tuple(sorted(found))})


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(f"model.device: {name!r} is not cpu, cuda or cuda:N") from error
    if device.type == "cuda" and torch.cuda.device_count() <= (device.index or 0):
        raise UsageError(
            f"model.device={name}: torch {torch.__version__} sees {torch.cuda.device_count()} CUDA "
            "devices here"
        )
    return device


def score_tokens(hidden_B_S_D: Tensor, head: nn.Linear | Any, *, rollouts: Rollouts) -> Tensor:
    """Log-probabilities [B, T] of completion tokens from the trunk's output, 0 where masked.

    The output matrix is applied where a token counts, in float32 (arXiv 2510.13786).
    """
    width, length = rollouts.prompt_B_P.shape[1], rollouts.tokens_B_T.shape[1]
    before_N_D = hidden_B_S_D[:, width - 1 : width + length - 1].flatten(0, 1)
    tokens_N, mask_N = rollouts.tokens_B_T.flatten(), rollouts.mask_B_T.flatten()
    counted = mask_N.nonzero().squeeze(1)
    whole = counted.numel() == mask_N.numel()
    if not whole:
        before_N_D, tokens_N = before_N_D.index_select(0, counted), tokens_N[counted]
    bias = None if head.bias is None else head.bias.float()
    logits_N_V = functional.linear(before_N_D.float(), head.weight.float(), bias)
    logprobs_N_V = logits_N_V.log_softmax(-1)
    logprobs_N = logprobs_N_V.gather(1, tokens_N[:, None]).squeeze(1)
    if not whole:
        nothing = torch.zeros(mask_N.shape, device=mask_N.device)
        logprobs_N = nothing.index_copy(0, counted, logprobs_N)
    return logprobs_N.view(rollouts.tokens_B_T.shape)


def _present(rollouts: Rollouts) -> Tensor:
    """bool [B, P + T]: False at padding before the prompt. What follows it is all read, tool output
    between what the policy wrote too; padding at the end comes after everything that counts."""
    after_B_T = torch.ones_like(rollouts.mask_B_T)
    return torch.cat([rollouts.prompt_mask_B_P, after_B_T], dim=1)


def _check_vocabulary(tokens: int, world: World) -> None:
    if tokens < world.vocabulary:
        raise UsageError(
            f"the model knows {tokens} tokens, the world {world.name} has {world.vocabulary}: "
            "they have to share one vocabulary"
        )
